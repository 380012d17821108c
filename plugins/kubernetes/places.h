// From an object's plan and its pods to members: every place that the plan has, with its pod or with the reason why there is
// none. Knows nothing of networks.
#pragma once

#include <string>
#include <vector>

#include "plugins/kubernetes/finder.h"
#include "plugins/kubernetes/members.h"

namespace muster::kubernetes {

struct Placed {
  std::vector<JobMembers> jobs;  // one for each role, or the one of `as_job`
  // Pods that the plan has no place for ("pod 'ml/t-9' has index 9 of worker, which is to have 4"): the plan and the pods are
  // of two moments, or the object is being changed. They are no members.
  std::vector<std::string> strangers;
  std::vector<std::string> warnings;  // for the user
  std::vector<std::string> notes;     // for the log
  size_t pods = 0;                    // that have a place and have not ended well
};

// `name` is the object's, as_job is "" or the job that all roles are ranked through in. A pod has the place that its index
// says; of several the one that counts (counts_before); a role without indices has as many as it is to have, the ones that
// count first, and the core ranks them by name. INVALID_ARGUMENT when as_job has a role without indices.
sdk::Result<Placed> place_pods(const Finder& finder, const std::string& name, const Plan& plan,
                               const Pods& pods, const std::string& as_job, const Judge& judge);

}  // namespace muster::kubernetes
