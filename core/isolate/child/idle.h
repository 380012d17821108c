// IdleTime: the processor time that a backend uses while it has nothing to do.
#pragma once

#include <cstdint>

namespace muster::isolate {

// Between calls a backend may use half of one processor. It is looked at once in a period, and judged by two looks with no call between
// them, so that calls in quick succession cost no looks. A call ends by its deadline, and has no such bound.
class IdleTime {
 public:
  explicit IdleTime(int64_t period_ns) : period_ns_(period_ns) {}

  void call_begins() { looked_ns_ = 0; }
  void call_is_over();

  // Until the next look, for poll(): -1 while a call runs.
  int milliseconds_left() const;
  // Where it is time to look: what it has used since the last look, when that is too much; else 0.
  int64_t too_much();

 private:
  int64_t period_ns_;
  int64_t looked_ns_ = 0;  // when; or when the last call ended; 0 while one runs
  int64_t used_ns_ = -1;   // until then; -1: not looked at since the call
};

// Of all that descends from this process, and what it has had to bury of them.
int64_t processor_ns();

}  // namespace muster::isolate
