#include "core/config/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <new>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "core/config/options.h"
#include "core/config/scalar.h"
#include "core/config/utf8.h"
#include "core/config/words.h"
#include "core/config/yaml_problems.h"
#include "core/config/yaml_protect.h"

namespace muster::conf {
namespace {

// Builds the tree from yaml-cpp's events. After a limit is reached it ignores the rest.
class Builder : public YAML::EventHandler {
 public:
  Builder(size_t begin, size_t end, const EnvironmentLookup& environment, Problems* problems,
          Tree* document)
      : begin_(begin),
        end_(end),
        environment_(environment),
        problems_(*problems),
        document_(*document) {}

  bool stopped() const { return stopped_; }
  size_t document_count() const { return documents_; }
  // Where the list or mapping begins that is not yet at its end; null outside of any.
  const Node* unfinished() const { return stack_.empty() ? nullptr : stack_.back().node; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    ++documents_;
    if (documents_ == 2) {
      stop(place(mark), "the configuration ended above; one text holds one YAML document");
    }
  }
  void OnDocumentEnd() override { end_scalar(end_); }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (!begin_value(mark)) return;
    Node* node = document_.make(Kind::kNull, place(mark));
    if (awaits_key()) {
      problems_.add(node->offset,
                    "a key must be a text, not nothing (null); a key 'null' is written in quotes");
      take_bad_key();
      return;
    }
    attach(node, anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (!begin_value(mark)) return;
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) return;
    const Size& size = sizes_[found->second];
    if (size.values == 0) {
      stop(place(mark), "this alias stands for a value that holds the alias itself");
      return;
    }
    if (awaits_key()) {
      problems_.add(place(mark), "an alias cannot be a key");
      take_bad_key();
      return;
    }
    if (stack_.size() + size.depth > kMaximumDepth) {
      too_deep(place(mark));
      return;
    }
    if (!count(size.values, size.bytes, place(mark))) return;
    attach(found->second, YAML::NullAnchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (!begin_value(mark)) return;
    const size_t offset = place(mark);
    const size_t content = skip_properties(offset);
    const char first = content < end_ ? problems_.text()[content] : ' ';
    std::string raw = value;
    restore_from_yaml(&raw, first == '"');
    if (find_not_utf8(raw) != std::string_view::npos) {
      problems_.add(offset, R"(not YAML: use "\u0085" and "\u00a0" for "\N" and "\_")");
      raw.clear();
    }
    if (!count(0, raw.size(), offset)) return;
    if (awaits_key()) {
      take_key(std::move(raw), offset, first != '"' && first != '\'');
      return;
    }
    Node* node = document_.make(Kind::kText, offset);
    find_end(node, content, first, raw);
    Interpolated result = interpolate(raw, content, environment_, &problems_);
    node->text = std::move(result.text);
    node->interpolated = !result.variables.empty();
    node->variables = std::move(result.variables);
    if (!result.ok) {
      node->kind = Kind::kBroken;
    } else {
      set_type(node, tag, raw);
    }
    if (!count(0, node->text.size(), offset)) return;
    attach(node, anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Kind::kList, mark, tag, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Kind::kMap, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  // What a value amounts to with its aliases counted in full; values is 0 while it is being read.
  struct Size {
    size_t values = 0;
    size_t bytes = 0;
    size_t depth = 0;
  };
  struct Frame {
    Node* node = nullptr;
    bool has_key = false;  // of a mapping: the key is there, its value comes next
    bool bad_key = false;  // its error is told; the value is dropped
    Member pending;
    std::unordered_map<std::string, size_t> keys;  // to their places
    size_t values_before = 0;
    size_t bytes_before = 0;
    size_t depth = 0;  // of what it holds so far
  };

  size_t place(const YAML::Mark& mark) const {
    return std::min(end_, begin_ + static_cast<size_t>(std::max(mark.pos, 0)));
  }

  void stop(size_t offset, std::string message) {
    if (stopped_) return;
    problems_.add(offset, std::move(message));
    stopped_ = true;
  }
  void too_deep(size_t offset) {
    stop(offset, fmt::format("more than {} lists and mappings within each other", kMaximumDepth));
  }

  bool count(size_t values, size_t bytes, size_t offset) {
    values_ += values;
    bytes_ += bytes;
    if (values_ > kMaximumValues) {
      stop(offset, fmt::format("more than {} values, with aliases counted as what they stand for",
                               kMaximumValues));
    } else if (bytes_ > kMaximumBytes) {
      stop(offset,
           fmt::format("more than {} MiB of text, with aliases counted as what they stand for",
                       kMaximumBytes >> 20));
    }
    return !stopped_;
  }

  // Every event of a value begins here. False: ignore it.
  bool begin_value(const YAML::Mark& mark) {
    if (stopped_) return false;
    end_scalar(place(mark));
    return count(1, 0, place(mark));
  }

  void end_scalar(size_t offset) {
    if (open_scalar_ != nullptr) open_scalar_->end = std::max(open_scalar_->offset, offset);
    open_scalar_ = nullptr;
  }

  // Steps over tags and anchors before a value.
  size_t skip_properties(size_t at) const {
    const std::string& text = problems_.text();
    const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
    while (at < end_ && (text[at] == '!' || text[at] == '&')) {
      while (at < end_ && !space(text[at])) ++at;
      while (at < end_ && space(text[at])) ++at;
    }
    return at;
  }

  // Where a scalar ends; of a block or a plain one of several lines only the next value's place tells.
  void find_end(Node* node, size_t content, char first, const std::string& raw) {
    const std::string& text = problems_.text();
    if (first == '"' || first == '\'') {
      size_t at = content + 1;
      while (at < end_ && text[at] != first) at += first == '"' && text[at] == '\\' ? 2 : 1;
      // '' within single quotes goes on
      while (first == '\'' && at + 1 < end_ && text[at + 1] == '\'') {
        at += 2;
        while (at < end_ && text[at] != first) ++at;
      }
      node->end = std::min(at + 1, end_);
    } else if (text.compare(content, raw.size(), raw) == 0 && first != '|' && first != '>') {
      node->end = std::min(content + raw.size(), end_);
    } else {
      open_scalar_ = node;
    }
  }

  void set_type(Node* node, const std::string& tag, const std::string& raw) {
    constexpr std::string_view kCore = "tag:yaml.org,2002:";
    if (tag == "?") {
      type_plain_scalar(node);
      // ${VAR:-} and an empty VAR mean an empty text, not null.
      if (node->text.empty() && !raw.empty()) node->kind = Kind::kText;
      return;
    }
    if (tag == "!" || tag == "tag:yaml.org,2002:str") {
      node->kind = Kind::kText;
      return;
    }
    if (tag.starts_with(kCore)) {
      const std::string name = tag.substr(kCore.size());
      type_plain_scalar(node);
      if ((name == "int" && node->kind == Kind::kInteger) ||
          (name == "float" && node->kind == Kind::kFloat) ||
          (name == "bool" && node->kind == Kind::kBool) ||
          (name == "null" && node->kind == Kind::kNull)) {
        return;
      }
      if (name == "float" && node->kind == Kind::kInteger && !node->too_large) {
        node->kind = Kind::kFloat;
        node->real = static_cast<double>(node->magnitude) * (node->negative ? -1 : 1);
        return;
      }
      if (name == "int" || name == "float" || name == "bool" || name == "null") {
        problems_.add(node->offset, fmt::format("this is not what its tag '!!{}' says", name));
        node->kind = Kind::kBroken;
        return;
      }
    }
    bad_tag(node, tag);
  }

  void bad_tag(Node* node, std::string tag) {
    restore_from_yaml(&tag, false);
    problems_.add(node->offset,
                  fmt::format("the tag '{}' is not known; no value needs a tag", printable(tag)));
    node->kind = Kind::kBroken;
  }

  bool awaits_key() const {
    return !stack_.empty() && stack_.back().node->kind == Kind::kMap && !stack_.back().has_key;
  }

  void take_bad_key(const std::string& key = {}) {
    stack_.back().has_key = true;
    stack_.back().bad_key = true;
    stack_.back().pending.key = key;
  }

  // The value of a key that is not taken is read by nobody who would know that it is a secret.
  void hide_dropped(const Node& node) {
    const bool secret = std::any_of(stack_.begin(), stack_.end(), [](const Frame& frame) {
      return frame.pending.key == "options" || sounds_secret(frame.pending.key);
    });
    if (secret) {
      hide_value(node, &problems_);
    } else {
      hide_what_sounds_secret(node, &problems_);
    }
  }

  void take_key(std::string key, size_t offset, bool plain) {
    Frame& frame = stack_.back();
    const auto [known, added] = frame.keys.emplace(key, offset);
    if (!added) {
      const Mark first = mark_at(problems_.text(), known->second);
      problems_.add(offset, fmt::format("key '{}' is here twice; the first is at {}:{}",
                                        printable(key), first.line, first.column));
      take_bad_key(key);
      return;
    }
    if (plain && key == "<<") {
      problems_.add(
          offset,
          "YAML 1.2 has no merge key '<<'; write the keys out, or use an alias as a whole value");
      take_bad_key(key);
      return;
    }
    frame.has_key = true;
    frame.pending.key = std::move(key);
    frame.pending.key_offset = offset;
  }

  // Gives a value to what it stands in.
  void attach(Node* node, YAML::anchor_t anchor) {
    if (node->is_scalar() && sizes_.find(node) == sizes_.end() && anchor != YAML::NullAnchor) {
      sizes_[node] = {1, node->text.size(), 0};
    }
    if (anchor != YAML::NullAnchor) anchors_[anchor] = node;
    put(node);
  }

  void put(Node* node) {
    if (stack_.empty()) {
      document_.root = node;
      return;
    }
    Frame& frame = stack_.back();
    if (const auto size = sizes_.find(node); size != sizes_.end()) {
      frame.depth = std::max(frame.depth, size->second.depth);
    }
    // An alias's value lies elsewhere.
    if (node->offset >= frame.node->offset) frame.node->end = std::max(frame.node->end, node->end);
    if (frame.node->kind == Kind::kList) {
      frame.node->items.push_back(node);
      return;
    }
    if (frame.bad_key) {
      hide_dropped(*node);
    } else {
      frame.pending.value = node;
      frame.node->members.push_back(std::move(frame.pending));
    }
    frame.pending = {};
    frame.has_key = frame.bad_key = false;
  }

  void open(Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (!begin_value(mark)) return;
    Node* node = document_.make(kind, place(mark));
    if (stack_.size() >= kMaximumDepth) {
      too_deep(node->offset);
      return;
    }
    if (awaits_key()) {
      problems_.add(node->offset, kind == Kind::kList ? "a key must be a text, not a list"
                                                      : "a key must be a text, not a mapping");
    }
    if (tag != "?" && tag != "!" &&
        tag != (kind == Kind::kList ? "tag:yaml.org,2002:seq" : "tag:yaml.org,2002:map")) {
      bad_tag(node, tag);
      node->kind = kind;
    }
    sizes_[node] = {};
    if (anchor != YAML::NullAnchor) anchors_[anchor] = node;
    Frame frame;
    frame.node = node;
    frame.values_before = values_ - 1;
    frame.bytes_before = bytes_;
    stack_.push_back(std::move(frame));
  }

  void close() {
    if (stopped_ || stack_.empty()) return;
    const Frame frame = std::move(stack_.back());
    stack_.pop_back();
    sizes_[frame.node] = {values_ - frame.values_before, bytes_ - frame.bytes_before,
                          frame.depth + 1};
    if (awaits_key()) {
      take_bad_key();
      return;
    }
    put(frame.node);
  }

  const size_t begin_;
  const size_t end_;
  const EnvironmentLookup& environment_;
  Problems& problems_;
  Tree& document_;
  bool stopped_ = false;
  size_t documents_ = 0;
  size_t values_ = 0;
  size_t bytes_ = 0;
  Node* open_scalar_ = nullptr;
  std::vector<Frame> stack_;
  std::map<YAML::anchor_t, Node*> anchors_;
  std::unordered_map<const Node*, Size> sizes_;  // of lists, mappings and what has an anchor
};

}  // namespace

void read_yaml(size_t begin, size_t end, const EnvironmentLookup& environment, Problems* problems,
               Tree* document) {
  if (end - begin > kMaximumText) {
    problems->add(begin,
                  fmt::format("the configuration is longer than {} MiB", kMaximumText >> 20));
    return;
  }
  if (!check_characters(begin, end, problems)) return;

  Builder builder(begin, end, environment, problems, document);
  const auto fail = [&](size_t offset, std::string message) {
    const std::string_view text = std::string_view(problems->text()).substr(0, end);
    offset = std::min(offset, end);
    if (text.find_first_not_of(" \t\r\n", offset) == std::string_view::npos) {
      // At the end of the text: behind the last that is there, not below it.
      const size_t last = text.find_last_not_of(" \t\r\n", offset);
      offset = last == std::string_view::npos || last < begin ? begin : last + 1;
      if (const Node* unfinished = builder.unfinished()) {
        const Mark mark = mark_at(text, unfinished->offset);
        message +=
            fmt::format("; the text ends within what began at {}:{}", mark.line, mark.column);
      }
    }
    const size_t newline = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
    const size_t indentation = newline == std::string_view::npos ? begin : newline + 1;
    const size_t first = text.find_first_not_of(" \t", indentation);
    if (text.substr(indentation, first - indentation).find('\t') != std::string_view::npos) {
      message += "; a tab cannot indent in YAML, spaces do";
    }
    hide_secrets_near(offset, problems);
    problems->add(offset, std::move(message));
    document->root = nullptr;
  };
  try {
    std::istringstream stream(
        protect_from_yaml(std::string_view(problems->text()).substr(begin, end - begin)));
    YAML::Parser parser(stream);
    while (!builder.stopped() && parser.HandleNextDocument(builder)) {
    }
    if (builder.stopped()) document->root = nullptr;
    if (builder.document_count() == 0) document->root = document->make(Kind::kNull, begin);
  } catch (const YAML::Exception& error) {
    if (builder.stopped()) {
      document->root = nullptr;
    } else {
      fail(error.mark.is_null() ? begin : begin + static_cast<size_t>(std::max(error.mark.pos, 0)),
           in_our_words(error.msg));
    }
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail(begin, fmt::format("not YAML: {}", printable(error.what())));
  }
}

}  // namespace muster::conf
