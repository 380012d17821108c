// Snapshot: one immutable answer. Made by core/resolve, shown by core/format, handed out by core/host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/spec/cluster_spec.h"

namespace muster {

// Which task this process is.
struct Identity {
  std::string type;    // "" when not known
  int64_t index = -1;  // -1 when not known
  std::vector<std::string> evidence;

  bool known() const { return index >= 0; }
};

// A member that should be there and is not.
struct MissingTask {
  int64_t index = -1;  // -1: not known
  std::string name;
  std::string reason;
};

struct JobStatus {
  std::string name;
  int64_t found = 0;
  std::optional<int64_t> expected;
  std::vector<MissingTask> missing;
};

// One HTTP request that a resolver made, or one program that it ran.
struct RequestRecord {
  std::string method;   // "": a program
  std::string url;      // of a program its command line; without secrets
  std::string purpose;  // why; may be ""
  int64_t status = 0;   // 0: no response; of a program its exit status
  std::string error;    // "" when there was a response, or an end
  int64_t milliseconds = 0;
  uint64_t bytes = 0;  // of the response body
  int attempt = 1;     // of the same request

  bool of_program() const { return method.empty(); }
};

// What one resolver did.
struct SourceRecord {
  std::string path;     // "cluster.merge[0]"
  std::string backend;  // "kubernetes"; "chain" and "merge" for compositions
  std::string status;   // "OK", "NOT_FOUND", ...; "NOT_ASKED" for those that a chain did not reach
  std::string message;  // the error, or why a chain went on; "" when there is nothing to tell
  int64_t tasks = 0;
  int64_t milliseconds = 0;
  std::vector<RequestRecord> requests;
  std::string where = {};  // it runs, and why: "isolated: the config says so"; "" of a composition

  // How many of the requests are programs.
  int64_t programs() const {
    return std::count_if(requests.begin(), requests.end(),
                         [](const RequestRecord& request) { return request.of_program(); });
  }
};

// Who says which task this process is.
enum class TaskSaidBy {
  kEvidence,  // the source, or nobody
  kConfig,    // `task:` in the config
  kSetting,   // --task-type and --task-id, or their variables
};

struct Snapshot {
  ClusterSpec spec;
  Identity identity;
  TaskSaidBy task_said_by = TaskSaidBy::kEvidence;
  std::string rpc_layer;
  bool rpc_layer_said = false;  // by the config or a setting, not by the source
  std::string environment;
  std::string own_master;  // what the source says master() is (session_master); "" when it does not
  bool has_own_master = false;
  std::string master;                           // TensorFlow's master() with no arguments
  std::map<std::string, int64_t> accelerators;  // of this process's task: device type to count
  bool complete = true;
  std::vector<JobStatus>
      jobs;             // every job of the spec in its order, then those only expected or missing
  int64_t time_ns = 0;  // since 1970 UTC
  bool stale = false;   // a source fails; this is the last good answer
  int64_t stale_since_ns = 0;  // since 1970 UTC, when it began to fail; 0 when not stale
  bool gone = false;           // a source that was there says that there is nobody any longer
  std::vector<SourceRecord> sources;  // in config order, a composition before its parts
  Attributes attributes;              // of the cluster
  std::vector<std::string> warnings;
};

// "fresh", "stale" or "gone": what the answer is worth now. Stale goes before gone.
const char* state_name(const Snapshot& snapshot);

using SnapshotPtr = std::shared_ptr<const Snapshot>;

// Accelerators by device type: what the task says over what the cluster says. `accelerator.type` with `accelerator.count` (one of them when
// no count is said), and `accelerator.count.TYPE` for several types.
std::map<std::string, int64_t> accelerators_of(const Attributes& task, const Attributes& cluster);

// TensorFlow's master(task_type, task_id, rpc_layer). nullopt: not given. With both given: that task's address with its scheme;
// with one only: the other comes from the identity. With neither: the source's own master, unless a setting names this process's
// task; else the source's default (the attribute "master.default"), unless the config names the task; else this process's task,
// else "". A scheme that the user asks for takes the place of that of a source's master.
// An empty rpc_layer means none (mends BASE-5). kNotFound names the task that is not there.
Result<std::string> master(const Snapshot& snapshot, std::optional<std::string> task_type,
                           std::optional<int64_t> task_id, std::optional<std::string> rpc_layer);

}  // namespace muster
