// What a user lacks, as text to paste: a Role and its binding. Knows nothing of networks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plugins/kubernetes/options.h"

namespace muster::kubernetes {

// Verbs on one resource, as RBAC's rules have them.
struct Permission {
  std::string group;               // "" is the core group, "apps", "batch", ...
  std::string resource;            // "pods"
  std::vector<std::string> verbs;  // {"list", "watch"}
};

// All that a resolve with these options asks of the API server; `watching`: or a watch.
std::vector<Permission> needed_permissions(const Options& options, bool watching);

// The user whom a 403 of the API server refuses, by the server's words (`User "alice" cannot list ...`): the name that RBAC
// knows, whichever way the user logged in. "" when they name nobody.
std::string refused_user(std::string_view words);

// One sentence, then the command that creates a Role with these permissions in the namespace (in every one when `name_space`
// is "": a ClusterRole) and its binding. `user` "system:serviceaccount:NAMESPACE:NAME" is bound as that service account; ""
// leaves the place free and says so. The names of both are the permissions', so that no other grant is replaced.
std::string how_to_permit(const std::vector<Permission>& permissions, const std::string& user,
                          const std::string& name_space);

}  // namespace muster::kubernetes
