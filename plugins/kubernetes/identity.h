// Which of the members is this process?
#pragma once

#include <string>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/access.h"
#include "plugins/kubernetes/members.h"
#include "plugins/kubernetes/options.h"

namespace muster::kubernetes {

// Tells the call which member this process is, once for each piece of evidence: POD_UID, POD_NAME and POD_IP as the
// downward API gives them; the claims of the service account's token; inside the cluster HOSTNAME; the files of `pod_info`.
// The core refuses evidence that disagrees. Says nothing when no member fits, and asks nobody.
void say_identity(const std::vector<JobMembers>& jobs, const Access& access, const Options& options,
                  sdk::Call& call);

// What a member is called: its pod's name, with the namespace when there may be several.
std::string member_name(const Pod& pod, bool all_namespaces);

// The pod that a service account's token (a JWT) was made for: "" each where it does not say.
struct TokenPod {
  std::string name_space, name, uid;
};
TokenPod pod_of_token(std::string_view token);

}  // namespace muster::kubernetes
