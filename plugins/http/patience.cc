// How long a call may still take.
#include "plugins/http/patience.h"

#include <time.h>

#include <algorithm>
#include <cerrno>

#include "plugins/http/words.h"

namespace muster::http {

int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

Patience::Woke Patience::check() const {
  // At the deadline is_cancelled says "stop" too: that is a deadline and not a cancel.
  const bool cancelled = call_->is_cancelled && call_->is_cancelled(call_) != 0;
  if (monotonic_ns() >= call_->deadline_ns) return Woke::deadline;
  return cancelled ? Woke::cancelled : Woke::ready;
}

Patience::Woke Patience::wait(std::span<pollfd> fds, int64_t until_ns) const {
  constexpr int64_t kSlice = 25'000'000;
  for (;;) {
    if (const Woke over = check(); over != Woke::ready) return over;
    const int64_t now = monotonic_ns();
    if (now >= until_ns) return Woke::timer;
    const int64_t slice = std::min({kSlice, call_->deadline_ns - now, until_ns - now});
    const timespec wait{.tv_sec = 0, .tv_nsec = std::max<int64_t>(slice, 0)};
    const int ready = ppoll(fds.data(), fds.size(), &wait, nullptr);
    if (ready > 0) return Woke::ready;
    // A signal of the host (EINTR) is nothing to us; ENOMEM passes or the deadline comes.
  }
}

Failure Patience::ended(Woke woke, Phase phase, std::string_view waited_for) const {
  const std::string after = duration_words(monotonic_ns() - start_ns_);
  if (woke == Woke::cancelled) {
    return failure(MUSTER_E_CANCELLED, phase,
                   "cancelled after a wait of " + after + " for " + std::string(waited_for));
  }
  return failure(MUSTER_E_DEADLINE_EXCEEDED, phase,
                 "waited " + after + " for " + std::string(waited_for));
}

}  // namespace muster::http
