// What is kept of a pod, whichever encoding it came in, and what each of its fields means. Knows nothing of networks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/kubernetes/page_allocator.h"
#include "plugins/kubernetes/text_arena.h"

namespace muster::kubernetes {

// What of a pod is read only where somebody asks for it.
struct Wanted {
  std::vector<std::string> annotations;  // keys
  bool ports = false;
};

enum class Phase : uint8_t { kNone, kPending, kRunning, kSucceeded, kFailed, kUnknown };

// Where an index was written; of several, the higher counts: a LeaderWorkerSet's pods are a StatefulSet's too.
enum class IndexSource : uint8_t { kNone, kOrdinal, kTask, kReplica, kCompletion, kWorker };

// Kinds of accelerators, by the names that TensorFlow has for its devices.
enum Device : uint8_t { kGpu, kTpu, kXpu, kHpu, kNeuron, kDeviceCount };
extern const std::array<const char*, kDeviceCount> kDeviceNames;

struct ContainerPort {
  Text name;
  uint16_t number = 0;
  uint16_t host_port = 0;  // 0: none
};

// Why a pod is not what it should be; most have nothing of it.
struct Trouble {
  Text reason, message;    // of the status: "Evicted"
  Text unschedulable;      // the scheduler's words, when it has not placed it
  Text not_ready;          // of the condition Ready, when that is False
  Text disruption;         // of the condition DisruptionTarget: it is being evicted or preempted
  int64_t disrupted = 0;   // when that condition began; 0: not
  Text waiting;            // why a container waits: "ImagePullBackOff: ..."
  Text terminated;         // how a container ended: "OOMKilled, exit code 137"
  Text restarted_because;  // the same of the run before this one
};

// A time that has come, where nobody says when.
constexpr int64_t kSomeTime = 1;

// Texts are "", numbers -1 (0 where it says so) when the pod does not say. Lives as long as its PodList.
struct Pod {
  Text name, name_space, uid;
  Text node, host_ip, second_host_ip;  // where it runs
  Text hostname,
      subdomain;          // of its spec: "HOSTNAME.SUBDOMAIN.NAMESPACE.svc.DOMAIN" when it has both
  Text ip, second_ip;     // podIP, and the one of the other family
  Text owner, owner_uid;  // its controller, "Job/train"
  Text set_uid;           // of the JobSet above its owner
  Text revision;          // of the template that its LeaderWorkerSet made it of
  Text role;              // what its platform calls this kind of member: "launcher", "ps"
  Text accelerator_model;                // of the node it asks for: "tpu-v5-lite-podslice"
  Text accelerator_topology;             // "4x4"
  const Text* annotations = nullptr;     // one for each of Wanted::annotations; may be null
  const ContainerPort* ports = nullptr;  // port_count of them
  Trouble* troubles = nullptr;           // may be null; `trouble()` is never

  int64_t created = 0;  // seconds since 1970, as all times here; 0: not
  int64_t ended = 0;    // when the last of its containers did that have ended; see end()
  int64_t deleted = 0;  // the end of its deletion's grace
  int32_t index = -1;   // its platform's index for it
  int32_t group = -1;   // in which the index counts: a JobSet's job, a LeaderWorkerSet's group
  int32_t global_group = -1;                       // of all the JobSet's jobs, whatever their role
  int32_t group_size = -1;                         // tasks of a group
  int32_t attempt = 0;                             // restarts of its JobSet
  int32_t restarts = 0;                            // of its containers
  std::array<int32_t, kDeviceCount> devices = {};  // the sum of its containers' limits
  uint16_t port_count = 0;
  IndexSource index_source = IndexSource::kNone;
  Phase phase = Phase::kNone;
  bool ready = false;  // the condition Ready
  bool host_network = false;
  bool container_ended =
      false;  // one of its containers has ended, or one of the initial ones has failed
  bool container_runs = false;  // one of its containers is said to run

  bool live() const { return phase == Phase::kRunning && deleted == 0 && !ip.empty(); }
  bool ended_well() const { return phase == Phase::kSucceeded; }
  // When it ended, once it has; 0: nothing says when. The later of the end of its last container, which no container
  // contradicts that is said to run, and the begin of its disruption; where there is neither, the end of its deletion's grace.
  int64_t end() const;
  const Trouble& trouble() const;
};

using Pods = std::vector<Pod, PageAllocator<Pod>>;

// Pods with their texts. Moving it leaves every Text where it is.
struct PodList {
  TextArena texts;
  Pods pods;
  std::string
      version;  // its resourceVersion, from which a watch goes on; all pages of a list have one

  Trouble& trouble_of(Pod& pod);
};

// "ml/worker-0": a pod's name in all the cluster.
std::string full_name(const Pod& pod);

// The hash and the equality of pods of that name, for sets and maps; makes no text.
struct ByFullName {
  size_t operator()(const Pod* pod) const;
  bool operator()(const Pod* a, const Pod* b) const {
    return a->name == b->name && a->name_space == b->name_space;
  }
};

std::string_view phase_name(Phase phase);

// ---- For the readers of the encodings --------------------------------------------------------

Phase parse_phase(std::string_view text);

// Takes a label, or an annotation, for platforms write their indices into either; most keys mean nothing here.
void take_label(Pod& pod, TextArena& texts, std::string_view key, std::string_view value);

// Takes an entry of the spec's nodeSelector.
void take_node_label(Pod& pod, TextArena& texts, std::string_view key, std::string_view value);

// Takes an entry of a container's limits: "nvidia.com/gpu", 4. One that is no device is passed over.
void take_limit(Pod& pod, std::string_view resource, int64_t count);
bool is_device(std::string_view resource);

// One of podIPs or hostIPs: the one that is not the `first` (podIP, hostIP) is the `second`, whichever field came first.
void take_ip(Text& first, Text& second, TextArena& texts, std::string_view ip);

// A container's restartCount.
void take_restarts(Pod& pod, int64_t count);

// A condition: Ready, PodScheduled, DisruptionTarget; others are passed over. `status` is "True" or "False", `since` its
// lastTransitionTime, or 0.
void take_condition(Pod& pod, PodList& list, std::string_view type, std::string_view status,
                    std::string_view reason, std::string_view message, int64_t since);

// A container's state `waiting`, or `terminated` when `exit_code` is not 0.
void take_waiting(Pod& pod, PodList& list, std::string_view reason, std::string_view message);
void take_terminated(Pod& pod, PodList& list, std::string_view reason, int64_t exit_code,
                     bool of_the_run_before);

// What kind of container a status is of: an init container's end is not its pod's, unless it has failed.
enum class ContainerKind : uint8_t { kInitial, kOwn };

// A terminated container's finishedAt, or 0, and its exit code.
void take_finished(Pod& pod, ContainerKind kind, int64_t exit_code, int64_t time);

// A container whose state is `running`.
void take_running(Pod& pod, ContainerKind kind);

// Seconds since 1970 of "2026-02-11T11:14:15Z"; nothing when it is none.
std::optional<int64_t> parse_time(std::string_view rfc3339);

// What no pod of a real server is like; "" when it is fine. Both readers refuse a list with such a pod.
std::string oddity(const Pod& pod);

}  // namespace muster::kubernetes
