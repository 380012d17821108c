// YamlTree: YAML text as a tree that knows where everything stands.
#include "core/service/yaml_tree.h"

#include <istream>
#include <new>
#include <optional>
#include <set>
#include <streambuf>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "core/cancel.h"
#include "core/spec/quote.h"

namespace muster {
namespace {

// Ends the parser from inside one of its calls.
struct Late {};

class Deadline {
 public:
  explicit Deadline(int64_t at_ns) : at_ns_(at_ns) {}
  void check() const {
    if (at_ns_ != INT64_MAX && monotonic_ns() >= at_ns_) throw Late();
  }

 private:
  int64_t at_ns_;
};

// Reads a text where it is, a part at a time, so that the deadline is looked at in between.
class ViewBuffer : public std::streambuf {
 public:
  ViewBuffer(std::string_view text, const Deadline& deadline) : rest_(text), deadline_(deadline) {}
  size_t left() const { return rest_.size(); }

 protected:
  int_type underflow() override {
    if (rest_.empty()) return traits_type::eof();
    // Not for the first part: the parser reads it while it is made, and would leave memory behind.
    if (begun_) deadline_.check();
    begun_ = true;
    const std::string_view part = rest_.substr(0, kPart);
    rest_.remove_prefix(part.size());
    char* begin = const_cast<char*>(part.data());  // only read
    setg(begin, begin, begin + part.size());
    return traits_type::to_int_type(*begin);
  }

 private:
  static constexpr size_t kPart = 64 << 10;
  std::string_view rest_;
  bool begun_ = false;
  const Deadline& deadline_;
};

// A refusal inside of the parser's callbacks; leaves them as the library's own errors do.
YAML::ParserException refuse(const YAML::Mark& mark, const std::string& message) {
  return {mark, message};
}

class Builder : public YAML::EventHandler {
 public:
  explicit Builder(const Deadline& deadline) : deadline_(deadline) {}
  YamlNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(mark, "", anchor, YamlNode::Kind::kNull);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw refuse(mark, "aliases ('*name') are not taken");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode& node = add(mark, tag, anchor, YamlNode::Kind::kScalar);
    node.text = value;
    node.quoted = tag == "!";
    end(mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open_.push_back(&add(mark, tag, anchor, YamlNode::Kind::kSequence));
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open_.push_back(&add(mark, tag, anchor, YamlNode::Kind::kMap));
    names_.emplace_back();
  }
  void OnMapEnd() override {
    open_.pop_back();
    names_.pop_back();
  }

 private:
  // The new node, where it belongs. A vector's nodes move only while none of their own is open, so open_ stays right.
  YamlNode& add(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                YamlNode::Kind kind) {
    // The parser holds a text of one line as a whole before it tells of any of it.
    if (++nodes_ % kNodesBetweenLooks == 0) deadline_.check();
    if (anchor != 0) throw refuse(mark, "anchors ('&name') are not taken");
    if (!tag.empty() && tag != "?" && tag != "!")
      throw refuse(mark, "tags ('!name') are not taken");
    YamlNode node;
    node.kind = kind;
    node.line = mark.line + 1;
    node.column = mark.column + 1;
    if (open_.empty()) {
      root_ = std::move(node);
      return root_;
    }
    YamlNode& parent = *open_.back();
    if (parent.kind == YamlNode::Kind::kMap && parent.keys.size() == parent.items.size()) {
      if (kind != YamlNode::Kind::kScalar) throw refuse(mark, "a key has to be a text");
      parent.keys.push_back(std::move(node));
      return parent.keys.back();
    }
    parent.items.push_back(std::move(node));
    return parent.items.back();
  }

  // After a scalar: when it was a key, it must be a new one.
  void end(const YAML::Mark& mark) {
    if (open_.empty() || open_.back()->kind != YamlNode::Kind::kMap) return;
    const YamlNode& map = *open_.back();
    if (map.keys.size() == map.items.size()) return;
    if (!names_.back().insert(map.keys.back().text).second) {
      throw refuse(mark,
                   fmt::format("the key {} stands here twice", quote(map.keys.back().text, 60)));
    }
  }

  static constexpr size_t kNodesBetweenLooks = 1000;
  const Deadline& deadline_;
  size_t nodes_ = 0;
  YamlNode root_;
  std::vector<YamlNode*> open_;
  std::vector<std::set<std::string>> names_;  // of the open maps
};

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].text == key) return &items[i];
  }
  return nullptr;
}

namespace {

// Where the first byte stands that is no UTF-8. yaml-cpp would take it as it is.
std::optional<YamlNode> find_not_utf8(std::string_view text) {
  YamlNode place;
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_length(text.substr(at));
    if (length == 0) return place;
    const bool newline = text[at] == '\n';
    place.line += newline ? 1 : 0;
    place.column = newline ? 1 : place.column + 1;
    at += length;
  }
  return std::nullopt;
}

}  // namespace

Error yaml_error(const std::string& name, const YamlNode& at, const std::string& message) {
  return {
      Code::kInvalidArgument, fmt::format("{}:{}:{}: {}", name, at.line, at.column, message), {}};
}

namespace {

// The parser takes more than a hundred times the size of a list or a map in the flow form, and some ten times that of one in the
// block form. A recording is written in the block form.
constexpr size_t kLargestFlow = 1 << 20;

bool begins_as_flow(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && (text[begin] == '{' || text[begin] == '[');
}

}  // namespace

Result<YamlNode> parse_yaml_tree(std::string_view text, const std::string& name,
                                 int64_t deadline_ns) {
  if (text.size() > kLargestFlow && begins_as_flow(text))
    return yaml_error(name, {}, "a file of more than 1 MiB is taken in YAML's block form alone");
  if (const std::optional<YamlNode> place = find_not_utf8(text))
    return yaml_error(name, *place, "this is not UTF-8");
  const Deadline deadline(deadline_ns);
  ViewBuffer buffer(text, deadline);
  try {
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    Builder builder(deadline);
    parser.HandleNextDocument(builder);
    YamlNode root = builder.take();
    Builder second(deadline);
    if (parser.HandleNextDocument(second))
      return yaml_error(name, second.take(), "a second document is not taken");
    return root;
  } catch (const Late&) {
    return Error{Code::kDeadlineExceeded,
                 fmt::format("{}: the deadline came when {} of {} KiB were read", printable(name),
                             (text.size() - buffer.left()) >> 10, text.size() >> 10),
                 {}};
  } catch (const YAML::Exception& exception) {
    YamlNode at;
    at.line = exception.mark.is_null() ? 1 : exception.mark.line + 1;
    at.column = exception.mark.is_null() ? 1 : exception.mark.column + 1;
    return yaml_error(name, at, printable(exception.msg));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& exception) {
    return yaml_error(name, {}, exception.what());
  }
}

}  // namespace muster
