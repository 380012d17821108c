// The events of a watch: any bytes, however they are parted, give the same events or an error. The first byte says in what
// steps.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "plugins/kubernetes/events.h"

namespace {

using namespace muster::kubernetes;

// All events, one a line, and "!" for an error.
std::string read(std::string_view body, size_t step) {
  const Wanted wanted = {{"a", "port"}, true};
  EventReader reader(wanted, 4096);
  PodList texts;
  std::string out;
  for (size_t at = 0; at < body.size(); at += step) {
    const auto events = reader.take(body.substr(at, step), texts);
    if (!events) {
      if (events.failure().code != MUSTER_E_DATA_LOSS || events.failure().message.empty())
        std::abort();
      return "!";  // which events of the same piece were read before it depends on the pieces
    }
    for (const Event& event : *events) {
      if ((event.kind != Event::Kind::kError) == event.version.empty()) std::abort();
      const bool of_pod =
          event.kind == Event::Kind::kChanged || event.kind == Event::Kind::kDeleted;
      if (of_pod && (event.pod.name.empty() || event.pod.phase == Phase::kNone)) std::abort();
      out += std::to_string(static_cast<int>(event.kind)) + event.version + full_name(event.pod) +
             event.status.message + "\n";
    }
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (read(body, size) != read(body, data[0] + size_t{1})) std::abort();
  return 0;
}
