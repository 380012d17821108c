// The members of jobs by label selectors, of pods that were listed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/access.h"
#include "plugins/kubernetes/members.h"
#include "plugins/kubernetes/options.h"

namespace muster::kubernetes {

using PodsBySelector = std::map<std::string, const Pods*>;

// The jobs of the options, in their order; `lists` has every selector, and outlives the members. INVALID_ARGUMENT: a pod is in
// two jobs. NOT_FOUND: no pod for any of them.
sdk::Result<std::vector<JobMembers>> find_selected_members(const Access& access,
                                                           const Options& options,
                                                           const PodsBySelector& lists,
                                                           const Judge& judge);

}  // namespace muster::kubernetes
