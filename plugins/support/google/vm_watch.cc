#include "plugins/support/google/vm_watch.h"

#include <algorithm>
#include <utility>

#include "plugins/support/google/api.h"
#include "plugins/support/google/metadata.h"

namespace muster::support::google {
namespace {

// An event stands for so long at least before a failure says that it is stale.
constexpr int64_t kShown_ns = 1'000'000'000;

// Says what is known, and again as soon as there is a notice, until `until_ns`. While the API fails only notices are new.
sdk::Status tell_until(int64_t until_ns, Notices& notices, Watched& watched,
                       const std::function<sdk::Status(const Notices&)>& say,
                       const muster_clock_v1& clock, sdk::Call& call) {
  bool changed = !watched.failing || notices.said() != watched.told;
  for (;;) {
    if (changed) {
      watched.told = notices.said();
      if (auto said = say(notices); !said) return said;
      if (watched.failing)
        call.add_warning("the API cannot be asked now: these are the members that it told before");
      call.commit();
      if (call.refused()) return {};
      if (watched.failing)
        until_ns = std::max(until_ns, clock.monotonic_ns(call.get()) + kShown_ns);
    }
    auto heard = notices.listen(until_ns);
    if (!heard) return std::move(heard).failure();
    changed = *heard;
    if (!changed) break;
  }
  notices.rest();
  return {};
}

}  // namespace

sdk::Status watch_vm(Watched& watched, const std::function<sdk::Status()>& ask,
                     const std::function<sdk::Status(const Notices&)>& say, sdk::Call& call) {
  Notices notices(call);
  const sdk::Failure poll{MUSTER_E_UNIMPLEMENTED, "nobody tells what becomes of this machine", {}};
  const auto* clock = call.host().service<muster_clock_v1>(MUSTER_CLOCK_V1);
  if (call.interval_ns() <= 0 || !Metadata::expected(call) || !notices.possible()) return poll;
  if (auto begun = notices.begin(); !begun) return begun;
  notices.rest();
  if (!notices.any()) return poll;
  for (;;) {
    const int64_t next_ns = clock->monotonic_ns(call.get()) + jittered_ns(call.interval_ns());
    auto found = ask();
    if (!found && (call.cancelled() || !watched.known || !std::exchange(watched.failing, true)))
      return found;
    if (found) {
      watched.known = true;
      watched.failing = false;
    }
    if (auto told = tell_until(next_ns, notices, watched, say, *clock, call); !told) return told;
    if (!found || call.refused()) return found;
  }
}

}  // namespace muster::support::google
