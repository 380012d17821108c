// The members of one object: what it says of itself, and its pods.
#pragma once

#include <vector>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/access.h"
#include "plugins/kubernetes/members.h"
#include "plugins/kubernetes/options.h"

namespace muster::kubernetes {

struct ObjectMembers {
  PodList pods;  // what the members point into
  std::vector<JobMembers> jobs;
  std::vector<std::string> warnings;
};

// Reads the object that the options name, then lists its pods. The two are of two moments: where pods are there for which the
// object has no place, it is read again, and when it has changed all is done again, a few times. Then such pods are told in
// a warning and do not count; an object that keeps changing is UNAVAILABLE. NOT_FOUND: it is not there, has ended without pods,
// or is to have none. Others are those of ask_server and list_pods.
sdk::Result<ObjectMembers> find_object_members(const Access& access, const Options& options,
                                               const Judge& judge, sdk::Call& call);

}  // namespace muster::kubernetes
