// An answer that is kept up to date by the API server's own stream of events.
#pragma once

#include <muster/plugin.hpp>

#include "plugins/kubernetes/access.h"
#include "plugins/kubernetes/options.h"

namespace muster::kubernetes {

// Lists, commits the answer, then follows the events of all that was listed, each by a stream of its own, and commits an answer
// whenever they changed something, until the call is cancelled or the source fails; README.md says what is asked when. Never
// OK. UNIMPLEMENTED: the server does not say versions, or ends its streams at once. `followed` becomes true once the
// server has streamed. The failures are those of resolve; a stream that breaks is none until it cannot be had again.
sdk::Status watch_cluster(Access access, const Options& options, sdk::Call& call, bool& followed);

}  // namespace muster::kubernetes
