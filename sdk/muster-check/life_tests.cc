// Resolvers come and go, and leave nothing behind.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <thread>

#include "sdk/muster-check/process_state.h"
#include "sdk/muster-check/resolver.h"
#include "sdk/muster-check/trial.h"

namespace muster::check {
namespace {

constexpr int kTimes = 100;
constexpr int kTimesTogether = 20;
constexpr int64_t kWait_ns =
    5 * kMillisecond;  // what nobody waits for by chance ten times in a row

// A thread that has just ended is listed for a moment longer.
std::map<int, std::string> threads_beyond(const std::map<int, std::string>& before) {
  std::map<int, std::string> more;
  for (int attempt = 0; attempt < 40; ++attempt) {
    more.clear();
    for (const auto& [number, name] : threads()) {
      if (before.find(number) == before.end()) more[number] = name;
    }
    if (more.empty()) break;
    const timespec rest{0, 5'000'000};
    ::nanosleep(&rest, nullptr);
  }
  return more;
}

void repeat(Trial& trial) {
  World world(trial.target.config, trial.recorded());
  const auto before_threads = threads();
  const auto subject = Subject::load(trial, world);
  if (subject == nullptr) return;
  std::map<int, std::string> before;
  const int times = trial.times(kTimes);
  for (int i = 0; i < times; ++i) {
    world.servers().behave();
    if (!ask_once(trial, world, *subject, trial.target.config)) return;
    if (trial.report.found_any()) break;
    if (i == 0) before = open_files();  // what a whole plugin keeps, it has by now
  }
  trial.report.step("MP-18", "looking at what is left");
  const auto after = open_files();
  if (after.size() > before.size()) {
    std::string which;
    for (const auto& [number, name] : after) {
      if (before.find(number) == before.end() && which.size() < 200)
        which += fmt::format(" {}={}", number, name);
    }
    trial.report.broke(
        "MP-18", fmt::format("{} times create, resolve and destroy left {} files open:{}", times,
                             after.size() - before.size(), which));
  }
  for (const auto& [number, name] : threads_beyond(before_threads)) {
    trial.report.broke("MP-18", fmt::format("after destroy the thread '{}' is left", name));
  }
  if (!children().empty())
    trial.report.broke("MP-16", fmt::format("after destroy the process {} is left", children()[0]));
}

// Two resolvers of one plugin may run at once.
void together(Trial& trial) {
  World world(trial.target.config, trial.recorded());
  const auto subject = Subject::load(trial, world);
  if (subject == nullptr) return;
  const auto use = [&] {
    for (int i = 0; i < trial.times(kTimesTogether) && !trial.report.found_any(); ++i) {
      if (!ask_once(trial, world, *subject, trial.target.config)) return;
    }
  };
  std::thread one(use);
  std::thread two(use);
  one.join();
  two.join();
}

void create_waits(Trial& trial) {
  World world(trial.target.config, trial.recorded());
  const auto subject = Subject::load(trial, world);
  if (subject == nullptr) return;
  int64_t least = INT64_MAX;
  for (int i = 0; i < 10 && least > kWait_ns; ++i) {
    Resolver resolver(trial, world, *subject, trial.target.config);
    least = std::min(least, resolver.create().waited_ns);
  }
  if (least > kWait_ns)
    trial.report.broke("MP-19",
                       fmt::format("create waited for {} ms: what has to wait is resolve's",
                                   least / kMillisecond));
}

}  // namespace

std::vector<Test> life_tests() {
  return {
      {"life.repeat", "100 times create, resolve, destroy leave no thread, file or process behind",
       120, true, repeat},
      {"life.together", "two resolvers run at once", 60, true, together},
      {"life.create", "create does not wait", 60, true, create_waits, Scope::kShared},
  };
}

}  // namespace muster::check
