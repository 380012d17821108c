// From pods to members: which pods count, in which order, and why one is missing. Knows nothing of networks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/pod.h"

namespace muster::kubernetes {

// The pods of one job, by selector in the order of the selectors.
using SelectedPods = std::vector<const std::vector<Pod>*>;

struct Member {
  const Pod* pod = nullptr;
  int64_t index = MUSTER_UNRANKED;
  std::string missing;  // why it cannot be a task yet; "" when it is one
};

struct Members {
  std::vector<Member> members;        // by index when they are ranked
  std::vector<std::string> warnings;  // for the user
  std::vector<std::string> notes;     // for the log
};

// Picks and ranks the members of a job; README.md has the rules. A pod counts once, however many selectors
// it matches; pods that ended well do not count; of several pods for one index the newest live one does. `now` is for
// ages, in seconds since 1970 (0: not known).
Members find_members(const SelectedPods& selected, int64_t now);

}  // namespace muster::kubernetes
