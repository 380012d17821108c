// A pod as JSON, in a list or in an event of a watch. Knows nothing of networks.
#pragma once

#include <string>

#include "plugins/kubernetes/json_walk.h"
#include "plugins/kubernetes/pod.h"

namespace muster::kubernetes {

// Reads the fields of `value` into `pod`, whose texts go into `list`. `version`, where it is not null, gets its resourceVersion.
// An error when something that is looked at has another type than Kubernetes gives it, or is no JSON.
simdjson::error_code read_pod(json::value& value, const Wanted& wanted, PodList& list, Pod& pod,
                              std::string* version = nullptr);

}  // namespace muster::kubernetes
