// What a resolve needs to be allowed by IAM, told beforehand.
#pragma once

#include <muster/plugin.hpp>

#include "plugins/gce/options.h"
#include "plugins/support/google/credentials.h"

namespace muster::gce {

// Says it, with the gcloud command that gives the role: to the request's principal, else to whom the credentials say they are. Asks
// nobody. INVALID_ARGUMENT: the principal is none, or nothing says the project.
sdk::Status say_permissions(const Options& options, support::google::Credentials& credentials,
                            const sdk::PermissionsRequest& request, sdk::Call& call);

}  // namespace muster::gce
