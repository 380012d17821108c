// The events of a watch of other objects than pods: any bytes, however they are parted, give the same events or an error, and what
// comes of an event can be read on as a finder's object and as a Service's slice. The first byte says in what steps, the second of
// which finder.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "plugins/kubernetes/events.h"
#include "plugins/kubernetes/finder.h"
#include "plugins/kubernetes/slices.h"

namespace {

using namespace muster::kubernetes;

// All events, one a line, and "!" for an error; the objects that are left, by name.
std::string read(std::string_view body, size_t step, std::map<std::string, std::string>& left) {
  EventReader reader(4096);
  PodList texts;
  std::string out;
  for (size_t at = 0; at < body.size(); at += step) {
    auto events = reader.take(body.substr(at, step), texts);
    if (!events) {
      if (events.failure().code != MUSTER_E_DATA_LOSS || events.failure().message.empty())
        std::abort();
      return "!";  // which events of the same piece were read before it depends on the pieces
    }
    for (Event& event : *events) {
      const bool of_object =
          event.kind == Event::Kind::kChanged || event.kind == Event::Kind::kDeleted;
      if ((event.kind != Event::Kind::kError) == event.version.empty()) std::abort();
      if (of_object && (event.name.empty() || event.json.empty())) std::abort();
      if (!event.pod.name.empty()) std::abort();
      out += std::to_string(static_cast<int>(event.kind)) + event.version + event.name +
             event.json + event.status.message + "\n";
      if (event.kind == Event::Kind::kDeleted) left.erase(event.name);
      if (event.kind == Event::Kind::kChanged)
        left.insert_or_assign(std::move(event.name), std::move(event.json));
    }
  }
  if (!texts.pods.empty()) std::abort();
  return out;
}

void read_on(const Finder& finder, const std::map<std::string, std::string>& left) {
  std::string list = R"({"kind":"EndpointSliceList","items":[)";
  for (const auto& [name, json] : left) {
    const auto plan = read_plan(finder, name, json);
    if (plan ? plan->uid.empty() || plan->roles.empty() : plan.failure().message.empty())
      std::abort();
    if (list.back() != '[') list += ',';
    list += json;
  }
  const auto slices = read_slices(list + "]}");
  if (!slices && slices.failure().code != MUSTER_E_DATA_LOSS) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 2, size - 2);
  std::map<std::string, std::string> whole, parted;
  if (read(body, size, whole) != read(body, data[0] + size_t{1}, parted)) std::abort();
  read_on(finders()[data[1] % finders().size()], whole);
  return 0;
}
