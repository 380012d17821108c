// What a test of the configuration needs: an environment, a few backends, and a text.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/config/config.h"

namespace muster {

// The options of the backend `roster`, with each thing a schema is likely to say.
inline constexpr const char* kRosterSchema = R"({
  "type": "object",
  "required": ["members"],
  "properties": {
    "members": {"type": "object", "additionalProperties": {"type": ["array", "object"], "items": {"type": "string"}}},
    "port": {"type": "integer", "minimum": 1, "maximum": 65535, "default": 8470},
    "zone": {"type": "string", "minLength": 1, "pattern": "^[a-z0-9-]+$"},
    "mode": {"enum": ["fast", "slow"]},
    "weights": {"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 3, "uniqueItems": true},
    "deep": {"type": "boolean", "default": true},
    "token": {"type": "string", "writeOnly": true, "minLength": 4},
    "token_file": {"type": "string"},
    "auth": {
      "type": "object",
      "additionalProperties": false,
      "required": ["user"],
      "properties": {
        "user": {"type": "string"},
        "password": {"type": "string", "writeOnly": true},
        "realm": {"type": "string", "default": "muster"}
      }
    }
  },
  "dependencies": {"mode": ["zone"]},
  "not": {"required": ["token", "token_file"]}
})";

class ConfigWorld {
 public:
  ConfigWorld() {
    backend("roster", kRosterSchema);
    backend("open", R"({"type": "object"})");
    backend("bare", "");
  }

  ConfigWorld& set(const std::string& variable, std::string value) {
    variables_[variable] = std::move(value);
    return *this;
  }
  ConfigWorld& backend(const std::string& name, std::string schema) {
    Descriptor descriptor;
    descriptor.name = name;
    descriptor.options_schema = std::move(schema);
    backends_.insert_or_assign(name, Result<Descriptor>(std::move(descriptor)));
    return *this;
  }
  ConfigWorld& failing_backend(const std::string& name, Code code, std::string message) {
    backends_.insert_or_assign(name, Result<Descriptor>(Error{code, std::move(message), {}}));
    return *this;
  }

  EnvironmentLookup environment() const {
    return [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::nullopt : std::optional<std::string>(found->second);
    };
  }
  DescriptorLookup descriptors() const {
    return [this](const PluginUse& use, const Config& so_far) -> Result<Descriptor> {
      const std::string& name = use.backend;
      lookups.push_back(name);
      search_at_lookup = so_far.plugin_search;
      const auto found = backends_.find(name);
      if (found != backends_.end()) return found->second;
      return Error{
          Code::kNotFound,
          "cannot find the plugin of backend '" + name + "': no libmuster-" + name +
              ".so in any place\nSearched, in order:\n  MUSTER_PLUGIN_PATH  unset\n  installed  "
              "/usr/lib/muster/plugins\nTry: muster plugins list",
          {}};
    };
  }

  Result<Config> parse(std::string text, std::string name = "/etc/muster/job.yaml") const {
    return parse_config(std::move(text), std::move(name), environment(), descriptors());
  }
  // The options of one roster as JSON, or the error's message.
  std::string options(const std::string& options) const {
    const Result<Config> config = parse("cluster: {backend: open, options: " + options + "}\n");
    return config ? config->cluster.options_json : config.error().message;
  }
  // The error's message; "" when there is none.
  std::string error(std::string text) const {
    const Result<Config> config = parse(std::move(text));
    return config ? "" : config.error().message;
  }

  mutable std::vector<std::string> lookups;
  mutable std::vector<std::string> search_at_lookup;

 private:
  std::map<std::string, std::string> variables_;
  std::map<std::string, Result<Descriptor>> backends_;
};

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace muster
