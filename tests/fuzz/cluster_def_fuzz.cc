// Any bytes are a ClusterDef or an error; what was read is written and read again as the same, byte for byte.
#include <cstdlib>
#include <string_view>

#include "core/format/format.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto spec = muster::cluster_from_cluster_def({reinterpret_cast<const char*>(data), size});
  if (!spec) {
    require(!spec.error().message.empty() && muster::is_valid_text(spec.error().message));
    return 0;
  }
  const std::string bytes = muster::cluster_to_cluster_def(*spec);
  const auto again = muster::cluster_from_cluster_def(bytes);
  require(again.ok() && *again == *spec);
  require(muster::cluster_to_cluster_def(*again) == bytes);
  const auto json = muster::cluster_from_json(muster::cluster_to_json(*spec));
  require(json.ok() && *json == *spec);
  return 0;
}
