// The kubernetes backend's pods: what of a PodList is kept, and in how little room.
#include <doctest/doctest.h>

#include "plugins/kubernetes/pod_list.h"

namespace {

using namespace muster::kubernetes;

// The one pod of a list whose item has these fields.
PodList read(const std::string& item, const Wanted& wanted = {}) {
  std::string text = R"({"kind": "PodList", "items": [)" + item + "]}";
  const size_t size = text.size();
  text.append(64, '\0');
  PodListReader reader;
  PodList list;
  const auto next = reader.read({text.data(), size}, wanted, list);
  REQUIRE_MESSAGE(bool(next), (next ? "" : next.failure().message));
  REQUIRE(list.pods.size() == 1);
  return list;
}

PodList with_labels(const std::string& labels) {
  return read(R"({"metadata": {"name": "w", "labels": {)" + labels +
              R"(}}, "status": {"phase": "Running"}})");
}

PodList with_status(const std::string& fields) {
  return read(R"({"metadata": {"name": "w"}, "status": {"phase": "Pending", )" + fields + "}}");
}

constexpr const char* kWhole = R"({
  "metadata": {"name": "vintage-worker-0-0-x7k2p", "namespace": "ml", "uid": "5f1c9f0e", "creationTimestamp": "2026-02-11T11:14:15Z",
    "deletionTimestamp": "2026-02-29T00:00:00Z",
    "labels": {"jobset.sigs.k8s.io/jobset-name": "vintage", "jobset.sigs.k8s.io/jobset-uid": "7a", "jobset.sigs.k8s.io/job-global-index": "5",
      "jobset.sigs.k8s.io/replicatedjob-name": "worker", "jobset.sigs.k8s.io/job-index": "3", "jobset.sigs.k8s.io/restart-attempt": "2"},
    "annotations": {"batch.kubernetes.io/job-completion-index": "7", "example.com/port": "7001", "other": "x"},
    "ownerReferences": [{"kind": "Node", "name": "n"}, {"kind": "Job", "name": "vintage-worker-0", "uid": "1b2f", "controller": true}]},
  "spec": {"nodeName": "node-a", "hostname": "vintage-worker-0-0", "subdomain": "vintage", "hostNetwork": true,
    "nodeSelector": {"cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice", "cloud.google.com/gke-tpu-topology": "4x4"},
    "containers": [{"name": "main", "ports": [{"name": "rpc", "containerPort": 8471, "hostPort": 18471}, {"containerPort": 80}],
      "resources": {"limits": {"google.com/tpu": "4", "memory": "200Gi"}, "requests": {"google.com/tpu": "4"}}},
      {"name": "side", "resources": {"limits": {"google.com/tpu": 1, "gpu.intel.com/xe": "2"}}}]},
  "status": {"phase": "Running", "hostIP": "10.128.0.31", "hostIPs": [{"ip": "10.128.0.31"}, {"ip": "fd00::31"}],
    "podIP": "10.8.4.19", "podIPs": [{"ip": "10.8.4.19"}, {"ip": "fd00:10:8:4::13"}], "startTime": "1970-01-02T00:00:01Z",
    "conditions": [{"type": "Ready", "status": "True"}],
    "containerStatuses": [{"restartCount": 3, "lastState": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}}, {"restartCount": 1}]}})";

}  // namespace

TEST_CASE("all that a member needs is read out of a pod") {
  const PodList list = read(kWhole, {{"example.com/none", "example.com/port"}, true});
  const Pod& pod = list.pods[0];
  CHECK(pod.name == "vintage-worker-0-0-x7k2p");
  CHECK(full_name(pod) == "ml/vintage-worker-0-0-x7k2p");
  CHECK(pod.uid == "5f1c9f0e");
  CHECK(pod.created == 1770808455);
  CHECK(pod.deleted == 1772323200);  // a day that February 2026 lacks is the next one
  CHECK(pod.set_uid == "7a");
  CHECK(pod.role == "worker");
  CHECK(pod.group == 3);
  CHECK(pod.global_group == 5);
  CHECK(pod.attempt == 2);
  CHECK(pod.index == 7);
  CHECK(pod.owner == "Job/vintage-worker-0");
  CHECK(pod.owner_uid == "1b2f");
  CHECK(pod.node == "node-a");
  CHECK(pod.hostname == "vintage-worker-0-0");
  CHECK(pod.subdomain == "vintage");
  CHECK(pod.host_network);
  CHECK(pod.accelerator_model == "tpu-v5-lite-podslice");
  CHECK(pod.accelerator_topology == "4x4");
  CHECK(pod.devices[kTpu] == 5);
  CHECK(pod.devices[kXpu] == 2);
  CHECK(pod.devices[kGpu] == 0);
  CHECK(pod.ip == "10.8.4.19");
  CHECK(pod.second_ip == "fd00:10:8:4::13");
  CHECK(pod.host_ip == "10.128.0.31");
  CHECK(pod.second_host_ip == "fd00::31");
  CHECK(pod.ready);
  CHECK(pod.restarts == 4);
  CHECK(pod.trouble().restarted_because == "OOMKilled, exit code 137");
  REQUIRE(pod.port_count == 2);
  CHECK(pod.ports[0].name == "rpc");
  CHECK(pod.ports[0].number == 8471);
  CHECK(pod.ports[0].host_port == 18471);
  CHECK(pod.ports[1].number == 80);
  REQUIRE(pod.annotations != nullptr);
  CHECK(pod.annotations[0].empty());
  CHECK(pod.annotations[1] == "7001");
}

TEST_CASE("ports and annotations are kept only where somebody asks for them") {
  const PodList list = read(kWhole);
  CHECK(list.pods[0].port_count == 0);
  CHECK(list.pods[0].annotations == nullptr);
}

TEST_CASE(
    "of several indices the one of the platform nearest to the job counts, in whatever order they "
    "stand") {
  const char* ordinal = R"("apps.kubernetes.io/pod-index": "2")";
  const char* worker = R"("leaderworkerset.sigs.k8s.io/worker-index": "7")";
  for (const auto& labels :
       {std::string(ordinal) + "," + worker, std::string(worker) + "," + ordinal})
    CHECK(with_labels(labels).pods[0].index == 7);
  CHECK(with_labels(ordinal).pods[0].index == 2);
  CHECK(
      with_labels(R"("volcano.sh/task-index": "4", "volcano.sh/task-spec": "ps")").pods[0].index ==
      4);
  CHECK(with_labels(R"("volcano.sh/task-index": "x")").pods[0].index == -1);
  CHECK(with_labels(R"("volcano.sh/task-index": "99999999999")").pods[0].index == -1);
}

TEST_CASE("a pod's troubles are kept in the words of who has them") {
  const auto trouble = [](const std::string& fields) {
    const PodList list = with_status(fields);
    const Trouble& t = list.pods[0].trouble();
    std::string said;
    for (const Text text :
         {t.reason, t.message, t.unschedulable, t.not_ready, t.disruption, t.waiting, t.terminated})
      if (!text.empty()) said += "[" + text.string() + "]";
    return said;
  };
  CHECK(trouble(R"("reason": "Evicted", "message": "low on memory")") ==
        "[Evicted][low on memory]");
  CHECK(
      trouble(
          R"("conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/4 nodes"}])") ==
      "[0/4 nodes]");
  CHECK(
      trouble(
          R"("conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady", "message": "main"}])") ==
      "[ContainersNotReady: main]");
  CHECK(
      trouble(
          R"("conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}])") ==
      "[PreemptionByScheduler]");
  CHECK(trouble(
            R"("containerStatuses": [{"state": {"waiting": {"reason": "ContainerCreating"}}}])") ==
        "");
  CHECK(
      trouble(
          R"("initContainerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull", "message": "no"}}}])") ==
      "[ErrImagePull: no]");
  CHECK(
      trouble(
          R"("containerStatuses": [{"state": {"terminated": {"reason": "Completed", "exitCode": 0}}}])") ==
      "");
}

TEST_CASE("podIPs count whichever field comes first, and none that is no address") {
  const PodList list =
      with_status(R"("podIPs": [{"ip": "fd00::1"}, {"ip": "10.0.0.1"}], "podIP": "fd00::1")");
  CHECK(list.pods[0].ip == "fd00::1");
  CHECK(list.pods[0].second_ip == "10.0.0.1");
  for (const char* field : {"podIP", "hostIP"}) {
    Pod pod = list.pods[0];
    TextArena texts;
    (std::string(field) == "podIP" ? pod.second_ip : pod.host_ip) = texts.add("10.0.0");
    CHECK(oddity(pod) == "pod 'w' has the address '10.0.0', which is no IP address of a host");
  }
}

TEST_CASE("an address is one that inet_pton takes, and not the one that stands for any") {
  Pod pod;
  TextArena texts;
  pod.name = texts.add("w");
  pod.phase = Phase::kRunning;
  for (const char* ip :
       {"10.0.0.1", "255.255.255.255", "1.20.100.9", "fd00::1", "0.0.0.1", "::ffff:10.0.0.1"}) {
    pod.ip = texts.add(ip);
    CHECK_MESSAGE(oddity(pod) == "", ip);
  }
  for (const char* ip : {"10.0.0",
                         "10.0.0.",
                         ".10.0.0",
                         "10..0.1",
                         "10.0.0.1.",
                         "10.0.0.1.2",
                         "10.0.0.256",
                         "10.0.0.01",
                         "00.0.0.0",
                         "1000.0.0.1",
                         "10.0.0.1 ",
                         " 10.0.0.1",
                         "10.0.0.a",
                         "-1.0.0.0",
                         "10",
                         "0.0.0.0",
                         "::",
                         "0::0",
                         "x",
                         "fd00",
                         "fd00::1::2",
                         "fd00::1%eth0",
                         "4294967297.0.0.1"}) {
    pod.ip = texts.add(ip);
    CHECK_MESSAGE(oddity(pod) != "", ip);
  }
}

TEST_CASE("a pod takes little room, for there are a hundred thousand of them") {
  CHECK(sizeof(Pod) <= 320);
  PodList list;
  const Text first = list.texts.shared("ml");
  for (int n = 0; n < 100; ++n) list.texts.add(std::string(1000, 'x'));
  CHECK(list.texts.shared("ml").view().data() == first.view().data());
  const PodList moved = std::move(list);
  CHECK(first == "ml");
}

TEST_CASE("a time is what the server writes, and nothing else") {
  CHECK(parse_time("1970-01-01T00:00:00Z") == 0);
  CHECK(parse_time("2000-03-01T00:00:00Z") == 951868800);
  CHECK(parse_time("2026-01-31T12:00:00Z") == 1769860800);
  for (const char* wrong :
       {"", "2026-01-31", "2026-01-31T12:00:00+01:00", "2026-13-31T12:00:00Z",
        "2026-01-00T12:00:00Z", "2026-01-31T12:00:00.5Z", "2026-01-3xT12:00:00Z"})
    CHECK_FALSE(parse_time(wrong).has_value());
}

TEST_CASE("the pods of a long list stay as they are while it grows, and where it goes") {
  PodList list;
  for (int32_t n = 0; n < 20000; ++n) {
    Pod& pod = list.pods.emplace_back();
    pod.index = n;
    pod.name = list.texts.add("worker-" + std::to_string(n));
  }
  const Pods copy = list.pods;
  const PodList moved = std::move(list);
  const auto sum = [](const Pods& pods) {
    int64_t all = 0;
    for (const Pod& pod : pods)
      if (pod.name == "worker-" + std::to_string(pod.index)) all += pod.index;
    return all;
  };
  CHECK(sum(moved.pods) == 199990000);
  CHECK(sum(copy) == 199990000);
}
