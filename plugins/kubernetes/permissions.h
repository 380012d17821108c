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

// "list pods", "watch pods", "get jobs.batch": each verb for itself.
std::vector<std::string> rules_in_words(const std::vector<Permission>& needed);

// Who is allowed: of a service account kind "ServiceAccount" and its namespace, else "User" or "Group".
struct Principal {
  std::string kind, name_space, name;
};

// By the name that RBAC knows: "system:serviceaccount:ml:trainer", "alice".
Principal principal_of_user(const std::string& user);

// The user whom a 403 of the API server refuses, by the server's words (`User "alice" cannot list ...`): the name that RBAC
// knows, whichever way the user logged in. "" when they name nobody.
std::string refused_user(std::string_view words);

// A Role with these permissions in the namespace (in every one when `name_space` is "": a ClusterRole) and its binding, as YAML.
// The names of both are the permissions', so that no other grant is replaced.
std::string role_manifest(const std::vector<Permission>& permissions, const Principal& who,
                          const std::string& name_space);

// One sentence, then the command that creates that for `user`, a name that RBAC knows; "" leaves the place free and says so.
std::string how_to_permit(const std::vector<Permission>& permissions, const std::string& user,
                          const std::string& name_space);

}  // namespace muster::kubernetes
