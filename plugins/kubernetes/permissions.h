// What a user lacks, as text to paste: a Role and its binding. Knows nothing of networks.
#pragma once

#include <string>
#include <string_view>

namespace muster::kubernetes {

// Verbs on one resource, as RBAC's rules have them.
struct Permission {
  std::string group;     // "" is the core group, "apps", "batch", ...
  std::string resource;  // "pods"
  std::string verb;      // "list"; several: "list, watch"
};

// The user whom a 403 of the API server refuses, by the server's words (`User "alice" cannot list ...`): the name that RBAC
// knows, whichever way the user logged in. "" when they name nobody.
std::string refused_user(std::string_view words);

// One sentence, then the command that creates a Role with this permission in the namespace (in every one when `name_space`
// is "": a ClusterRole) and its binding. `user` "system:serviceaccount:NAMESPACE:NAME" is bound as that service account; ""
// leaves the place free and says so. The names of both are the permission's, so that no other grant is replaced.
std::string how_to_permit(const Permission& permission, const std::string& user,
                          const std::string& name_space);

}  // namespace muster::kubernetes
