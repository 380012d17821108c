#include "plugins/kubernetes/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::quote;

// The number at the end of a StatefulSet's pod's name; -1 when it has none.
int64_t ordinal_of(std::string_view name) {
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos) return -1;
  return support::parse_digits(name.substr(dash + 1), 2147483647).value_or(-1);
}

class Placing {
 public:
  Placing(const Finder& finder, const std::string& name, const Plan& plan, const Judge& judge)
      : finder_(finder), name_(name), plan_(plan), judge_(judge), seats_(plan.roles.size()) {}

  sdk::Result<Placed> place(const Pods& pods, const std::string& as_job) {
    for (const Pod& pod : pods) attempt_ = std::max(attempt_, pod.attempt);
    for (const Pod& pod : pods) seat(pod);
    int64_t offset = 0;
    for (size_t n = 0; n < plan_.roles.size(); ++n) {
      const Role& role = plan_.roles[n];
      if (as_job.empty() || placed_.jobs.empty())
        placed_.jobs.push_back({as_job.empty() ? role.name : as_job, {}, 0, true});
      JobMembers& job = placed_.jobs.back();
      if (as_job.empty()) job.in_cluster = role.in_cluster;
      if (!as_job.empty() && !role.in_cluster) continue;
      if (!as_job.empty() && !role.indexed && plan_.roles.size() > 1)
        return sdk::Failure{
            MUSTER_E_INVALID_ARGUMENT,
            fmt::format("the pods of {} in {} {} have no indices, so that they cannot be ranked "
                        "through with the others as {}",
                        quote(role.name), finder_.kind, quote(name_), quote(as_job)),
            {{"option", "/as_job"}}};
      *job.expected += role.expected;
      if (role.indexed) {
        add_indexed(role, seats_[n], offset, job.found);
      } else {
        add_unindexed(role, seats_[n], job.found);
      }
      if (!as_job.empty()) offset += role.places;
    }
    return std::move(placed_);
  }

 private:
  void stranger(const Pod& pod, const std::string& why) {
    const std::string said = fmt::format("pod {} {}", quote(full_name(pod)), why);
    // One that goes anyway says nothing about the plan.
    (pod.deleted != 0 || pod.phase == Phase::kFailed || pod.ended_well() ? placed_.notes
                                                                         : placed_.strangers)
        .push_back(said);
  }

  void seat(const Pod& pod) {
    const bool foreign = finder_.owns ? !(pod.owner_uid == plan_.uid)
                                      : !pod.set_uid.empty() && !(pod.set_uid == plan_.uid);
    if (foreign)
      return stranger(pod, fmt::format("is not of this {} but of another one{}", finder_.kind,
                                       pod.owner.empty() ? "" : " or of one before it"));
    if (pod.attempt != attempt_) {
      placed_.notes.push_back(fmt::format("pod {} is of attempt {}, and attempt {} has begun",
                                          quote(full_name(pod)), pod.attempt, attempt_));
      return;
    }
    size_t n = 0;
    if (finder_.role_label) {
      while (n < plan_.roles.size() && !(pod.role == plan_.roles[n].name)) ++n;
      if (n == plan_.roles.size())
        return stranger(
            pod, fmt::format("is a {}, of which the {} has none", quote(pod.role), finder_.kind));
    }
    const Role& role = plan_.roles[n];
    if (!role.indexed) {
      seats_[n][static_cast<int64_t>(seats_[n].size())] = &pod;
      ++placed_.pods;
      return;
    }
    const int64_t place = place_of(pod, role);
    if (place < 0)
      return stranger(pod, fmt::format("has no place in {}, which is to have {}", quote(role.name),
                                       role.places));
    ++placed_.pods;
    const Pod*& kept = seats_[n][place];
    if (kept == nullptr) {
      kept = &pod;
      return;
    }
    const bool newer = counts_before(pod, *kept, judge_);
    const Pod &winner = newer ? pod : *kept, &loser = newer ? *kept : pod;
    kept = &winner;
    const std::string said =
        fmt::format("pod {} has place {} of {} too; pod {} counts", quote(full_name(loser)), place,
                    quote(role.name), quote(full_name(winner)));
    if (loser.live()) {
      placed_.warnings.push_back(said);
    } else {
      placed_.notes.push_back(said);
    }
  }

  // From 0; -1 when it has none that the plan knows.
  int64_t place_of(const Pod& pod, const Role& role) const {
    int64_t index = pod.index;
    if (index < 0 && finder_.ordinals) index = ordinal_of(pod.name);
    index -= role.first;
    const int64_t size = role.group_size > 0 ? role.group_size : role.places;
    if (index < 0 || index >= size) return -1;
    if (role.group_size > 0) {
      if (pod.group < 0) return -1;
      index += pod.group * role.group_size;
    }
    return index < role.places ? index : -1;
  }

  void add_indexed(const Role& role, const std::map<int64_t, const Pod*>& seats, int64_t offset,
                   Members& out) {
    for (const auto& [place, pod] : seats)
      out.members.push_back({pod, offset + place, why_missing(*pod, judge_), {}});
    const auto empty = role.expected - static_cast<int64_t>(seats.size());
    if (role.expected < role.places) {  // which places are taken next, its controller decides
      for (int64_t n = 0; n < empty; ++n)
        out.members.push_back({nullptr, MUSTER_UNRANKED, no_pod(), {}});
      return;
    }
    if (empty > 0)
      for (int64_t place = 0; place < role.places; ++place)
        if (seats.count(place) == 0)
          out.members.push_back(
              {nullptr, offset + place, no_pod(), place_name(finder_, name_, role, place)});
  }

  void add_unindexed(const Role& role, const std::map<int64_t, const Pod*>& seats, Members& out) {
    std::vector<const Pod*> pods;
    pods.reserve(seats.size());
    for (const auto& [n, pod] : seats) pods.push_back(pod);
    std::sort(pods.begin(), pods.end(),
              [&](const Pod* a, const Pod* b) { return counts_before(*a, *b, judge_); });
    // Those over the number are replaced by the ones before them, unless they run as well.
    for (size_t n = 0; n < pods.size(); ++n) {
      const bool over = static_cast<int64_t>(n) >= role.expected;
      std::string why = why_missing(*pods[n], judge_);
      if (over && !why.empty()) {
        placed_.notes.push_back(
            fmt::format("pod {} has been replaced: {}", quote(full_name(*pods[n])), why));
        continue;
      }
      out.members.push_back({pods[n], MUSTER_UNRANKED, std::move(why), {}});
    }
    for (auto n = static_cast<int64_t>(pods.size()); n < role.expected; ++n)
      out.members.push_back({nullptr, MUSTER_UNRANKED, no_pod(), {}});
  }

  std::string no_pod() const {
    if (plan_.suspended) return fmt::format("no pod yet: the {} is suspended", finder_.kind);
    if (plan_.deleting) return fmt::format("no pod: the {} is being deleted", finder_.kind);
    if (!plan_.ended.empty())
      return fmt::format("no pod: the {} has ended ({})", finder_.kind, plan_.ended);
    return "no pod yet";
  }

  const Finder& finder_;
  const std::string& name_;
  const Plan& plan_;
  const Judge& judge_;
  std::vector<std::map<int64_t, const Pod*>> seats_;  // of each role, by place
  int32_t attempt_ = 0;
  Placed placed_;
};

}  // namespace

sdk::Result<Placed> place_pods(const Finder& finder, const std::string& name, const Plan& plan,
                               const Pods& pods, const std::string& as_job, const Judge& judge) {
  return Placing(finder, name, plan, judge).place(pods, as_job);
}

}  // namespace muster::kubernetes
