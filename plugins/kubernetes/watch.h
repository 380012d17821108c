// An answer that is kept up to date by the API server's own stream of events.
#pragma once

#include <muster/plugin.hpp>

#include "plugins/kubernetes/access.h"
#include "plugins/kubernetes/options.h"

namespace muster::kubernetes {

// Lists the pods, commits the answer, then follows their events and commits an answer whenever they changed, until the call is
// cancelled or the source fails; README.md says what is asked when. Never OK. UNIMPLEMENTED when one stream does not tell
// all: a service, several selectors, or a server without versions. `followed` becomes true once the server has streamed. The
// failures are those of resolve; a stream that breaks is none until it cannot be had again.
sdk::Status watch_pods(Access access, const Options& options, sdk::Call& call, bool& followed);

}  // namespace muster::kubernetes
