// A call ends when it is told to, whatever the world does.
#include <fmt/format.h>

#include <algorithm>

#include "sdk/muster-check/resolver.h"
#include "sdk/muster-check/trial.h"

namespace muster::check {
namespace {

constexpr int kTries = 3;  // the best of them counts: the machine may have other work

// Asks until the call is on time once.
void ask_on_time(Trial& trial, const char* what, const Ask& ask, bool hangs) {
  World world(trial.target.config, trial.recorded());
  const auto subject = Subject::load(trial, world);
  if (subject == nullptr) return;
  Resolver resolver(trial, world, *subject, trial.target.config);
  if (!make_or_skip(trial, resolver)) return;
  if (!resolver.has(ask.function)) return trial.report.note("it has no muster.watch/1");
  int64_t least = INT64_MAX;
  std::optional<Error> ended;  // of the first try: a later one also has to start it again
  for (int i = 0; i < kTries && least > kGrace_ns; ++i) {
    if (hangs) {
      world.servers().hang();
    } else {
      world.servers().behave();
    }
    const Outcome outcome = resolver.ask(ask);
    if (!outcome.ended) least = std::min(least, outcome.late_ns);
    if (outcome.ended && !ended) ended = outcome.error();
  }
  if (least > kGrace_ns && ended) {
    trial.report.broke("MP-12", ended->message);
  } else if (least > kGrace_ns) {
    trial.report.broke("MP-12", fmt::format("it returned {} ms after {}: 500 are allowed",
                                            least / kMillisecond, what));
  }
  if (hangs && world.servers().faults() == 0)
    trial.report.note("it waited for nothing: --recording would let it ask a server that hangs");
}

void past(Trial& trial) {
  ask_on_time(trial, "being called with a deadline in the past",
              {.time_ns = -kSecond, .may_be_late = true}, true);
}
void deadline(Trial& trial) {
  ask_on_time(trial, "its deadline", {.time_ns = 200 * kMillisecond, .may_be_late = true}, true);
}
void cancel(Trial& trial) {
  ask_on_time(trial, "being cancelled",
              {.time_ns = 20 * kSecond, .cancel_ns = 100 * kMillisecond, .may_be_late = true},
              true);
}
void watch(Trial& trial) {
  const Ask ask{.function = Function::kWatch, .cancel_ns = 200 * kMillisecond, .may_be_late = true};
  ask_on_time(trial, "its watch was cancelled", ask, false);
  ask_on_time(trial, "its watch was cancelled while a server hung", ask, true);
}

}  // namespace

std::vector<Test> time_tests() {
  return {
      {"time.past", "a deadline in the past ends the call at once", 30, true, past},
      {"time.deadline", "returns within 500 ms of its deadline while servers hang", 30, true,
       deadline},
      {"time.cancel", "returns within 500 ms of a cancel while servers hang", 30, true, cancel},
      {"time.watch", "a watch ends within 500 ms of its cancel", 60, true, watch},
  };
}

}  // namespace muster::check
