#include "plugins/kubernetes/answer.h"

#include <fmt/format.h>

#include <unordered_map>

#include "plugins/kubernetes/endpoint.h"
#include "plugins/kubernetes/identity.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::quote;

// Of one kind: its type and count. Of several: a count for each.
void push_accelerators(const Pod& pod, sdk::Call& call) {
  size_t kinds = 0;
  for (const int32_t count : pod.devices) kinds += count != 0 ? 1 : 0;
  for (size_t kind = 0; kind < pod.devices.size(); ++kind) {
    if (pod.devices[kind] == 0) continue;
    const std::string count = std::to_string(pod.devices[kind]);
    if (kinds > 1) {
      call.set_attribute(std::string(MUSTER_ATTRIBUTE_ACCELERATOR_COUNT_OF) + kDeviceNames[kind],
                         count);
      continue;
    }
    call.set_attribute(MUSTER_ATTRIBUTE_ACCELERATOR_TYPE, kDeviceNames[kind]);
    call.set_attribute(MUSTER_ATTRIBUTE_ACCELERATOR_COUNT, count);
  }
  if (!pod.accelerator_model.empty())
    call.set_attribute("accelerator.model", pod.accelerator_model);
  if (!pod.accelerator_topology.empty())
    call.set_attribute("accelerator.topology", pod.accelerator_topology);
}

class Pusher {
 public:
  Pusher(const Options& options, const Wanted& wanted, const std::string& domain, sdk::Call& call)
      : options_(options), wanted_(wanted), domain_(domain), call_(call) {}

  void push(const JobMembers& job) {
    call_.add_job(job.job);
    if (job.expected) call_.set_expected(job.job, *job.expected);
    for (const Member& member : job.found.members) {
      push(job.job, member);
      if (call_.refused()) return;
    }
    for (const std::string& warning : job.found.warnings) call_.add_warning(warning);
  }

 private:
  void push(const std::string& job, const Member& member) {
    if (member.pod == nullptr) {
      call_.add_missing(job, member.index, member.place, member.missing);
      return;
    }
    const Pod& pod = *member.pod;
    const std::string full = options_.all_namespaces ? full_name(pod) : std::string();
    const std::string_view name = options_.all_namespaces ? std::string_view(full) : pod.name;
    if (!member.missing.empty()) {
      call_.add_missing(job, member.index, name, member.missing);
      return;
    }
    const Endpoint endpoint = endpoint_of(pod, job, options_, wanted_, domain_);
    if (!endpoint.missing.empty()) {
      call_.add_missing(job, member.index, name, endpoint.missing);
      return;
    }
    call_.add_task({job, member.index, name, endpoint.host, endpoint.port});
    if (!pod.uid.empty()) call_.set_attribute(MUSTER_ATTRIBUTE_UID, pod.uid);
    if (!pod.node.empty()) call_.set_attribute(MUSTER_ATTRIBUTE_HOST, pod.node);
    if (!pod.name_space.empty()) call_.set_attribute("namespace", pod.name_space);
    if (pod.restarts > 0) call_.set_attribute("restarts", std::to_string(pod.restarts));
    push_accelerators(pod, call_);
    // Only on a node's address can two pods meet.
    if (endpoint.host != pod.host_ip && endpoint.host != pod.second_host_ip) return;
    const auto [at, added] =
        owners_.emplace(fmt::format("{} {}", endpoint.host, endpoint.port), &pod);
    if (!added)
      call_.add_warning(
          fmt::format("pods {} and {} have one address {} (hostNetwork on one node); with one "
                      "port they cannot both be reached",
                      quote(full_name(*at->second)), quote(full_name(pod)), quote(endpoint.host)));
  }

  const Options& options_;
  const Wanted& wanted_;
  const std::string& domain_;
  sdk::Call& call_;
  std::unordered_map<std::string, const Pod*> owners_;
};

// The domain of cluster-internal names. Reads nothing unless the options want DNS names.
std::string find_cluster_domain(const Options& options, const sdk::Call& call) {
  if (options.cluster_domain) return *options.cluster_domain;
  if (options.address != AddressKind::kDns) return "";
  std::string domain;
  if (const auto content = call.file("/etc/resolv.conf", uint64_t{1} << 20, 0, true))
    domain = cluster_domain_of(*content);
  return domain.empty() ? "cluster.local" : domain;
}

}  // namespace

Judge judge_of(const Options& options) {
  return {options.require, options.address == AddressKind::kDns};
}

Answers::Answers(const Access& access, const Options& options, sdk::Call& call)
    : options_(options),
      call_(call),
      wanted_(options.wanted()),
      domain_(find_cluster_domain(options, call)),
      evidence_(find_evidence(access, options, call)) {}

void Answers::push(const std::vector<JobMembers>& jobs) const {
  if (!options_.rpc_layer.empty())
    call_.set_attribute(MUSTER_ATTRIBUTE_RPC_LAYER, options_.rpc_layer);
  Pusher pusher(options_, wanted_, domain_, call_);
  for (const JobMembers& job : jobs) {
    for (const std::string& note : job.found.notes)
      call_.host().log(MUSTER_LOG_DEBUG, "kubernetes: " + note);
    if (job.in_cluster) pusher.push(job);
    if (call_.refused()) return;
  }
  say_identity(jobs, evidence_, options_, call_);
}

}  // namespace muster::kubernetes
