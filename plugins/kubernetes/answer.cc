#include "plugins/kubernetes/answer.h"

#include <fmt/format.h>

#include <unordered_map>

#include "plugins/kubernetes/endpoint.h"
#include "plugins/kubernetes/identity.h"
#include "plugins/support/checked_push.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::quote;

// Calls `say(key, value)`: of one kind of device its type and count, of several a count for each.
template <typename Say>
void say_accelerators(const Pod& pod, const Say& say) {
  size_t kinds = 0;
  for (const int32_t count : pod.devices) kinds += count != 0 ? 1 : 0;
  for (size_t kind = 0; kind < pod.devices.size(); ++kind) {
    if (pod.devices[kind] == 0) continue;
    const std::string count = std::to_string(pod.devices[kind]);
    if (kinds > 1) {
      say(std::string(MUSTER_ATTRIBUTE_ACCELERATOR_COUNT_OF) + kDeviceNames[kind], count);
      continue;
    }
    say(MUSTER_ATTRIBUTE_ACCELERATOR_TYPE, kDeviceNames[kind]);
    say(MUSTER_ATTRIBUTE_ACCELERATOR_COUNT, count);
  }
  if (!pod.accelerator_model.empty()) say("accelerator.model", pod.accelerator_model);
  if (!pod.accelerator_topology.empty()) say("accelerator.topology", pod.accelerator_topology);
}

class Pusher {
 public:
  Pusher(const Options& options, const Wanted& wanted, const std::string& domain, bool known,
         support::CheckedPush& checked)
      : options_(options), wanted_(wanted), domain_(domain), known_(known), checked_(checked) {}

  void push(const JobMembers& job) {
    checked_.add_job(job.job);
    if (job.expected) checked_.set_expected(job.job, *job.expected);
    for (const Member& member : job.found.members) {
      push(job.job, member);
      if (checked_.stopped()) return;
    }
    for (const std::string& warning : job.found.warnings) checked_.add_warning(warning);
  }

 private:
  void push(const std::string& job, const Member& member) {
    if (member.pod == nullptr) {
      checked_.add_missing(job, member.index, member.place, member.missing);
      return;
    }
    const Pod& pod = *member.pod;
    const std::string full = options_.all_namespaces ? full_name(pod) : std::string();
    const std::string_view name = options_.all_namespaces ? std::string_view(full) : pod.name;
    if (!member.missing.empty()) {
      checked_.add_missing(job, member.index, name, member.missing);
      return;
    }
    const Endpoint endpoint = endpoint_of(pod, job, options_, wanted_, domain_);
    if (!endpoint.missing.empty()) {
      checked_.add_missing(job, member.index, name, endpoint.missing);
      return;
    }
    const sdk::Task task = {job, member.index, name, endpoint.host, endpoint.port};
    known_ ? checked_.add_known_task(task) : checked_.add_task(task);
    const auto say = [&](std::string_view key, std::string_view value) {
      known_ ? checked_.set_known_attribute(key, value) : checked_.set_attribute(key, value);
    };
    if (!pod.uid.empty()) say(MUSTER_ATTRIBUTE_UID, pod.uid);
    if (!pod.node.empty()) say(MUSTER_ATTRIBUTE_HOST, pod.node);
    if (!pod.name_space.empty()) say("namespace", pod.name_space);
    if (pod.restarts > 0) say("restarts", std::to_string(pod.restarts));
    say_accelerators(pod, say);
    if (!checked_.stopped()) warn_of_one_address(pod, endpoint);
  }

  void warn_of_one_address(const Pod& pod, const Endpoint& endpoint) {
    // Only on a node's address can two pods meet.
    if (endpoint.host != pod.host_ip && endpoint.host != pod.second_host_ip) return;
    const auto [at, added] =
        owners_.emplace(fmt::format("{} {}", endpoint.host, endpoint.port), &pod);
    if (!added)
      checked_.add_warning(
          fmt::format("pods {} and {} have one address {} (hostNetwork on one node); with one "
                      "port they cannot both be reached",
                      quote(full_name(*at->second)), quote(full_name(pod)), quote(endpoint.host)));
  }

  const Options& options_;
  const Wanted& wanted_;
  const std::string& domain_;
  const bool known_;  // what is pushed of a pod has been looked at
  support::CheckedPush& checked_;
  std::unordered_map<std::string, const Pod*> owners_;
};

// The readers of pods have held their texts and addresses against the limits, and a list has each pod once: to look again for each
// push would cost a watch of many pods a good part of its time. But endpoints come of another reader, DNS names are made here,
// and of two namespaces' pods names may be alike.
bool is_known(const std::vector<JobMembers>& jobs, const Options& options) {
  if (!options.service.empty() || options.address == AddressKind::kDns) return false;
  if (options.all_namespaces) return true;
  const Pod* first = nullptr;
  for (const JobMembers& job : jobs)
    for (const Member& member : job.found.members) {
      if (member.pod == nullptr) continue;
      if (first == nullptr) first = member.pod;
      if (!(member.pod->name_space == first->name_space)) return false;
    }
  return true;
}

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

sdk::Status Answers::push(const std::vector<JobMembers>& jobs,
                          const std::vector<std::string>& warnings) const {
  support::CheckedPush checked(call_);
  if (!options_.rpc_layer.empty())
    checked.set_attribute(MUSTER_ATTRIBUTE_RPC_LAYER, options_.rpc_layer);
  for (const std::string& warning : warnings) checked.add_warning(warning);
  Pusher pusher(options_, wanted_, domain_, is_known(jobs, options_), checked);
  for (const JobMembers& job : jobs) {
    for (const std::string& note : job.found.notes)
      call_.host().log(MUSTER_LOG_DEBUG, "kubernetes: " + note);
    if (job.in_cluster) pusher.push(job);
    if (checked.stopped()) return checked.end();
  }
  say_identity(jobs, evidence_, options_, checked);
  return checked.end();
}

}  // namespace muster::kubernetes
