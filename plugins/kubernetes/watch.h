// An answer that is kept up to date by the API server's own stream of events.
#pragma once

#include <cstdint>
#include <string>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/access.h"
#include "plugins/kubernetes/options.h"

namespace muster::kubernetes {

// What one watch of a resolver leaves to the next, which the core begins when the one before has failed.
struct WatchMemory {
  std::string told;           // the words of the NOT_FOUND that it ended with; "": it did not
  int64_t told_ns = 0;        // when, on the call's clock
  int64_t not_before_ns = 0;  // the server does not want to be asked before this
};

// Lists, commits the answer, then follows the events of all that was listed, each by a stream of its own, and commits an answer
// whenever they changed something, until the call is cancelled or the source fails; README.md says what is asked when, and what
// is told after how long. Never OK. NOT_FOUND is told once: the next watch waits for what is not there, by its events.
// UNIMPLEMENTED: the server does not say versions, or ends its streams at once. `followed` becomes true once the server has
// streamed. The failures are those of resolve; a stream that breaks is none until it cannot be had again.
sdk::Status watch_cluster(Access access, const Options& options, WatchMemory& memory,
                          sdk::Call& call, bool& followed);

}  // namespace muster::kubernetes
