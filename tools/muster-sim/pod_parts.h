#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pod.h"

namespace muster::sim {

// What a pod has beside what the scenario says of it, the same in each of the forms it is written in.

// What the kubelet and the controllers leave in every real pod; more than a third of its bytes.
struct ManagedFields {
  std::string_view manager;
  std::string_view subresource;  // empty: none
  std::string_view fields;       // JSON, also within protobuf
};
extern const std::array<ManagedFields, 2> kManagedFields;

// Environment variables, name and value, that take exactly so many bytes of JSON: {"name":"N","value":"V"} each.
std::vector<std::pair<std::string, std::string>> padding_variables(std::int64_t bytes);

// The four conditions every kubelet writes, unless the scenario says them itself, then its own.
std::vector<Condition> conditions_of(const Pod& pod);

// What a pod's containers do.
enum class ContainerState { kWaiting, kRunning, kTerminated };
ContainerState container_state(const Pod& pod);
// Why they wait.
std::string_view waiting_reason(const Pod& pod);

}  // namespace muster::sim
