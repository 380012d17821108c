// The world is asked through the core: what a plugin asks the system by itself is in no recording, no count and no explanation.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>

#include "sdk/muster-check/network_watch.h"
#include "sdk/muster-check/own_calls.h"
#include "sdk/muster-check/resolver.h"
#include "sdk/muster-check/trial.h"

namespace muster::check {
namespace {

constexpr size_t kMostQuestions = 10;

// Each function that it has, and ways in which resolve fails.
void use_all(Trial& trial, World& world, const Subject& subject) {
  Resolver resolver(trial, world, subject, trial.target.config);
  if (!make_or_skip(trial, resolver)) return;
  resolver.ask();
  for (const Function function : {Function::kPermissions, Function::kPlan}) {
    if (resolver.has(function)) resolver.ask({.function = function});
  }
  world.servers().behave();
  if (resolver.has(Function::kWatch))
    resolver.ask({.function = Function::kWatch, .cancel_ns = 200 * kMillisecond});
  const Fault refused{"401", "answered 401", Fault::Kind::kStatus, 401};
  for (size_t i = 0; i < std::min(world.servers().questions().size(), kMostQuestions); ++i) {
    world.servers().misbehave(i, refused);
    resolver.ask();
  }
  world.servers().hang();
  resolver.ask({.cancel_ns = 100 * kMillisecond});
}

void calls(Trial& trial) {
  World world(trial.target.config, trial.recorded());
  void* library = ::dlopen(trial.target.file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) {
    watch_own_calls(library, [&trial](const std::string& asked) {
      trial.report.broke("MP-14", fmt::format("it called {} by itself: that is what the core's "
                                              "services are for",
                                              asked));
    });
  }
  const auto subject = Subject::load(trial, world);
  if (subject != nullptr) use_all(trial, world, *subject);
}

void network(Trial& trial) {
  const auto watch = NetworkWatch::start([&trial](const std::string& what) {
    trial.report.broke("MP-14", what + " by itself: that is what muster.http/1 is for");
  });
  if (!watch) return trial.report.skip(watch.error().message);
  World world(trial.target.config, trial.recorded());
  const auto subject = Subject::load(trial, world);
  if (subject != nullptr) use_all(trial, world, *subject);
}

}  // namespace

std::vector<Test> world_tests() {
  return {
      {"world.calls",
       "asks for time, environment, files, network and programs by services of the core alone", 60,
       true, calls, Scope::kShared},
      {"world.network", "nothing that it runs connects to the internet by itself", 60, true,
       network},
  };
}

}  // namespace muster::check
