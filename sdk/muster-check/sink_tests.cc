// What a plugin pushes, and what it does when a push is refused.
#include <fmt/format.h>

#include <algorithm>

#include "sdk/muster-check/resolver.h"
#include "sdk/muster-check/trial.h"

namespace muster::check {
namespace {

constexpr int kMostRefusals = 40;

void answer(Trial& trial) {
  World world(trial.target.config, trial.recorded());
  const auto subject = Subject::load(trial, world);
  if (subject == nullptr) return;
  const auto outcome = ask_once(trial, world, *subject, trial.target.config);
  if (!outcome) return;
  trial.report.note(outcome->good() ? summary_of(**outcome->answer) : told(outcome->error()));
}

void refusal(Trial& trial) {
  World world(trial.target.config, trial.recorded());
  const auto subject = Subject::load(trial, world);
  if (subject == nullptr) return;
  Resolver resolver(trial, world, *subject, trial.target.config);
  if (!make_or_skip(trial, resolver)) return;
  world.servers().behave();
  const int pushes = resolver.ask().pushes;
  if (pushes == 0)
    return trial.report.note("it pushed nothing: --recording or other --options would say more");
  for (int i = 0; i < std::min(pushes, kMostRefusals); ++i) {
    // The first ones, and of many also the last ones.
    const int push =
        i < kMostRefusals / 2 ? i + 1 : pushes - (std::min(pushes, kMostRefusals) - i) + 1;
    trial.report.with(fmt::format("push {} of {} refused", push, pushes));
    world.servers().behave();
    const Outcome outcome = resolver.ask({.refused_push = push});
    if (outcome.pushes < push) continue;  // it went another way this time
    if (outcome.code == MUSTER_OK) {
      trial.report.broke(
          "MP-10", fmt::format("push {} of {} was refused, and resolve returned OK", push, pushes));
    } else if (outcome.code != kRefusal) {
      trial.report.broke("MP-10",
                         fmt::format("push {} of {} was refused with {}, and resolve returned {}: "
                                     "return the code of the refusal",
                                     push, pushes, code_name(static_cast<Code>(kRefusal)),
                                     code_name(static_cast<Code>(outcome.code))));
    }
    if (outcome.pushes_after > 0)
      trial.report.broke("MP-10", fmt::format("push {} of {} was refused, and {} more were pushed",
                                              push, pushes, outcome.pushes_after));
  }
}

}  // namespace

std::vector<Test> sink_tests() {
  return {
      {"sink.answer", "what it pushes is right: texts, addresses, ranks, counts, identity", 30,
       true, answer},
      {"sink.refusal", "a refused push ends the call with the code of the refusal", 60, true,
       refusal, Scope::kShared},
  };
}

}  // namespace muster::check
