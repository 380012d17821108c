// Cloud TPU's answers and a TPU VM's attributes: any bytes give slices that can be told, or an error in words.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "plugins/tpu/accelerator.h"
#include "plugins/tpu/node.h"
#include "plugins/tpu/queued.h"
#include "plugins/tpu/slice.h"
#include "plugins/tpu/vm.h"

namespace {

using namespace muster::tpu;

void told(const muster::sdk::Failure& failure) {
  if (failure.message.empty()) std::abort();
}

// Hosts are there or missing with a reason; those that are there have an address and a port.
void judge(const Slice& slice, bool ready) {
  if (slice.name.empty()) std::abort();
  if (slice.workers.empty() && slice.missing.empty()) std::abort();
  if (!ready && slice.missing.empty()) std::abort();
  for (const Worker& worker : slice.workers) {
    if (worker.name.empty()) std::abort();
    if (worker.missing.empty() && (worker.host.empty() || worker.port < 1 || worker.port > 65535))
      std::abort();
  }
  for (const auto& [key, value] : slice.attributes)
    if (key.empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  text.append(64, '\0');
  const std::string_view whole = std::string_view(text).substr(0, size - 1);
  Options options;
  options.external = (data[0] & 1) != 0;
  options.health_counts = (data[0] & 2) == 0;

  const auto of_node = [&](const Node& node) {
    judge(slice_of(node, options, 1'770'000'000), node.state == "READY");
  };
  if (auto node = read_node(whole)) {
    of_node(*node);
  } else {
    told(node.failure());
  }
  if (auto page = read_nodes(whole)) {
    for (const Node& node : page->nodes) of_node(node);
  } else {
    told(page.failure());
  }
  const auto of_queued = [](const Queued& queued) {
    if (queued.in_words().empty()) std::abort();
    for (const QueuedNode& node : queued.nodes) judge(slice_of(node, queued), false);
  };
  if (auto queued = read_queued(whole)) {
    of_queued(*queued);
  } else {
    told(queued.failure());
  }
  if (auto page = read_queued_list(whole)) {
    for (const Queued& queued : page->queued) of_queued(queued);
  } else {
    told(page.failure());
  }

  const TpuEnv env = read_tpu_env(whole);
  if (env.slices < 1 || env.slice < 0 || (env.worker && *env.worker < 0)) std::abort();
  if (const auto hosts = read_worker_endpoints(whole))
    for (const std::string& host : *hosts)
      if (host.empty()) std::abort();
  if (const auto shape = shape_of(env.type)) {
    if (shape->chips < 1 || shape->hosts < 1 || shape->chips_per_host(env.slices) < 1) std::abort();
  }
  if (chips_of(env.topology).value_or(1) < 1) std::abort();
  return 0;
}
