// What a plugin says that a resolve will ask, beside what it asks.
#include <fmt/format.h>
#include <muster/plugin.h>

#include <algorithm>

#include "sdk/muster-check/resolver.h"
#include "sdk/muster-check/trial.h"

namespace muster::check {
namespace {

// Nothing when it failed, which is told.
std::optional<RequestPlan> ask_plan(Trial& trial, World& world, const Subject& subject,
                                    int64_t members) {
  world.servers().behave();
  // A resolver of its own: it is about a first resolve.
  auto outcome = ask_once(trial, world, subject, trial.target.config,
                          {.function = Function::kPlan, .members = members});
  if (!outcome) return std::nullopt;
  if (world.servers().requests() > 0)
    trial.report.broke("MP-25",
                       fmt::format("plan asked the network: {}", world.servers().last_request()));
  if (outcome->good()) return std::move(outcome->plan);
  if (outcome->answer) trial.report.note("plan says " + told(outcome->error()));
  return std::nullopt;
}

// Why what was recorded says nothing of a resolve in which nothing fails; "" where it does.
std::string what_failed(const RecordedResolver& recorded) {
  for (const RecordedExchange& exchange : recorded.exchanges) {
    if (exchange.error || exchange.attempt > 1 || exchange.status / 100 == 3 ||
        exchange.status == 429 || exchange.status >= 500)
      return fmt::format("{} {} failed or was sent on in the recording", exchange.method,
                         exchange.url);
  }
  return "";
}

std::string in_words(const RequestPlan& plan) {
  std::string words;
  for (const PlannedRequests& planned : plan)
    words += fmt::format("{}{} to {} '{}'", words.empty() ? "" : ", ", planned.least, planned.most,
                         planned.request);
  return words.empty() ? "none" : words;
}

// A sum that stays the largest number there is.
int64_t add(int64_t sum, int64_t more) { return more > INT64_MAX - sum ? INT64_MAX : sum + more; }

void requests(Trial& trial) {
  World world(trial.target.config, trial.recorded());
  const auto subject = Subject::load(trial, world);
  if (subject == nullptr) return;
  {
    Resolver resolver(trial, world, *subject, trial.target.config);
    if (!make_or_skip(trial, resolver)) return;
    if (!resolver.has(Function::kPlan)) return trial.report.note("it has no muster.plan/1");
  }
  for (const int64_t members : {int64_t{1}, MUSTER_TASKS_MAXIMUM})
    ask_plan(trial, world, *subject, members);

  if (trial.recorded() == nullptr)
    return trial.report.note("--recording would let it be held against a resolve");
  world.servers().behave();
  const auto resolved = ask_once(trial, world, *subject, trial.target.config);
  if (!resolved) return;
  const int made = world.servers().requests();
  if (!resolved->good()) return trial.report.note("resolve says " + told(resolved->error()));
  const auto members = static_cast<int64_t>((*resolved->answer)->spec.task_count());
  if (members == 0) return trial.report.note("no plan is for an answer of nobody");
  if (const std::string failed = what_failed(*trial.recorded()); !failed.empty())
    return trial.report.note(failed + ": a plan is about a resolve in which nothing fails");
  const auto plan = ask_plan(trial, world, *subject, members);
  if (!plan) return;
  int64_t least = 0, most = 0;
  for (const PlannedRequests& planned : *plan) {
    least = add(least, planned.least);
    most = add(most, planned.most);
  }
  trial.report.note(
      fmt::format("{} requests for {} members; planned {} to {}", made, members, least, most));
  if (made < least || made > most)
    trial.report.broke("MP-25",
                       fmt::format("for {} members plan told {} to {} requests ({}), and the "
                                   "recorded resolve made {}",
                                   members, least, most, in_words(*plan), made));
}

}  // namespace

std::vector<Test> plan_tests() {
  return {{"plan.requests",
           "plan asks no network, and the recorded resolve makes as many requests as it says", 30,
           true, requests}};
}

}  // namespace muster::check
