// How long a call may still take: its deadline and its cancel, and the one place that waits.
#pragma once

#include <poll.h>

#include <cstdint>
#include <span>
#include <string_view>

#include <muster/plugin.h>

#include "plugins/http/failure.h"

namespace muster::http {

// CLOCK_MONOTONIC in nanoseconds.
int64_t monotonic_ns();

// Every wait of an exchange goes through here, so the deadline and a cancel hold in each of its phases.
// Used on the thread of its call only.
class Patience {
 public:
  static constexpr int64_t kNever = INT64_MAX;  // as a time to wait until

  enum class Woke { ready, timer, deadline, cancelled };

  // `call` outlives this.
  explicit Patience(const muster_call_v1 *call) : call_(call), start_ns_(monotonic_ns()) {}

  // Waits until one of `fds` is ready or `until_ns` has come. Reacts to a cancel within 25 ms: the call
  // has no file descriptor to wait for, so it is asked.
  Woke wait(std::span<pollfd> fds, int64_t until_ns = kNever) const;

  // `ready`, or `deadline` or `cancelled` when the call is over: for work that never has to wait.
  Woke check() const;

  // What to answer after wait or check said `deadline` or `cancelled`; `waited_for` completes
  // "waited 2.0 s for".
  Failure ended(Woke woke, Phase phase, std::string_view waited_for) const;

 private:
  const muster_call_v1 *call_;
  int64_t start_ns_;
};

}  // namespace muster::http
