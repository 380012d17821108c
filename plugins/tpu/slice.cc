#include "plugins/tpu/slice.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/support/checked_push.h"
#include "plugins/support/text.h"
#include "plugins/tpu/accelerator.h"

namespace muster::tpu {
namespace {

using support::quote;

constexpr int64_t kDefaultPort = 8470;
constexpr int kCoordinatorPort = 8476;  // JAX's
constexpr int kMegascalePort = 8080;

using Attributes = std::vector<std::pair<std::string, std::string>>;

std::string with_port(const std::string& host, int64_t port) {
  const bool bare_ipv6 = host.find(':') != std::string::npos && host.front() != '[';
  return fmt::format(fmt::runtime(bare_ipv6 ? "[{}]:{}" : "{}:{}"), host, port);
}

bool in_each(const std::vector<Slice>& slices, const std::pair<std::string, std::string>& one) {
  return std::all_of(slices.begin(), slices.end(), [&](const Slice& slice) {
    return std::find(slice.attributes.begin(), slice.attributes.end(), one) !=
           slice.attributes.end();
  });
}

// How many places a slice takes; 0 when nobody knows. Slices of one group are alike, so one that is there tells for others.
int64_t places_of(const Slice& slice, const std::vector<Slice>& all) {
  if (!slice.workers.empty()) return static_cast<int64_t>(slice.workers.size());
  if (slice.size > 0) return slice.size;
  for (const Slice& other : all) {
    if (!other.workers.empty()) return static_cast<int64_t>(other.workers.size());
    if (other.size > 0) return other.size;
  }
  return 0;
}

// What holds for the whole cluster.
void push_cluster(const Answer& answer, const Options& options, support::CheckedPush& push) {
  if (!options.rpc_layer.empty()) push.set_attribute(MUSTER_ATTRIBUTE_RPC_LAYER, options.rpc_layer);
  push.set_attribute("coordination.leader", fmt::format("/job:{}/task:0", options.job));
  if (answer.slices.empty()) return;
  for (const auto& one : answer.slices[0].attributes)
    if (in_each(answer.slices, one)) push.set_attribute(one.first, one.second);
  const size_t count = answer.slices.size();
  if (count > 1) {
    push.set_attribute("slices", std::to_string(count));
    push.set_attribute("rank", "slice, then worker");
  }
  const auto& first = answer.slices[0].workers;
  if (first.empty() || !first[0].missing.empty()) {
    if (!answer.megascale_address.empty())
      push.set_attribute("megascale.coordinator", answer.megascale_address);
    return;
  }
  const Worker& leader = first[0];
  if (leader.port != 0) {
    push.set_attribute("coordinator", with_port(leader.host, kCoordinatorPort));
    if (count > 1)
      push.set_attribute("megascale.coordinator", !answer.megascale_address.empty()
                                                      ? answer.megascale_address
                                                      : with_port(leader.host, kMegascalePort));
  }
  if (answer.master)
    push.set_attribute("master.default",
                       (options.rpc_layer.empty() ? "" : options.rpc_layer + "://") +
                           (leader.port == 0 ? leader.host : with_port(leader.host, leader.port)));
}

void push_slice(const Answer& answer, size_t number, int64_t first, const Options& options,
                support::CheckedPush& push) {
  const Slice& slice = answer.slices[number];
  const int64_t places = places_of(slice, answer.slices);
  if (slice.workers.empty()) {
    if (places == 0) push.add_missing(options.job, MUSTER_UNRANKED, slice.name, slice.missing);
    for (int64_t n = 0; n < places; ++n)
      push.add_missing(options.job, first + n, worker_name(slice.name, static_cast<size_t>(n)),
                       slice.missing);
    return;
  }
  const bool many = answer.slices.size() > 1;
  for (size_t n = 0; n < slice.workers.size(); ++n) {
    if (push.stopped()) return;
    const Worker& worker = slice.workers[n];
    const int64_t index = first + static_cast<int64_t>(n);
    const std::string& why = !slice.missing.empty() ? slice.missing : worker.missing;
    if (!why.empty()) {
      push.add_missing(options.job, index, worker.name, why);
      continue;
    }
    push.add_task({options.job, index, worker.name, worker.host, worker.port});
    if (!many) continue;
    push.set_attribute("slice", std::to_string(number));
    push.set_attribute("worker", std::to_string(n));
    for (const auto& one : slice.attributes)
      if (!in_each(answer.slices, one)) push.set_attribute(one.first, one.second);
  }
}

}  // namespace

bool Answer::whole() const {
  return std::all_of(slices.begin(), slices.end(), [](const Slice& slice) {
    return slice.missing.empty() &&
           std::all_of(slice.workers.begin(), slice.workers.end(),
                       [](const Worker& one) { return one.missing.empty(); });
  });
}

bool Answer::lost() const {
  return std::any_of(slices.begin(), slices.end(), [](const Slice& slice) { return slice.lost; });
}

std::string Answer::why() const {
  for (const Slice& slice : slices) {
    std::string why = slice.missing;
    for (const Worker& worker : slice.workers)
      if (why.empty()) why = worker.missing;
    if (!why.empty()) return fmt::format("TPU {}: {}", quote(slice.name), why);
  }
  return "";
}

std::string worker_name(const std::string& tpu, size_t worker) {
  return fmt::format("{}-w-{}", tpu, worker);
}

void describe(const std::string& type, const std::string& topology, Slice& out) {
  const auto say = [&](const char* key, const std::string& value) {
    if (!value.empty()) out.attributes.emplace_back(key, value);
  };
  say("accelerator.model", type);
  say("accelerator.topology", topology);
  const auto hosts = static_cast<int64_t>(out.workers.size());
  const auto shape = shape_of(type);
  if (!shape) {
    if (hosts > 0) say("tpu.hosts", std::to_string(hosts));
    return;
  }
  if (out.size == 0) out.size = shape->hosts;
  say(MUSTER_ATTRIBUTE_ACCELERATOR_TYPE, "TPU");
  say(MUSTER_ATTRIBUTE_ACCELERATOR_COUNT, std::to_string(shape->devices_per_host(hosts)));
  say("tpu.cores", std::to_string(shape->cores));
  say("tpu.chips", std::to_string(shape->chips));
  say("tpu.hosts", std::to_string(hosts > 0 ? hosts : shape->hosts));
  say("tpu.chips_per_host", std::to_string(shape->chips_per_host(hosts)));
  for (const std::string& one : disagreements(type, topology, hosts))
    out.warnings.push_back(fmt::format("TPU {}: {}", quote(out.name), one));
}

Slice slice_of(const Node& node, const Options& options, int64_t now_s) {
  Slice out;
  out.name = node.name;
  out.zone = node.zone;
  out.missing = why_missing(node, options.health_counts);
  out.lost = is_lost(node);
  const bool ready = node.state == "READY";
  // Before that they may be some, or another's.
  for (size_t n = 0; ready && n < node.endpoints.size(); ++n) {
    const Endpoint& endpoint = node.endpoints[n];
    Worker worker;
    worker.name = worker_name(node.name, n);
    worker.host = options.external ? endpoint.external_ip : endpoint.ip;
    worker.port = options.port != 0    ? options.port
                  : endpoint.port != 0 ? endpoint.port
                                       : kDefaultPort;
    if (worker.host.empty())
      worker.missing = options.external ? "it has no external address" : "it has no address yet";
    out.workers.push_back(std::move(worker));
  }
  if (ready && out.workers.empty() && out.missing.empty())
    out.missing = "it is READY, and the API tells no endpoint of it";
  const auto say = [&](const char* key, const std::string& value) {
    if (!value.empty()) out.attributes.emplace_back(key, value);
  };
  say("tpu.name", node.name);
  say("tpu.id", node.id);
  say(MUSTER_ATTRIBUTE_ZONE, node.zone);
  say("state", node.state);
  say("health", node.health);
  say("recoverable", is_recoverable(node, now_s) ? "true" : "false");
  say("symptoms", symptoms_in_words(node));
  say("runtime.version", node.runtime);
  say("provisioning", node.provisioning);
  describe(node.type, node.topology, out);
  if (!options.health_counts && ready)
    if (const std::string why = why_missing(node, true); !why.empty())
      out.warnings.push_back(fmt::format("TPU {}: {}", quote(node.name), why));
  return out;
}

Slice slice_of(const QueuedNode& node, const Queued& queued) {
  Slice out;
  out.name = node.name;
  out.zone = node.zone;
  out.missing = queued.active() ? fmt::format("there is no such TPU, though {}", queued.in_words())
                                : queued.in_words();
  out.lost = queued.lost();
  out.attributes.emplace_back("tpu.name", node.name);
  out.attributes.emplace_back("queued_resource", queued.name);
  out.attributes.emplace_back("state", queued.state);
  describe(node.type, "", out);
  return out;
}

sdk::Status push(const Answer& answer, const Options& options, sdk::Call& call) {
  support::CheckedPush checked(call, answer.wrong);
  push_cluster(answer, options, checked);
  for (const Slice& slice : answer.slices)
    for (const std::string& warning : slice.warnings) checked.add_warning(warning);
  if (answer.local) {
    checked.set_attribute(MUSTER_ATTRIBUTE_MASTER, "");
  } else {
    checked.add_job(options.job);
  }
  int64_t first = 0;
  bool known = true;
  std::vector<int64_t> begins;
  for (size_t n = 0; n < answer.slices.size(); ++n) {
    begins.push_back(first);
    const int64_t places = places_of(answer.slices[n], answer.slices);
    push_slice(answer, n, first, options, checked);
    known = known && places > 0;
    first += places;
  }
  if (known && !answer.local) checked.set_expected(options.job, first);
  if (!options.coordinator_name.empty()) {
    checked.add_job(options.coordinator_name);
    checked.add_task({options.coordinator_name, 0, "", options.coordinator_address, 0});
  }
  if (options.task_id)
    checked.set_identity(options.job, *options.task_id, {}, "the option task_id says so");
  if (answer.local && !options.task_id)
    checked.set_identity(options.job, 0, {}, "the TPU is this machine's own");
  if (answer.own && answer.own->worker < places_of(answer.slices[answer.own->slice], answer.slices))
    checked.set_identity(options.job, begins[answer.own->slice] + answer.own->worker, {},
                         answer.own->evidence);
  return checked.end();
}

}  // namespace muster::tpu
