// muster.yaml: any bytes give a configuration or an error with places, and an error never shows a variable's value.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/config/config.h"

namespace {

constexpr const char* kSchema = R"({
  "type": "object",
  "properties": {
    "members": {"type": "object", "additionalProperties": {"type": ["array", "object"], "items": {"type": "string"}}},
    "port": {"type": "integer", "minimum": 1, "maximum": 65535, "default": 8470},
    "zone": {"type": "string", "pattern": "^[a-z]+$"},
    "mode": {"enum": ["fast", "slow"]},
    "token": {"type": "string", "writeOnly": true},
    "auth": {"type": "object", "additionalProperties": false, "required": ["user"],
             "properties": {"user": {"type": "string"}, "realm": {"default": "r"}}}
  },
  "oneOf": [{"required": ["members"]}, {"required": ["zone"]}]
})";

// With characters that no backend's name has: that name alone is shown even when it comes out of a variable.
constexpr const char* kValue = "never to be shown: 7f3a";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace muster;
  if (size > 65536) return 0;  // longer texts only take longer
  const auto environment = [](const std::string& name) -> std::optional<std::string> {
    if (name.size() % 2 == 1) return kValue;
    return std::nullopt;
  };
  const auto descriptors = [](const PluginUse& use, const Config&) -> Result<Descriptor> {
    const std::string& name = use.backend;
    if (name == "lost")
      return Error{Code::kNotFound, "cannot find the plugin of backend 'lost'", {}};
    Descriptor descriptor;
    descriptor.options_schema = name == "bare" ? "" : kSchema;
    return descriptor;
  };
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Result<Config> config = parse_config(text, "/job.yaml", environment, descriptors);
  if (config) {
    for (const auto& [pointer, mark] : config->cluster.option_marks)
      (void)show_place(*config, mark, pointer);
  } else if (config.error().message.empty() ||
             (config.error().message.find(kValue) != std::string::npos &&
              text.find(kValue) == std::string::npos)) {
    std::abort();
  }
  (void)shorthand_config("static", {text}, {}, environment, descriptors);
  (void)parse_duration(text);
  (void)parse_expect(text);
  return 0;
}
