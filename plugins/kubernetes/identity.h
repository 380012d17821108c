// Which of the members is this process?
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/access.h"
#include "plugins/kubernetes/members.h"
#include "plugins/kubernetes/options.h"
#include "plugins/kubernetes/own_labels.h"
#include "plugins/kubernetes/token.h"
#include "plugins/support/checked_push.h"

namespace muster::kubernetes {

// What a process knows of the pod that it runs in, and what does not change while it runs: POD_UID, POD_NAME and POD_IP as the
// downward API gives them; the claims of the service account's token; inside the cluster HOSTNAME, or without it the host's name; the files of `pod_info`.
// "" each where it does not.
struct Evidence {
  std::string own_namespace;
  std::string uid, name, ip;
  OwnPod token;
  std::string host_name, host_name_said_by;
  OwnPod pod_info;
  OwnLabels labels;  // of pod_info
};
Evidence find_evidence(const Access& access, const Options& options, sdk::Call& call);

// Pushes which member this process is, once for each piece of evidence. The core refuses evidence that disagrees. Says
// nothing when no member fits, and asks nobody.
void say_identity(const std::vector<JobMembers>& jobs, const Evidence& evidence,
                  const Options& options, support::CheckedPush& push);

// What a member is called: its pod's name, with the namespace when there may be several.
std::string member_name(const Pod& pod, bool all_namespaces);

}  // namespace muster::kubernetes
