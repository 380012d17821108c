// Any text is a TF_CONFIG or an error; a cluster that was read is written and read again as the same.
#include <cstdlib>
#include <string_view>

#include "core/format/format.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = muster::parse_tf_config(text);
  if (!config) {
    require(config.error().code == muster::Code::kInvalidArgument);
    require(!config.error().message.empty() && muster::is_valid_text(config.error().message));
  } else {
    muster::Snapshot snapshot;
    snapshot.spec = config->cluster;
    snapshot.identity = config->task;
    snapshot.rpc_layer = config->rpc_layer.value_or("");
    snapshot.environment = config->environment.value_or("");
    const auto written = muster::render(snapshot, "tf_config", {});
    require(written.ok());
    const auto again = muster::parse_tf_config(*written);
    require(again.ok() && again->cluster == config->cluster);
    require(again->rpc_layer.value_or("") == snapshot.rpc_layer);
    require(muster::cluster_to_json(again->cluster) == muster::cluster_to_json(config->cluster));
    require(muster::digest(again->cluster) == muster::digest(config->cluster));
    require(muster::diff(again->cluster, config->cluster).empty());
  }
  if (const auto cluster = muster::cluster_from_json(text)) {
    const auto again = muster::cluster_from_json(muster::cluster_to_json(*cluster));
    require(again.ok() && *again == *cluster);
  }
  return 0;
}
