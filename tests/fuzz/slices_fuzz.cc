// EndpointSliceList: any bytes give endpoints, each once and with a name and an address, or an error.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "plugins/kubernetes/slices.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace muster::kubernetes;
  std::string text(reinterpret_cast<const char*>(data), size);
  text.append(64, '\0');  // what a response has behind it
  const auto read = read_slices({text.data(), size});
  if (!read) {
    if (read.failure().code != MUSTER_E_DATA_LOSS || read.failure().message.empty()) std::abort();
    return 0;
  }
  for (const Pod& pod : read->pods.pods) {
    if (pod.name.empty() || pod.ip.empty() || pod.phase != Phase::kRunning) std::abort();
    for (uint16_t n = 0; n < pod.port_count; ++n)
      if (pod.ports[n].number == 0) std::abort();
  }
  return 0;
}
