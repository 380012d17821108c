// Reads the file format of sdk/recording.md. The file may be anybody's.
#include <charconv>
#include <initializer_list>
#include <limits>

#include <fmt/format.h>

#include "core/service/recording.h"
#include "core/service/recording_text.h"
#include "core/service/text.h"
#include "core/service/yaml_tree.h"
#include "core/spec/quote.h"

namespace muster {
namespace {

using Kind = YamlNode::Kind;

// Takes the tree apart. The first thing that is wrong ends it: `error_` then stands, and what is returned has no meaning.
class Reader {
 public:
  explicit Reader(const std::string& name) : name_(name) {}

  Result<RecordedResolvers> read(const YamlNode& root) {
    RecordedResolvers resolvers;
    if (root.kind != Kind::kMap || root.find("muster_recording") == nullptr) {
      return yaml_error(name_, root,
                        "this is not a recording of muster: it has no 'muster_recording: 1'");
    }
    const YamlNode& version = *root.find("muster_recording");
    if (version.kind != Kind::kScalar || version.text != "1") {
      return yaml_error(name_, version,
                        fmt::format("the recording has version {}; this muster reads version 1",
                                    quote(version.text, 20)));
    }
    check_keys(root, {"muster_recording", "resolvers"});
    for (const YamlNode& node : list(root, "resolvers")) {
      check_keys(node, {"path", "milliseconds", "times", "variables", "hostname", "files",
                        "terminal", "programs", "requests"});
      const std::string path = text(node, "path", true);
      if (resolvers.count(path) > 0)
        wrong(node, fmt::format("the path {} stands here twice", quote(path)));
      resolvers[path] = resolver(node);
    }
    if (error_) return *std::move(error_);
    return resolvers;
  }

 private:
  void wrong(const YamlNode& at, const std::string& message) {
    if (!error_) error_ = yaml_error(name_, at, message);
  }

  // The node is a map with no other keys.
  void check_keys(const YamlNode& node, std::initializer_list<std::string_view> known) {
    if (node.kind != Kind::kMap) return wrong(node, "here has to be a map");
    for (const YamlNode& key : node.keys) {
      bool found = false;
      for (const std::string_view name : known) found = found || key.text == name;
      if (found) continue;
      std::string names;
      for (const std::string_view name : known)
        names.append(names.empty() ? "" : ", ").append(name);
      return wrong(key, fmt::format("the key {} is not known here; known are {}",
                                    quote(key.text, 60), names));
    }
  }

  const std::vector<YamlNode>& list(const YamlNode& node, std::string_view key) {
    static const std::vector<YamlNode> none;
    const YamlNode* found = node.find(key);
    if (found == nullptr || found->kind == Kind::kNull) return none;
    if (found->kind == Kind::kSequence) return found->items;
    wrong(*found, fmt::format("'{}' has to be a list", key));
    return none;
  }

  // A text in any of the forms of recording_text.h.
  std::string text_of(const YamlNode& node) {
    if (node.kind == Kind::kScalar) return node.text;
    if (node.kind == Kind::kMap && node.keys.size() == 1 && node.items[0].kind == Kind::kScalar) {
      const std::string& form = node.keys[0].text;
      if (form == "json") return squeeze_json(node.items[0].text);
      if (form == "base64") {
        std::optional<std::string> bytes = base64_decode(node.items[0].text);
        if (!bytes) wrong(node.items[0], "this is not base64");
        return std::move(bytes).value_or("");
      }
    }
    wrong(node, "here has to be a text, or 'json:' or 'base64:' with one");
    return {};
  }

  std::string text(const YamlNode& node, std::string_view key, bool required) {
    const YamlNode* found = node.find(key);
    if (found != nullptr) return text_of(*found);
    if (required) wrong(node, fmt::format("'{}' is missing here", key));
    return {};
  }

  std::optional<int64_t> integer(const YamlNode& node, std::string_view key, int64_t least,
                                 int64_t most) {
    const YamlNode* found = node.find(key);
    if (found == nullptr) return std::nullopt;
    int64_t value = 0;
    const char* end = found->text.data() + found->text.size();
    const auto [stop, failed] = std::from_chars(found->text.data(), end, value);
    if (found->kind != Kind::kScalar || failed != std::errc() || stop != end || value < least ||
        value > most) {
      wrong(*found, fmt::format("'{}' has to be a whole number of {} to {}", key, least, most));
    }
    return value;
  }

  // A duration that can be made nanoseconds of.
  std::optional<int64_t> milliseconds(const YamlNode& node) {
    return integer(node, "milliseconds", 0, int64_t{1} << 40);
  }

  // A list of one-entry maps: names may stand several times.
  RecordedExchange::Headers pairs(const YamlNode& node, std::string_view key) {
    RecordedExchange::Headers pairs;
    for (const YamlNode& item : list(node, key)) {
      if (item.kind != Kind::kMap || item.keys.size() != 1) {
        wrong(item, fmt::format("an item of '{}' has to be 'name: value'", key));
        break;
      }
      pairs.emplace_back(item.keys[0].text, text_of(item.items[0]));
    }
    return pairs;
  }

  std::optional<Error> error(const YamlNode& node) {
    const YamlNode* found = node.find("error");
    if (found == nullptr) return std::nullopt;
    Error error;
    bool known = false;
    for (int32_t code = 1; code <= static_cast<int32_t>(Code::kUnauthenticated) && !known; ++code) {
      error.code = static_cast<Code>(code);
      known = found->text == code_name(error.code);
    }
    if (!known)
      wrong(*found, fmt::format("{} is not the name of an error, such as UNAVAILABLE",
                                quote(found->text, 60)));
    error.message = text(node, "message", true);
    for (auto& [key, value] : pairs(node, "details"))
      error.details.push_back({std::move(key), std::move(value)});
    return error;
  }

  RecordedExchange exchange(const YamlNode& node) {
    check_keys(node,
               {"method", "url", "attempt", "headers", "body", "milliseconds", "error", "message",
                "details", "status", "response_headers", "response_bytes", "response"});
    RecordedExchange exchange;
    exchange.method = text(node, "method", true);
    exchange.url = text(node, "url", true);
    exchange.attempt = static_cast<int>(integer(node, "attempt", 1, 1000).value_or(1));
    exchange.headers = pairs(node, "headers");
    exchange.body = text(node, "body", false);
    exchange.milliseconds = milliseconds(node).value_or(0);
    exchange.error = error(node);
    const std::optional<int64_t> status = integer(node, "status", 100, 999);
    if (status.has_value() == exchange.error.has_value())
      wrong(node, "a request has either 'status' or 'error'");
    exchange.status = status.value_or(0);
    exchange.response_headers = pairs(node, "response_headers");
    for (const auto& [name, value] : exchange.response_headers) {
      // Handed out as texts that end with NUL.
      if (name.find('\0') != std::string::npos || value.find('\0') != std::string::npos)
        wrong(node, "a header has a NUL in it");
    }
    exchange.response_body = text(node, "response", false);
    const auto size = static_cast<int64_t>(exchange.response_body.size());
    exchange.bytes = static_cast<uint64_t>(
        integer(node, "response_bytes", 0, std::numeric_limits<int64_t>::max()).value_or(size));
    return exchange;
  }

  RecordedRun run(const YamlNode& node) {
    check_keys(node, {"program", "arguments", "milliseconds", "error", "message", "details",
                      "exit_status", "output", "error_output"});
    RecordedRun run;
    run.arguments = {text(node, "program", true)};
    for (const YamlNode& item : list(node, "arguments")) run.arguments.push_back(text_of(item));
    run.milliseconds = milliseconds(node).value_or(0);
    run.error = error(node);
    const std::optional<int64_t> status = integer(node, "exit_status", 0, 255);
    if (status.has_value() == run.error.has_value())
      wrong(node, "a program has either 'exit_status' or 'error'");
    run.exit_status = status.value_or(0);
    run.output = text(node, "output", false);
    run.error_output = text(node, "error_output", false);
    return run;
  }

  RecordedResolver resolver(const YamlNode& node) {
    RecordedResolver resolver;
    resolver.milliseconds = milliseconds(node);
    for (const YamlNode& item : list(node, "times")) {
      const std::optional<int64_t> time = parse_time(item.text);
      if (!time)
        wrong(item, fmt::format("{} is not a time such as '2026-01-31T12:00:00.123456789Z'",
                                quote(item.text, 60)));
      resolver.times.push_back(time.value_or(0));
    }
    if (const YamlNode* variables = node.find("variables")) {
      if (variables->kind != Kind::kMap) wrong(*variables, "'variables' has to be a map");
      for (size_t i = 0; i < variables->keys.size(); ++i) {
        const YamlNode& value = variables->items[i];
        resolver.variables[variables->keys[i].text] =
            value.kind == Kind::kNull ? std::nullopt : std::optional<std::string>(text_of(value));
      }
    }
    if (node.find("hostname") != nullptr) resolver.hostname = text(node, "hostname", true);
    for (const YamlNode& item : list(node, "files")) {
      check_keys(item, {"file", "content", "error", "message", "details"});
      RecordedFile file;
      file.file = text(item, "file", true);
      file.error = error(item);
      if ((item.find("content") != nullptr) == file.error.has_value())
        wrong(item, "a file has either 'content' or 'error'");
      file.content = text(item, "content", false);
      resolver.files.push_back(std::move(file));
    }
    if (const YamlNode* terminal = node.find("terminal")) {
      if (terminal->text != "true" && terminal->text != "false")
        wrong(*terminal, "'terminal' has to be true or false");
      resolver.terminal = terminal->text == "true";
    }
    for (const YamlNode& item : list(node, "programs")) resolver.runs.push_back(run(item));
    for (const YamlNode& item : list(node, "requests"))
      resolver.exchanges.push_back(exchange(item));
    return resolver;
  }

  const std::string& name_;
  std::optional<Error> error_;
};

}  // namespace

Result<RecordedResolvers> read_recording(std::string_view text, const std::string& name,
                                         int64_t deadline_ns) {
  // What is plainly something else is not parsed: that takes many times its size.
  if (text.find("muster_recording") == std::string_view::npos)
    return Error{Code::kInvalidArgument,
                 fmt::format("{}:1:1: this is not a recording of muster: it has no "
                             "'muster_recording: 1'",
                             printable(name)),
                 {}};
  Result<YamlNode> root = parse_yaml_tree(text, name, deadline_ns);
  if (!root) return std::move(root).error();
  return Reader(name).read(*root);
}

}  // namespace muster
