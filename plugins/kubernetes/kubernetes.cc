// The kubernetes backend: the pods that match a job's label selectors are its tasks.
#include <fmt/format.h>

#include <map>
#include <muster/plugin.hpp>
#include <unordered_map>

#include "plugins/kubernetes/access.h"
#include "plugins/kubernetes/answer.h"
#include "plugins/kubernetes/identity.h"
#include "plugins/kubernetes/list.h"
#include "plugins/kubernetes/members.h"
#include "plugins/kubernetes/object.h"
#include "plugins/kubernetes/options.h"
#include "plugins/kubernetes/service.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::quote;

// clang-format off
MUSTER_DESCRIPTOR({
  "name": "kubernetes",
  "version": "0.1.0",
  "abi": {"major": 1, "minor": 0},
  "description": "Pods of a job, set or service, or by label selector, from the Kubernetes API: by kubeconfig, in a pod without one by its service account.",
  "license": "Apache-2.0",
  "services": ["muster.environment/1", "muster.clock/1", "muster.http/1", "muster.process/1"],
  "options": {
    "type": "object",
    "additionalProperties": false,
    "properties": {
      "job_to_label_mapping": {
        "description": "Job -> label selector, or list of selectors whose pods are one after the other. Default: worker -> job-name=tensorflow.",
        "type": "object",
        "additionalProperties": {
          "type": ["string", "array"],
          "minLength": 1,
          "items": {"type": "string", "minLength": 1, "description": "a label selector, as job-name=tensorflow"}
        }
      },
      "job": {"description": "Name of a batch/v1 Job.", "type": "string", "minLength": 1},
      "jobset": {"description": "Name of a JobSet.", "type": "string", "minLength": 1},
      "leaderworkerset": {"description": "Name of a LeaderWorkerSet.", "type": "string", "minLength": 1},
      "statefulset": {"description": "Name of a StatefulSet.", "type": "string", "minLength": 1},
      "service": {"description": "Name of a Service, headless or not: its endpoints.", "type": "string", "minLength": 1},
      "trainjob": {"description": "Name of a Kubeflow TrainJob (v2).", "type": "string", "minLength": 1},
      "pytorchjob": {"description": "Name of a Kubeflow PyTorchJob.", "type": "string", "minLength": 1},
      "tfjob": {"description": "Name of a Kubeflow TFJob.", "type": "string", "minLength": 1},
      "vcjob": {"description": "Name of a Volcano Job.", "type": "string", "minLength": 1},
      "as_job": {"description": "All members of the object are one job of this name, ranked through its roles.", "type": "string", "minLength": 1},
      "port": {
        "description": "The port of every task, over tf_server_port: a number, the name of a container's port, or {annotation: KEY}.",
        "type": ["integer", "string", "object"],
        "minimum": 1,
        "maximum": 65535,
        "minLength": 1,
        "required": ["annotation"],
        "additionalProperties": false,
        "properties": {"annotation": {"description": "Key of the pods' annotation that has the port.", "type": "string", "minLength": 1}}
      },
      "ports": {
        "description": "Job -> port, as in 'port'.",
        "type": "object",
        "additionalProperties": {
          "type": ["integer", "string", "object"],
          "minimum": 1,
          "maximum": 65535,
          "minLength": 1,
          "required": ["annotation"],
          "additionalProperties": false,
          "properties": {"annotation": {"description": "Key of the pods' annotation that has the port.", "type": "string", "minLength": 1}}
        }
      },
      "address": {
        "description": "pod_ip: the pod's. dns: HOSTNAME.SUBDOMAIN.NAMESPACE.svc.DOMAIN. node_ip: its node's. host_port: its node's, with the port's hostPort.",
        "enum": ["pod_ip", "dns", "node_ip", "host_port"],
        "default": "pod_ip"
      },
      "ip_family": {"description": "Of several addresses, the one of this family. any: the first.", "enum": ["any", "ipv4", "ipv6"], "default": "any"},
      "cluster_domain": {
        "description": "For 'address: dns'. Default: by /etc/resolv.conf, else cluster.local.",
        "type": "string",
        "pattern": "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"
      },
      "require": {
        "description": "When a pod is a task. running: Running, with an address. ready: Ready besides. address: as soon as it has one.",
        "enum": ["running", "ready", "address"],
        "default": "running"
      },
      "pod_info": {"description": "A folder of the downward API with the files uid or name of this pod.", "type": "string", "minLength": 1},
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

    if (!options_.rpc_layer.empty())
      call.set_attribute(MUSTER_ATTRIBUTE_RPC_LAYER, options_.rpc_layer);
    const Judge judge{now_of(call), options_.require};
    if (!options_.service.empty()) return push_service(*access, options_, judge, call);
    if (options_.finder == nullptr) return resolve_selectors(*access, judge, call);
    auto found = find_object_members(*access, options_, judge, call);
    if (!found) return std::move(found).failure();
    for (const std::string& warning : found->warnings) call.add_warning(warning);
    push(found->jobs, *access, call);
    return {};
  }

 private:
  void push(const std::vector<JobMembers>& jobs, const Access& access, sdk::Call& call) const {
    push_jobs(jobs, options_, options_.wanted(), find_cluster_domain(options_, call), call);
    say_identity(jobs, access, options_, call);
  }

  sdk::Status resolve_selectors(const Access& access, const Judge& judge, sdk::Call& call) const {
    // Each selector is listed once, also when two jobs have it.
    std::map<std::string, PodList> lists;
    PodListReader reader;
    for (const JobSelectors& job : options_.jobs) {
      for (const Selector& selector : job.selectors) {
        if (lists.count(selector.text) != 0) continue;
        auto pods = list_pods(access, options_, selector, options_.wanted(), reader, call);
        if (!pods) return std::move(pods).failure();
        lists.emplace(selector.text, *std::move(pods));
      }
    }

    std::vector<JobMembers> jobs;
    for (const JobSelectors& job : options_.jobs) {
      SelectedPods selected;
      for (const Selector& selector : job.selectors)
        selected.push_back(&lists.at(selector.text).pods);
      jobs.push_back({job.job, find_members(selected, judge)});
    }
    if (auto status = check_one_job_each(jobs); !status) return status;
    if (auto status = check_found(jobs, lists, access); !status) return status;
    for (size_t n = 0; n < jobs.size(); ++n)
      if (jobs[n].found.members.empty() && !options_.jobs[n].selectors.empty())
        jobs[n].found.warnings.push_back(
            fmt::format("no pod matches the selectors of job {}", quote(jobs[n].job)));
    push(jobs, access, call);
    return {};
  }

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

  Options options_;
  ExecCache exec_cache_;
};

}  // namespace
}  // namespace muster::kubernetes

MUSTER_PLUGIN(muster::kubernetes::Kubernetes, "kubernetes", "0.1.0")
