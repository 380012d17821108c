// A pod's texts, in an arena of somebody else's choice.
#pragma once

#include "plugins/kubernetes/pod.h"

namespace muster::kubernetes {

// A copy of `pod` whose texts, ports, annotations and troubles are in `texts`. What `before` says alike is not copied
// again: its pod is an earlier one of the same name, with its texts in `texts` already. May be null.
Pod copy_pod(const Pod& pod, const Pod* before, size_t annotation_count, TextArena& texts);

}  // namespace muster::kubernetes
