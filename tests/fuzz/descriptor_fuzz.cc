// Any bytes as the descriptor of a plugin: refused with a message, or a descriptor that keeps its promises.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/config/backend_names.h"
#include "core/config/descriptor.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace muster;
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  const Result<Descriptor> descriptor = parse_descriptor(json);
  if (!descriptor) {
    if (descriptor.error().message.empty() || descriptor.error().code != Code::kInvalidArgument)
      std::abort();
    return 0;
  }
  if (!is_backend_name(descriptor->name) || descriptor->version.empty() || descriptor->json != json)
    std::abort();
  // The schema as it is handed on is an object again.
  if (!descriptor->options_schema.starts_with('{')) std::abort();
  const std::string again = R"({"name":"x","version":"1","abi":{"major":1,"minor":0},"options":)" +
                            descriptor->options_schema + "}";
  if (again.size() < (1u << 20) && !parse_descriptor(again)) std::abort();
  return 0;
}
