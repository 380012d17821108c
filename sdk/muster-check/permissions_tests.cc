// What a plugin says that it must be allowed: before anybody has allowed it anything.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "sdk/muster-check/resolver.h"
#include "sdk/muster-check/trial.h"

namespace muster::check {
namespace {

std::string shown(const Permission& permission) {
  return fmt::format("'{}' in '{}' for {} '{}'", permission.rule, permission.scope,
                     permission.principal_kind, permission.principal);
}

std::set<std::string> all_of(const Needs& needs) {
  std::set<std::string> all;
  for (const Permission& permission : needs.permissions) all.insert(shown(permission));
  return all;
}

// The first of one that the other has not; "" when there is none.
std::string first_beyond(const std::set<std::string>& one, const std::set<std::string>& other) {
  const auto found = std::find_if(one.begin(), one.end(), [&](const std::string& permission) {
    return other.find(permission) == other.end();
  });
  return found == one.end() ? "" : *found;
}

// What it says; nothing when it failed, which is told.
std::optional<Needs> ask_needs(Trial& trial, World& world, Resolver& resolver, bool for_watch) {
  world.servers().behave();
  Outcome outcome = resolver.ask({.function = Function::kPermissions, .for_watch = for_watch});
  if (world.servers().requests() > 0)
    trial.report.broke(
        "MP-24", fmt::format("permissions asked the network: {}", world.servers().last_request()));
  if (outcome.good()) return std::move(outcome.needs);
  if (outcome.answer) trial.report.note("permissions says " + told(outcome.error()));
  return std::nullopt;
}

void permissions(Trial& trial) {
  World world(trial.target.config, trial.recorded());
  const auto subject = Subject::load(trial, world);
  if (subject == nullptr) return;
  Resolver resolver(trial, world, *subject, trial.target.config);
  if (!make_or_skip(trial, resolver)) return;
  if (!resolver.has(Function::kPermissions))
    return trial.report.note("it has no muster.permissions/1");
  const auto first = ask_needs(trial, world, resolver, false);
  const auto second = ask_needs(trial, world, resolver, false);
  const auto watching = ask_needs(trial, world, resolver, true);
  if (!first || !second || !watching) return;
  trial.report.note(fmt::format("{} permissions, {} for a watch", first->permissions.size(),
                                watching->permissions.size()));
  const auto all = all_of(*first), again = all_of(*second);
  if (all != again) {
    const std::string lost = first_beyond(all, again);
    trial.report.broke("MP-24", fmt::format("permissions told {} the {} time alone",
                                            lost.empty() ? first_beyond(again, all) : lost,
                                            lost.empty() ? "second" : "first"));
  }
  if (first->command != second->command || first->text != second->text)
    trial.report.broke("MP-24",
                       fmt::format("permissions told two grants: for '{}' '{}', then for "
                                   "'{}' '{}'",
                                   first->command, first->text, second->command, second->text));
  if (const std::string lost = first_beyond(all, all_of(*watching)); !lost.empty())
    trial.report.broke(
        "MP-24", fmt::format("permissions told {}, and not with MUSTER_PERMISSIONS_WATCH: a watch "
                             "needs all that a resolve needs",
                             lost));
}

}  // namespace

std::vector<Test> permissions_tests() {
  return {{"permissions.told",
           "permissions asks no network, says the same twice, and for a watch no less", 30, true,
           permissions}};
}

}  // namespace muster::check
