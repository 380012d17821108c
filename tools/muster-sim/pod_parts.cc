// What every pod has.
#include "pod_parts.h"

#include <fmt/format.h>

namespace muster::sim {

const std::array<ManagedFields, 2> kManagedFields = {{
    {"kube-controller-manager", "",
     R"({"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:job-name":{},"f:controller-uid":{}},)"
     R"("f:ownerReferences":{".":{},"k:{\"uid\":\"1b2f0000-0000-4000-8000-000000000001\"}":{}}},"f:spec":{)"
     R"("f:containers":{"k:{\"name\":\"main\"}":{".":{},"f:env":{},"f:image":{},"f:imagePullPolicy":{},"f:name":{},)"
     R"("f:resources":{".":{},"f:limits":{},"f:requests":{}},"f:terminationMessagePath":{},)"
     R"("f:terminationMessagePolicy":{}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},)"
     R"("f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{}}})"},
    {"kubelet", "status",
     R"({"f:status":{"f:conditions":{"k:{\"type\":\"ContainersReady\"}":{".":{},"f:lastProbeTime":{},)"
     R"("f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Initialized\"}":{".":{},)"
     R"("f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Ready\"}":{".":{},)"
     R"("f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},)"
     R"("f:hostIP":{},"f:hostIPs":{},"f:phase":{},"f:podIP":{},"f:podIPs":{".":{},)"
     R"("k:{\"ip\":\"10.8.0.1\"}":{".":{},"f:ip":{}}},"f:startTime":{}}})"},
}};

std::vector<std::pair<std::string, std::string>> padding_variables(std::int64_t bytes) {
  constexpr std::int64_t kFrame = 22;     // {"name":"","value":""}
  constexpr std::int64_t kNameSize = 12;  // TRAINER_0001
  constexpr std::int64_t kStep = 160;
  constexpr std::int64_t kLeast = kFrame + kNameSize;
  std::vector<std::pair<std::string, std::string>> out;
  for (int number = 0; bytes >= kLeast + (out.empty() ? 0 : 1); ++number) {
    const std::int64_t left = bytes - (out.empty() ? 0 : 1);
    // The last one takes what is left, so that no remainder is too small for one more.
    const std::int64_t size = left < kStep + kLeast + 1 ? left : kStep;
    out.emplace_back(fmt::format("TRAINER_{:04}", number % 10000),
                     std::string(static_cast<std::size_t>(size - kLeast), 'x'));
    bytes = left - size;
  }
  return out;
}

std::vector<Condition> conditions_of(const Pod& pod) {
  const auto given = [&](std::string_view type) {
    for (const auto& condition : pod.conditions) {
      if (condition.type == type) return true;
    }
    return false;
  };
  const std::string why = pod.ready                  ? ""
                          : pod.phase == "Succeeded" ? "PodCompleted"
                                                     : "ContainersNotReady";
  const std::string ready = pod.ready ? "True" : "False";
  std::vector<Condition> out;
  if (!pod.node.empty()) {
    if (!given("Initialized")) out.push_back({"Initialized", "True", "", ""});
    if (!given("Ready")) out.push_back({"Ready", ready, why, ""});
    if (!given("ContainersReady")) out.push_back({"ContainersReady", ready, why, ""});
    if (!given("PodScheduled")) out.push_back({"PodScheduled", "True", "", ""});
  }
  out.insert(out.end(), pod.conditions.begin(), pod.conditions.end());
  return out;
}

ContainerState container_state(const Pod& pod) {
  if (pod.phase == "Succeeded" || pod.phase == "Failed") return ContainerState::kTerminated;
  return pod.phase == "Running" && pod.waiting.empty() ? ContainerState::kRunning
                                                       : ContainerState::kWaiting;
}

std::string_view waiting_reason(const Pod& pod) {
  return pod.waiting.empty() ? std::string_view("ContainerCreating") : pod.waiting;
}

}  // namespace muster::sim
