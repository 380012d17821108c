// Which of the members is this process?
#pragma once

#include <string>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/access.h"
#include "plugins/kubernetes/members.h"

namespace muster::kubernetes {

// A job with its members.
struct JobMembers {
  std::string job;
  Members found;
};

// Tells the call which member this process is, once for each piece of evidence: POD_UID, POD_NAME and POD_IP as the
// downward API gives them, and inside the cluster HOSTNAME. Says nothing when no member fits.
void say_identity(const std::vector<JobMembers>& jobs, const Access& access, bool all_namespaces,
                  sdk::Call& call);

// What a member is called: its pod's name, with the namespace when there may be several.
std::string member_name(const Pod& pod, bool all_namespaces);

}  // namespace muster::kubernetes
