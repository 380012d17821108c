// muster.permissions/1: what these options need of the API server, for whom, as text to apply.
#pragma once

#include <muster/plugin.hpp>

#include "plugins/kubernetes/options.h"

namespace muster::kubernetes {

// Pushes one permission for each verb, and a Role with its binding. Whom it is for: the request's principal, else in a pod its own
// service account, else a place that is left free and told. Where: the namespace that a resolve would look in; one that runs
// as the named service account, and finds no other namespace said, looks in the account's own.
// INVALID_ARGUMENT: a principal that is none. Others are those of find_where.
sdk::Status say_permissions(const Options& options, const sdk::PermissionsRequest& request,
                            sdk::Call& call);

}  // namespace muster::kubernetes
