// Cores of other minors, and one without services.
#include <fmt/format.h>

#include "sdk/muster-check/resolver.h"
#include "sdk/muster-check/trial.h"

namespace muster::check {
namespace {

constexpr size_t kLaterFields = 64;  // of a minor that is not there yet

// A plugin must answer the same whatever the core's minor is.
void meet(Trial& trial, const Core& core) {
  const Target& target = trial.target;
  World world(target.config, trial.recorded());
  std::string summary;
  {
    const auto today = Subject::load(trial, world);
    if (today == nullptr) return;
    const auto outcome = ask_once(trial, world, *today, target.config);
    if (!outcome) return;
    summary = outcome->good() ? summary_of(**outcome->answer) : told(outcome->error());
  }
  trial.report.with(fmt::format("a core of plugin ABI 1.{}", core.minor));
  const auto subject = Subject::load(trial, world, core);
  if (subject == nullptr) return;
  world.servers().behave();
  const auto outcome = ask_once(trial, world, *subject, target.config);
  if (!outcome) return;
  const std::string other =
      outcome->good() ? summary_of(**outcome->answer) : told(outcome->error());
  if (other != summary)
    trial.report.broke("MP-3", fmt::format("a core of plugin ABI 1.{} is answered '{}', one of "
                                           "today '{}'",
                                           core.minor, other, summary));
}

void minor_0(Trial& trial) { meet(trial, {.minor = 0, .of_minor_0 = true}); }
void current(Trial& trial) { meet(trial, {}); }
void next(Trial& trial) {
  meet(trial, {.minor = MUSTER_PLUGIN_ABI_MINOR + 1, .later = kLaterFields});
}

void no_services(Trial& trial) {
  const Target& target = trial.target;
  World world(target.config, nullptr);
  const auto subject = Subject::load(trial, world, {.services = false});
  if (subject == nullptr) return;
  // To fail is right, in create too: what a plugin cannot do without services it says.
  Resolver resolver(trial, world, *subject, target.config);
  Outcome outcome = resolver.create();
  if (resolver.made()) outcome = resolver.ask();
  if (!outcome.good() && outcome.answer) trial.report.note("it says " + told(outcome.error()));
}

}  // namespace

std::vector<Test> handshake_tests() {
  return {
      {"handshake.minor_0", "works with a core of 1.0: its tables end where those of 1.0 end", 30,
       true, minor_0, Scope::kShared},
      {"handshake.current", "works with a core of today", 30, true, current, Scope::kShared},
      {"handshake.next_minor", "works with a core of the next minor, whose tables are longer", 30,
       true, next, Scope::kShared},
      {"handshake.no_services", "lives with a core that lends no service", 30, true, no_services,
       Scope::kShared},
  };
}

}  // namespace muster::check
