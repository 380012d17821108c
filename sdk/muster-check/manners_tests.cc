// The process is the launcher's: a plugin is a guest in it.
#include <fmt/format.h>

#include "sdk/muster-check/process_state.h"
#include "sdk/muster-check/resolver.h"
#include "sdk/muster-check/trial.h"

namespace muster::check {
namespace {

void process(Trial& trial) {
  World world(trial.target.config, trial.recorded());
  const ForkCount forks;
  const ProcessState before = process_state();
  const auto compare = [&](const char* when) {
    for (const std::string& difference : differences(before, process_state()))
      trial.report.broke("MP-16", fmt::format("{} changed {}", when, difference));
    if (forks.count() > 0)
      trial.report.broke("MP-16", fmt::format("{} started a process: that is what "
                                              "muster.process/1 is for",
                                              when));
  };
  const auto subject = Subject::load(trial, world);
  compare("loading it");
  if (subject == nullptr) return;
  {
    Resolver resolver(trial, world, *subject, trial.target.config);
    const bool made = make_or_skip(trial, resolver);
    compare("create");
    if (!made) return;
    resolver.ask();
    compare("resolve");
    // What is wrong in the answer of a failure is tidied up differently.
    world.servers().hang();
    resolver.ask({.time_ns = 100 * kMillisecond, .cancel_ns = 50 * kMillisecond});
    compare("a resolve that was cancelled");
  }
  compare("destroy");
}

}  // namespace

std::vector<Test> manners_tests() {
  return {
      {"manners.process",
       "leaves signals, locale, environment, directory, umask and streams alone; does not fork", 60,
       true, process, Scope::kShared},
  };
}

}  // namespace muster::check
