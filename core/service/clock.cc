// muster.clock/1: time that a replay owns.
#include <muster/plugin.h>

#include "core/service/call.h"
#include "core/service/services.h"

namespace muster {
namespace {

int64_t clock_monotonic(const muster_call_v1* call) {
  const Call* known = Call::check(call);
  return known == nullptr ? monotonic_ns() : known->now_ns();
}

int64_t clock_realtime(const muster_call_v1* call) {
  int64_t now = 0;
  guarded(nullptr, [&]() -> int32_t {
    const Call* known = Call::check(call);
    if (known == nullptr) return MUSTER_E_INVALID_ARGUMENT;
    now = known->session().realtime_ns(known->path());
    return MUSTER_OK;
  });
  return now;
}

int32_t clock_sleep(const muster_call_v1* call, int64_t duration_ns) {
  return guarded(nullptr, [&]() -> int32_t {
    Call* known = Call::check(call);
    if (known == nullptr) return MUSTER_E_INVALID_ARGUMENT;
    return static_cast<int32_t>(known->sleep(duration_ns));
  });
}

}  // namespace

const muster_clock_v1* clock_table() {
  static const muster_clock_v1 table = {sizeof(muster_clock_v1), clock_monotonic, clock_realtime,
                                        clock_sleep};
  return &table;
}

}  // namespace muster
