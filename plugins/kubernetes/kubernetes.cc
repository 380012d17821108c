// The kubernetes backend: the pods that match a job's label selectors are its tasks.
#include <fmt/format.h>

#include <map>
#include <muster/plugin.hpp>
#include <unordered_map>

#include "plugins/kubernetes/access.h"
#include "plugins/kubernetes/identity.h"
#include "plugins/kubernetes/list.h"
#include "plugins/kubernetes/members.h"
#include "plugins/kubernetes/options.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::quote;

// clang-format off
MUSTER_DESCRIPTOR({
  "name": "kubernetes",
  "version": "0.1.0",
  "abi": {"major": 1, "minor": 0},
  "description": "Pods by label selector, from the Kubernetes API: by kubeconfig, in a pod without one by its service account.",
  "license": "Apache-2.0",
  "services": ["muster.environment/1", "muster.clock/1", "muster.http/1", "muster.process/1"],
  "options": {
    "type": "object",
    "additionalProperties": false,
    "properties": {
      "job_to_label_mapping": {
        "description": "Job -> label selector, or list of selectors whose pods are one after the other.",
        "type": "object",
        "additionalProperties": {
          "type": ["string", "array"],
          "minLength": 1,
          "items": {"type": "string", "minLength": 1, "description": "a label selector, as job-name=tensorflow"}
        },
        "default": {"worker": ["job-name=tensorflow"]}
      },
      "tf_server_port": {"description": "The port of every task.", "type": "integer", "minimum": 1, "maximum": 65535, "default": 8470},
      "rpc_layer": {"description": "Scheme of master addresses; empty for none.", "type": "string", "default": "grpc"},
      "executable_location": {
        "description": "within_cluster: as the pod's service account. off_cluster: by kubeconfig. auto: the second when there is a kubeconfig with a current context, else the first, as kubectl.",
        "enum": ["auto", "within_cluster", "off_cluster"],
        "default": "auto"
      },
      "namespace": {"description": "Where the pods are. Default: the context's, in a pod its own, else default.", "type": "string", "minLength": 1},
      "all_namespaces": {"description": "Pods of every namespace; needs a ClusterRole.", "type": "boolean", "default": false},
      "kubeconfig": {"description": "A kubeconfig file. Default: KUBECONFIG, else ~/.kube/config.", "type": "string", "minLength": 1},
      "context": {"description": "A context of the kubeconfig. Default: its current one.", "type": "string", "minLength": 1},
      "page_size": {"description": "Pods in one answer of the server.", "type": "integer", "minimum": 1, "maximum": 100000, "default": 500}
    }
  }
})
// clang-format on

// Seconds since 1970; 0 when the core has no clock.
int64_t now_of(const sdk::Call& call) {
  const auto* clock = call.host().service<muster_clock_v1>(MUSTER_CLOCK_V1);
  return clock == nullptr ? 0 : clock->realtime_ns(call.get()) / 1000000000;
}

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

class Kubernetes {
 public:
  static sdk::Result<std::unique_ptr<Kubernetes>> create(const sdk::Host&,
                                                         std::string_view options) {
    auto read = read_options(options);
    if (!read) return std::move(read).failure();
    return std::make_unique<Kubernetes>(*std::move(read));
  }

  explicit Kubernetes(Options options) : options_(std::move(options)) {}

  sdk::Status resolve(sdk::Call& call) {
    auto access = find_access(options_, exec_cache_, call);
    if (!access) return std::move(access).failure();

    // Each selector is listed once, also when two jobs have it.
    std::map<std::string, PodList> lists;
    PodListReader reader;
    for (const JobSelectors& job : options_.jobs) {
      for (const Selector& selector : job.selectors) {
        if (lists.count(selector.text) != 0) continue;
        auto pods = list_pods(*access, options_, selector, Wanted(), reader, call);
        if (!pods) return std::move(pods).failure();
        lists.emplace(selector.text, *std::move(pods));
      }
    }

    std::vector<JobMembers> jobs;
    for (const JobSelectors& job : options_.jobs) {
      SelectedPods selected;
      for (const Selector& selector : job.selectors)
        selected.push_back(&lists.at(selector.text).pods);
      jobs.push_back({job.job, find_members(selected, now_of(call))});
    }
    if (auto status = check_one_job_each(jobs); !status) return status;
    if (auto status = check_found(jobs, lists, *access); !status) return status;
    push(jobs, *access, call);
    return {};
  }

 private:
  // A process is one task: a pod in two jobs means that the selectors overlap, and no answer would be right.
  sdk::Status check_one_job_each(const std::vector<JobMembers>& jobs) const {
    if (jobs.size() < 2) return {};
    std::unordered_map<std::string, const std::string*> seen;
    for (const JobMembers& job : jobs) {
      for (const Member& member : job.found.members) {
        const auto [at, added] = seen.emplace(full_name(*member.pod), &job.job);
        if (!added)
          return sdk::Failure{MUSTER_E_INVALID_ARGUMENT,
                              fmt::format("pod {} matches the selectors of both job {} and job {}, "
                                          "and can be a task of one alone",
                                          quote(at->first), quote(*at->second), quote(job.job)),
                              {{"option", "/job_to_label_mapping/" + job.job}}};
      }
    }
    return {};
  }

  // NOT_FOUND when nothing at all matches, so that a chain goes on.
  sdk::Status check_found(const std::vector<JobMembers>& jobs,
                          const std::map<std::string, PodList>& lists, const Access& access) const {
    bool any = lists.empty();
    std::string selectors;
    size_t ended = 0;
    for (const JobMembers& job : jobs) any = any || !job.found.members.empty();
    if (any) return {};
    for (const auto& [selector, pods] : lists) {
      selectors += fmt::format("{}{}", selectors.empty() ? "" : ", ", quote(selector, 200));
      ended += pods.pods.size();
    }
    const std::string where =
        options_.all_namespaces ? "in all namespaces" : "in namespace " + quote(access.name_space);
    const std::string& first = lists.begin()->first;
    return sdk::Failure{
        MUSTER_E_NOT_FOUND,
        fmt::format(
            "no pod {} matches {} ({}, server {}){}", where, selectors, access.origin,
            access.server,
            ended == 0 ? std::string() : fmt::format("; {} that do have ended already", ended)),
        {{"hint", fmt::format("kubectl get pods {} -l '{}'",
                              options_.all_namespaces ? "-A" : "-n " + access.name_space, first)},
         {"endpoint", access.server}}};
  }

  void push(const std::vector<JobMembers>& jobs, const Access& access, sdk::Call& call) const {
    if (!options_.rpc_layer.empty())
      call.set_attribute(MUSTER_ATTRIBUTE_RPC_LAYER, options_.rpc_layer);
    for (size_t n = 0; n < jobs.size(); ++n) {
      const JobMembers& job = jobs[n];
      call.add_job(job.job);
      for (const Member& member : job.found.members) {
        push_member(job.job, member, call);
        if (call.refused()) return;
      }
      for (const std::string& note : job.found.notes)
        call.host().log(MUSTER_LOG_DEBUG, "kubernetes: " + note);
      for (const std::string& warning : job.found.warnings) call.add_warning(warning);
      if (job.found.members.empty() && !options_.jobs[n].selectors.empty())
        call.add_warning(fmt::format("no pod matches the selectors of job {}", quote(job.job)));
    }
    say_identity(jobs, access, options_.all_namespaces, call);
  }

  void push_member(const std::string& job, const Member& member, sdk::Call& call) const {
    const Pod& pod = *member.pod;
    const std::string name = member_name(pod, options_.all_namespaces);
    if (!member.missing.empty()) {
      call.add_missing(job, member.index, name, member.missing);
      return;
    }
    call.add_task({job, member.index, name, pod.ip, options_.port});
    if (!pod.uid.empty()) call.set_attribute(MUSTER_ATTRIBUTE_UID, pod.uid);
    if (!pod.node.empty()) call.set_attribute(MUSTER_ATTRIBUTE_HOST, pod.node);
    if (!pod.name_space.empty()) call.set_attribute("namespace", pod.name_space);
    if (pod.restarts > 0) call.set_attribute("restarts", std::to_string(pod.restarts));
    push_accelerators(pod, call);
  }

  Options options_;
  ExecCache exec_cache_;
};

}  // namespace
}  // namespace muster::kubernetes

MUSTER_PLUGIN(muster::kubernetes::Kubernetes, "kubernetes", "0.1.0")
