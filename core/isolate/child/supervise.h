// Supervisor: the half of muster-isolate that waits for the end of the other.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "core/isolate/child/idle.h"
#include "core/isolate/control.h"

namespace muster::isolate {

// One thread, so that fork is safe, and PR_SET_PDEATHSIG means this process.
class Supervisor {
 public:
  // Before the fork: from here on the end of a child is seen.
  explicit Supervisor(pid_t launcher);
  // In the child: takes all that back.
  void leave() const;

  // Waits until the child has ended, by itself or because it was to, and then ends all that it started. `failing` gives
  // errno when its program could not be executed. The exit status.
  int watch(pid_t child, int failing, int64_t idle_period_ns);

  // Says how it ended.
  static void tell(const Ended& ended);

 private:
  bool child_ended();
  bool wait_for_child(int64_t nanoseconds);
  bool launcher_gone() const;
  // Reads what the launcher says: of calls, to end now, or that it says nothing any more.
  static void read_control(IdleTime& idle, bool& end_now, bool& end_soon);
  void end_all(Ended& ended);

  pid_t launcher_;
  pid_t child_ = -1;
  int signals_ = -1;
  int launcher_descriptor_ = -1;
};

}  // namespace muster::isolate
