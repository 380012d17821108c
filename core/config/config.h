// muster.yaml: a checked configuration, as a tree of resolvers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/config/descriptor.h"
#include "core/config/variable_value.h"
#include "core/result.h"

namespace muster {

// A place in a config text; lines and columns count from 1, columns in characters.
struct Mark {
  int line = 0;
  int column = 0;
};

// One resolver: a use of a backend, or a composition of resolvers.
struct ResolverConfig {
  enum class Kind { kLeaf, kChain, kMerge };
  Kind kind = Kind::kLeaf;
  std::string path;  // "cluster.merge[1].chain[0]": the word of errors and of the answer's sources
  Mark mark;
  std::string backend;  // leaf
  std::vector<std::string>
      command;  // leaf: the executable that the backend is, absolute, and its arguments; else empty
  std::string options_json;          // leaf: an object, secrets included, schema defaults filled in
  std::vector<std::string> secrets;  // leaf: texts of the options that the schema marks writeOnly
  std::map<std::string, Mark>
      option_marks;  // leaf: JSON pointer into the options -> place in the text
  std::map<std::string, std::vector<VariableValue>>
      option_variables;  // leaf: JSON pointer of a value with ${VAR} in it -> what that stands for
  std::optional<std::chrono::nanoseconds> timeout;  // of this resolver; within the whole's
  // Of a chain that is watched: for so long it keeps a source that fails before it takes another one.
  std::chrono::nanoseconds fallback_after = std::chrono::seconds(60);
  std::optional<bool>
      isolate;  // leaf: whether it runs in a process of its own; nothing: by core/isolate's policy
  std::vector<ResolverConfig> children;
};

struct Config {
  std::string name;  // absolute path of the file, or "<text>", "<command line>"
  std::string text;  // as read, for error excerpts
  ResolverConfig cluster;
  std::vector<std::pair<std::string, int64_t>> expect;  // job to count
  std::optional<std::string> rpc_layer;
  std::optional<std::string> environment;
  std::optional<std::string> task_type;  // both or neither
  std::optional<int64_t> task_id;
  std::string task_origin = "the config";  // who says the task, in errors
  bool task_overrides =
      false;  // a setting's task wins over evidence; a file's that differs from it is refused
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);
  std::vector<std::string> plugin_search;  // absolute; relative ones are relative to the file
  std::map<std::string, std::string> plugin_sha256;  // backend name to 64 hex digits
  std::vector<std::pair<size_t, size_t>>
      hidden;  // bytes begin..end of `text` that are secrets: excerpts show REDACTED
};

// The message about an option of a leaf, with ${VAR} for the values that the option or what is in it has of variables.
std::string name_variables(const ResolverConfig& leaf, const std::string& option,
                           std::string message);

// "file:line:column: message", the line itself, and a caret: for errors found after parsing (an `option` detail of a plugin).
std::string show_place(const Config& config, Mark mark, std::string_view message);

// Environment variable by name; nullopt when unset.
using EnvironmentLookup = std::function<std::optional<std::string>(const std::string& name)>;

// Which plugin a resolver uses: that of this name, or the executable of a command.
struct PluginUse {
  std::string backend;
  std::vector<std::string> command;
  friend bool operator<(const PluginUse& a, const PluginUse& b) {
    return std::tie(a.backend, a.command) < std::tie(b.backend, b.command);
  }
};

// Finds and reads the descriptor of a backend, without loading it, once plugins.search and plugins.sha256 are known.
using DescriptorLookup =
    std::function<Result<Descriptor>(const PluginUse& use, const Config& so_far)>;

// Parses and checks a whole config. All its errors are in the one Error (kInvalidArgument; kNotFound or kPermissionDenied
// when the only errors are plugins that cannot be found or trusted): each with file:line:column, the line, and the
// nearest known key. Options are checked against each plugin's schema.
Result<Config> parse_config(std::string text, std::string name,
                            const EnvironmentLookup& environment,
                            const DescriptorLookup& descriptors);

// Reads the file first. kNotFound / kPermissionDenied say what was tried.
Result<Config> load_config(const std::string& path, const EnvironmentLookup& environment,
                           const DescriptorLookup& descriptors);

// A config of one backend from the command line: option values "NAME=VALUE", VALUE is YAML, NAME a dotted path.
Result<Config> shorthand_config(const std::string& backend, const std::vector<std::string>& options,
                                const std::vector<std::string>& plugin_search,
                                const EnvironmentLookup& environment,
                                const DescriptorLookup& descriptors);

// "30s", "500ms", "2m", "1h30m". kInvalidArgument quotes the text and shows the form.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);

// The most tasks that a job can be expected to have: MUSTER_TASKS_MAXIMUM, for no answer has more.
inline constexpr int64_t kExpectMaximum = 1'048'576;

// "worker=16,ps=1". A count is 0 to kExpectMaximum.
Result<std::vector<std::pair<std::string, int64_t>>> parse_expect(std::string_view text);

// The JSON Schema of muster.yaml.
std::string_view config_schema();

// The known word nearest to a wrong one (edit distance of at most a third of its length, at least 1), or "".
std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace muster
