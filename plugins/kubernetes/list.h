// Listing pods: every page of one selector, all of one moment.
#pragma once

#include <muster/plugin.hpp>

#include "plugins/kubernetes/access.h"
#include "plugins/kubernetes/options.h"
#include "plugins/kubernetes/pod_list.h"

namespace muster::kubernetes {

// All pods of a selector. A list that the server can no longer continue (410) is begun again, at the third time in one
// piece, so that the pages of two moments are never mixed. The failure says what the server said, who asked for
// what, and what to do: UNAUTHENTICATED, PERMISSION_DENIED (with the Role to paste), INVALID_ARGUMENT (the selector, with its
// place in the options), NOT_FOUND (no Kubernetes there), RESOURCE_EXHAUSTED (429), UNAVAILABLE, DATA_LOSS.
sdk::Result<PodList> list_pods(const Access& access, const Options& options,
                               const Selector& selector, const Wanted& wanted,
                               PodListReader& reader, sdk::Call& call);

}  // namespace muster::kubernetes
