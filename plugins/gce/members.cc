#include "plugins/gce/members.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "plugins/support/text.h"

namespace muster::gce {
namespace {

using support::natural_compare;
using support::quote;

// A running instance that cannot be reached as the options ask, or has no rank, is no task either.
void judge(Member& member) {
  if (!member.instance || !member.missing.empty()) return;
  const Instance& instance = *member.instance;
  member.missing = !instance.no_host.empty()   ? instance.no_host
                   : !instance.no_port.empty() ? instance.no_port
                                               : instance.no_rank;
}

// One name may stand in two zones; then the zone tells them apart.
void name_uniquely(std::vector<Member>& members) {
  std::map<std::string, int> times;
  for (const Member& member : members) ++times[member.name];
  for (Member& member : members)
    if (times[member.name] > 1) member.name = member.zone + "/" + member.name;
}

void rank_by_host(std::vector<Member>& members) {
  const auto host = [](const Member& member) -> std::string_view {
    return member.instance ? std::string_view(member.instance->physical_host) : std::string_view();
  };
  std::stable_sort(members.begin(), members.end(), [&](const Member& a, const Member& b) {
    if (host(a).empty() != host(b).empty()) return host(b).empty();
    const int by_host = natural_compare(host(a), host(b));
    return by_host != 0 ? by_host < 0 : natural_compare(a.name, b.name) < 0;
  });
  for (size_t n = 0; n < members.size(); ++n) members[n].index = static_cast<int64_t>(n);
}

sdk::Status rank_as_said(std::vector<Member>& members, const Options& options) {
  std::map<int64_t, const Member*> taken;
  for (Member& member : members) {
    if (!member.instance || !member.instance->rank) continue;
    member.index = *member.instance->rank;
    const auto [at, added] = taken.emplace(member.index, &member);
    if (!added)
      return sdk::Failure{
          MUSTER_E_ALREADY_EXISTS,
          fmt::format("instances {} and {} both have the rank {} by {}", quote(at->second->name),
                      quote(member.name), member.index, options.rank_rule()),
          {{"option", "/rank"}}};
  }
  return {};
}

sdk::Result<Members> ranked(Members out, const Options& options) {
  for (Member& member : out.members) judge(member);
  name_uniquely(out.members);
  switch (options.rank_by) {
    case RankBy::kName: break;
    case RankBy::kPhysicalHost: rank_by_host(out.members); break;
    case RankBy::kLabel:
    case RankBy::kMetadata:
      if (auto status = rank_as_said(out.members, options); !status)
        return std::move(status).failure();
  }
  return out;
}

}  // namespace

std::vector<std::string> zones_to_ask(const std::vector<GroupMember>& group) {
  std::set<std::string> zones;
  for (const GroupMember& member : group)
    if (!member.status.empty()) zones.insert(member.zone);
  return {zones.begin(), zones.end()};
}

sdk::Result<Members> join(const std::vector<GroupMember>& group, std::vector<Instance> instances,
                          const Options& options) {
  std::map<std::pair<std::string_view, std::string_view>, size_t> places;
  for (size_t n = 0; n < instances.size(); ++n)
    places.emplace(
        std::make_pair(std::string_view(instances[n].zone), std::string_view(instances[n].name)),
        n);
  Members out;
  int64_t staying = 0;
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const GroupMember& from : group) {
    // A member that a later page has again is the same one.
    if (!seen.emplace(from.zone, from.name).second) continue;
    if (!from.leaving()) ++staying;
    const auto place = places.find({from.zone, from.name});
    Member member;
    member.name = from.name;
    member.zone = from.zone;
    member.template_name = from.template_name;
    member.health = from.health;
    member.missing = why_missing(from, place == places.end() ? nullptr : &instances[place->second]);
    if (place != places.end()) member.instance = instances[place->second];
    out.members.push_back(std::move(member));
  }
  out.expected = staying;
  return ranked(std::move(out), options);
}

sdk::Result<Members> select(std::vector<Instance> instances, const Options& options) {
  Members out;
  std::set<std::pair<std::string, std::string>> seen;
  for (Instance& instance : instances) {
    if (!instance.tagged || !seen.emplace(instance.zone, instance.name).second) continue;
    Member member;
    member.name = instance.name;
    member.zone = instance.zone;
    member.missing = why_missing(instance);
    member.instance = std::move(instance);
    out.members.push_back(std::move(member));
  }
  return ranked(std::move(out), options);
}

}  // namespace muster::gce
