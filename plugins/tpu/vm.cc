#include "plugins/tpu/vm.h"

#include <fmt/format.h>

#include "plugins/support/google/metadata.h"
#include "plugins/support/ip.h"
#include "plugins/support/text.h"

namespace muster::tpu {
namespace {

using support::quote;
using support::trimmed;
using support::google::Metadata;

constexpr int64_t kDefaultPort = 8470;
constexpr size_t kWorkersMaximum = 100000;

}  // namespace

TpuEnv read_tpu_env(std::string_view text) {
  TpuEnv out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text = text.substr(std::min(end + 1, text.size()));
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trimmed(line.substr(0, colon));
    std::string_view value = trimmed(line.substr(colon + 1));
    if (value.size() >= 2 && value.front() == value.back() &&
        (value.front() == '\'' || value.front() == '"'))
      value = value.substr(1, value.size() - 2);
    if (!support::is_text(value)) {
      if (out.odd.empty())
        out.odd = fmt::format("{} is {}, which is no text", quote(key), quote(value));
      continue;
    }
    const auto number = support::parse_digits(value, MUSTER_TASKS_MAXIMUM);
    const bool counts =
        key == "WORKER_ID" || key == "MEGASCALE_NUM_SLICES" || key == "MEGASCALE_SLICE_ID";
    if (counts && !value.empty() && out.odd.empty() &&
        (!number || (key == "MEGASCALE_NUM_SLICES" && *number == 0)))
      out.odd = fmt::format("{} is {}, which is no such number", key, quote(value));
    if (key == "NODE_ID") out.node = value;
    if (key == "ZONE") out.zone = value;
    if (key == "ACCELERATOR_TYPE") out.type = value;
    if (key == "TOPOLOGY") out.topology = value;
    if (key == "RUNTIME_VERSION") out.runtime = value;
    if (key == "PREEMPTIBLE") out.preemptible = value;
    if (key == "MEGASCALE_COORDINATOR_ADDRESS") out.megascale_address = value;
    if (key == "WORKER_ID") out.worker = number;
    if (key == "MEGASCALE_NUM_SLICES" && number && *number > 0) out.slices = *number;
    if (key == "MEGASCALE_SLICE_ID" && number) out.slice = *number;
  }
  return out;
}

std::optional<std::vector<std::string>> read_worker_endpoints(std::string_view text) {
  std::vector<std::string> out;
  text = trimmed(text);
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    std::string_view entry = trimmed(text.substr(0, end));
    text = text.substr(std::min(end + 1, text.size()));
    // The third field to the end: an IPv6 address has colons of its own.
    for (int field = 0; field < 2; ++field) {
      const size_t colon = entry.find(':');
      if (colon == std::string_view::npos) return std::nullopt;
      entry = entry.substr(colon + 1);
    }
    if (entry.empty() || !support::is_text(entry) || out.size() == kWorkersMaximum)
      return std::nullopt;
    out.emplace_back(entry);
  }
  return out;
}

sdk::Result<std::optional<TpuEnv>> own_tpu_env(const sdk::Call& call) {
  auto text = Metadata::get("instance/attributes/tpu-env", "what TPU this machine is of", call);
  if (!text) return std::move(text).failure();
  if (!*text) return std::optional<TpuEnv>();
  TpuEnv env = read_tpu_env(**text);
  if (!env.odd.empty())
    return sdk::Failure{MUSTER_E_DATA_LOSS,
                        "the metadata server's tpu-env cannot be understood: " + env.odd,
                        {{"hint", "-O tpu=NAME asks the API in its place"}}};
  return std::optional<TpuEnv>(std::move(env));
}

sdk::Result<Answer> own_slice(const TpuEnv& env, const Options& options, const sdk::Call& call) {
  const auto wrong = [](const std::string& why) {
    return sdk::Failure{MUSTER_E_DATA_LOSS,
                        "the metadata server of this TPU VM tells no slice: " + why,
                        {{"hint", "-O tpu=NAME asks the API in its place"}}};
  };
  auto text = Metadata::get("instance/attributes/worker-network-endpoints",
                            "the hosts of this machine's TPU", call);
  if (!text) return std::move(text).failure();
  if (!*text) return wrong("it has no attribute worker-network-endpoints");
  const auto hosts = read_worker_endpoints(**text);
  if (!hosts || hosts->empty())
    return wrong(fmt::format("worker-network-endpoints says {}", quote(**text, 200)));
  Answer out;
  out.master = false;
  Slice& slice = out.slices.emplace_back();
  slice.name = env.node;
  slice.zone = env.zone;
  for (size_t n = 0; n < hosts->size(); ++n) {
    Worker worker;
    worker.name = worker_name(env.node.empty() ? "tpu" : env.node, n);
    worker.host = (*hosts)[n];
    worker.port = options.port != 0 ? options.port : kDefaultPort;
    if (!support::is_ip(worker.host))
      return wrong(
          fmt::format("{} in worker-network-endpoints is no IP address", quote(worker.host)));
    slice.workers.push_back(std::move(worker));
  }
  const auto say = [&](const char* key, const std::string& value) {
    if (!value.empty()) slice.attributes.emplace_back(key, value);
  };
  say("tpu.name", env.node);
  say(MUSTER_ATTRIBUTE_ZONE, env.zone);
  say("runtime.version", env.runtime);
  if (env.preemptible == "true") say("provisioning", "PREEMPTIBLE");
  describe(env.type, env.topology, slice);
  std::optional<int64_t> worker = env.worker;
  if (!worker) {
    auto number = Metadata::get("instance/attributes/agent-worker-number",
                                "which host of its TPU this machine is", call);
    if (!number) return std::move(number).failure();
    if (*number) {
      worker = support::parse_digits(**number, MUSTER_TASKS_MAXIMUM);
      if (!worker) return wrong(fmt::format("agent-worker-number is {}", quote(**number)));
    }
  }
  if (!worker) return out;
  if (*worker >= static_cast<int64_t>(hosts->size()))
    return wrong(fmt::format("this is worker {}, and worker-network-endpoints has {} hosts",
                             *worker, hosts->size()));
  out.own = Own{0, *worker,
                fmt::format("the metadata server says that this is worker {} of TPU {}", *worker,
                            quote(env.node))};
  return out;
}

}  // namespace muster::tpu
