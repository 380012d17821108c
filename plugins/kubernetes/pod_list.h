// The API server's PodList, as JSON: one page of it. Knows nothing of networks.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

namespace muster::kubernetes {

// What is kept of a pod; "" and -1 where the pod does not say.
struct Pod {
  std::string name, name_space, uid;
  std::string node, hostname;
  std::string phase;            // "Running", ...
  std::string ip;               // podIP
  std::string created;          // creationTimestamp, RFC 3339: text order is the order of time
  std::string deleted;          // deletionTimestamp; not empty: being deleted
  std::string reason, message;  // of the status: "Evicted"
  std::string unschedulable;    // the scheduler's words, when it has not placed it
  std::string waiting;          // why a container waits: "ImagePullBackOff: ..."
  std::string terminated;       // how a container ended: "OOMKilled, exit code 137"
  std::string owner;            // "Job/train": its controller
  int64_t index = -1;           // its platform's index for it
  int64_t group =
      -1;  // of the group in which the index counts (JobSet's job, LeaderWorkerSet's group)
  int64_t group_size = -1;  // tasks of a group, when the platform says
  std::string role;         // what else parts pods of the same index: Kubeflow's replica type
  int64_t gpus = 0, tpus = 0;

  bool live() const { return phase == "Running" && deleted.empty() && !ip.empty(); }
  bool ended_well() const { return phase == "Succeeded"; }
};

struct PodPage {
  std::vector<Pod> pods;
  std::string next;  // the continue token; "" on the last page
};

// Reads pages; keeps its buffers from one to the next. Not thread-safe.
class PodListReader {
 public:
  // `body` has 64 readable bytes behind its end. DATA_LOSS when it is no PodList, when something that is looked at
  // has another type than Kubernetes gives it, or is no JSON. What nobody looks at is passed over by brackets.
  sdk::Result<PodPage> read(std::string_view body);

 private:
  simdjson::ondemand::parser parser_;
};

// The first words of a Status, the form of the API server's errors. Empty when `body` is none.
struct ApiStatus {
  std::string message, reason;
};
ApiStatus read_status(std::string_view body);

}  // namespace muster::kubernetes
