// The members of a Service: its endpoints.
#pragma once

#include <muster/plugin.hpp>

#include "plugins/kubernetes/access.h"
#include "plugins/kubernetes/options.h"
#include "plugins/kubernetes/question.h"
#include "plugins/kubernetes/reasons.h"

namespace muster::kubernetes {

// Asks for the slices of the options' service in one request and pushes its endpoints as one job, `as_job` or "worker", with the
// port of the service, and which of them this process is. Slices do not say how many there are to be. NOT_FOUND: it has no
// endpoints. INVALID_ARGUMENT: it has several ports and the options choose none. Others are those of ask_server.
sdk::Status push_service(const Access& access, const Options& options, const Judge& judge,
                         sdk::Call& call);

// The steps of the same: how the slices are asked for, and what is pushed of an EndpointSliceList.
Question service_question(const Access& access, const Options& options);
sdk::Status push_slices(const Access& access, const Options& options, std::string_view json,
                        const Judge& judge, sdk::Call& call);

}  // namespace muster::kubernetes
