// The kubernetes backend: the pods that match a job's label selectors are its tasks.
#include <map>
#include <muster/plugin.hpp>
#include <optional>

#include "plugins/kubernetes/access.h"
#include "plugins/kubernetes/answer.h"
#include "plugins/kubernetes/grant.h"
#include "plugins/kubernetes/list.h"
#include "plugins/kubernetes/object.h"
#include "plugins/kubernetes/options.h"
#include "plugins/kubernetes/planned.h"
#include "plugins/kubernetes/selectors.h"
#include "plugins/kubernetes/service.h"
#include "plugins/kubernetes/watch.h"

namespace muster::kubernetes {
namespace {

constexpr int64_t kGoodForAWhile = 10'000'000'000;

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
      "pod_info": {"description": "A folder of the downward API with the files uid, name or labels of this pod.", "type": "string", "minLength": 1},
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
      "page_size": {"description": "Pods in one answer of the server.", "type": "integer", "minimum": 1, "maximum": 100000, "default": 500},
      "watch_silence": {"description": "Seconds after which a stream of events that says nothing is given up for a new list.", "type": "integer", "minimum": 1, "maximum": 3600, "default": 90}
    }
  }
})
// clang-format on

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
    auto access = find_access(options_, false, exec_cache_, call);
    if (!access) return std::move(access).failure();

    const Judge judge = judge_of(options_);
    if (!options_.service.empty()) return push_service(*access, options_, judge, call);
    if (options_.finder == nullptr) return resolve_selectors(*access, judge, call);
    auto found = find_object_members(*access, options_, judge, call);
    if (!found) return std::move(found).failure();
    return Answers(*access, options_, call).push(found->jobs, found->warnings);
  }

  sdk::Status permissions(sdk::Call& call, const sdk::PermissionsRequest& request) const {
    return say_permissions(options_, request, call);
  }

  sdk::Status plan(sdk::Call& call, int64_t members) const {
    say_planned(options_, members, call);
    return {};
  }

  sdk::Status watch(sdk::Call& call) {
    const auto* clock = call.host().service<muster_clock_v1>(MUSTER_CLOCK_V1);
    for (std::optional<int64_t> before;;) {
      auto access = find_access(options_, true, exec_cache_, call);
      if (!access) return std::move(access).failure();
      bool followed = false;
      auto status = watch_cluster(*std::move(access), options_, memory_, call, followed);
      // Credentials that were good for a while have successors.
      if (status || !followed || status.failure().code != MUSTER_E_UNAUTHENTICATED) return status;
      const int64_t now = clock->monotonic_ns(call.get());
      if (before && now - *before < kGoodForAWhile) return status;
      before = now;
    }
  }

 private:
  sdk::Status resolve_selectors(const Access& access, const Judge& judge, sdk::Call& call) const {
    // Each selector is listed once, also when two jobs have it.
    std::map<std::string, PodList> lists;
    PodsBySelector pods_by_selector;
    PodListReader reader;
    for (const JobSelectors& job : options_.jobs) {
      for (const Selector& selector : job.selectors) {
        if (lists.count(selector.text) != 0) continue;
        auto pods = list_pods(access, options_, selector, options_.wanted(), reader, call);
        if (!pods) return std::move(pods).failure();
        const auto at = lists.emplace(selector.text, *std::move(pods)).first;
        pods_by_selector.emplace(selector.text, &at->second.pods);
      }
    }
    auto jobs = find_selected_members(access, options_, pods_by_selector, judge);
    if (!jobs) return std::move(jobs).failure();
    return Answers(access, options_, call).push(*jobs);
  }

  Options options_;
  ExecCache exec_cache_;
  WatchMemory memory_;
};

}  // namespace
}  // namespace muster::kubernetes

MUSTER_PLUGIN(muster::kubernetes::Kubernetes, "kubernetes", "0.1.0")
