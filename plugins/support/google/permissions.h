// What a resolve needs to be allowed by IAM, told beforehand.
#pragma once

#include <string>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/support/google/credentials.h"

namespace muster::support::google {

// Says the permissions, with the gcloud command that gives the role: to the request's principal, else to whom the credentials say they
// are. `project`: the option's; "": the environment's or the credentials'. Asks nobody. INVALID_ARGUMENT: the principal is none, or
// nothing says the project.
sdk::Status say_permissions(const std::vector<std::string>& permissions, const char* role,
                            const std::string& project, Credentials& credentials,
                            const sdk::PermissionsRequest& request, sdk::Call& call);

}  // namespace muster::support::google
