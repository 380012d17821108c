#include "plugins/kubernetes/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "plugins/support/rfc3339.h"
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

// The pods of one role: by place, and where they have none by group.
struct Seats {
  std::map<int64_t, std::vector<const Pod*>> claims;
};

class Placing {
 public:
  Placing(const Finder& finder, const std::string& name, const Plan& plan, const Judge& judge)
      : finder_(finder), name_(name), plan_(plan), judge_(judge), seats_(plan.roles.size()) {}

  sdk::Result<Placed> place(const Pods& pods, const std::string& as_job) {
    attempt_ = plan_.attempt;
    for (const Pod& pod : pods)
      if (!is_foreign(pod)) attempt_ = std::max(attempt_, pod.attempt);
    for (const Pod& pod : pods) seat(pod);
    settle_places();
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
      if (role.indexed && role.expected == role.places) {
        *job.expected += role.expected;
        add_places(role, seats_[n], offset, job.found);
      } else {
        *job.expected += add_chosen(role, seats_[n], offset, job.found);
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

  // Of another object, or of one of the same name before this one.
  bool is_foreign(const Pod& pod) const {
    if (finder_.owns) return !(pod.owner_uid == plan_.uid);
    if (!pod.set_uid.empty()) return !(pod.set_uid == plan_.uid);
    return is_before_object(pod);
  }

  // Where a pod has no uid of its object, as a LeaderWorkerSet's, the times tell: none is made before its object.
  bool is_before_object(const Pod& pod) const {
    return !finder_.owns && pod.set_uid.empty() && pod.created != 0 && pod.created < plan_.created;
  }

  void seat(const Pod& pod) {
    if (is_before_object(pod))
      return stranger(
          pod, fmt::format("was made before this {}, so it is of one before it", finder_.kind));
    if (is_foreign(pod))
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
    const int64_t place = role.indexed ? place_of(pod, role) : group_of(pod, role);
    if (place < 0)
      return stranger(pod, fmt::format("has no place in {}, which is to have {}", quote(role.name),
                                       role.places));
    ++placed_.pods;
    seats_[n].claims[place].push_back(&pod);
  }

  // Of several pods with one place one counts.
  void settle_places() {
    for (size_t n = 0; n < seats_.size(); ++n) {
      const Role& role = plan_.roles[n];
      if (!role.indexed) continue;
      for (auto& [place, pods] : seats_[n].claims) {
        if (pods.size() == 1) continue;
        Choice choice = choose(pods, judge_);
        for (const auto& [loser, why] : choice.others)
          (loser->live() ? placed_.warnings : placed_.notes)
              .push_back(fmt::format("pods {} and {} have place {} of {}; {} counts: {}",
                                     quote(full_name(*loser)), quote(full_name(*choice.pod)), place,
                                     quote(role.name), quote(full_name(*choice.pod)), why));
        if (!choice.doubt.empty()) doubts_.emplace(choice.pod, std::move(choice.doubt));
        pods = {choice.pod};
      }
    }
  }

  // Of a pod without an index; -1 when the plan has no such group.
  static int64_t group_of(const Pod& pod, const Role& role) {
    if (role.group_size <= 0) return 0;
    return pod.group < role.places / role.group_size ? pod.group : -1;
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

  // "" for a pod that is a task.
  std::string why_not(const Pod& pod) const {
    if (!is_task(pod, judge_)) return why_missing(pod, judge_);
    const auto doubt = doubts_.find(&pod);
    return doubt == doubts_.end() ? "" : doubt->second;
  }

  // A role whose places are all to have a pod at the same time.
  void add_places(const Role& role, const Seats& seats, int64_t offset, Members& out) {
    for (const auto& [place, pods] : seats.claims) {
      std::string why = why_not(*pods[0]);
      if (why.empty() && finder_.leader_place != nullptr)
        why = of_leader_before(role, seats, place);
      out.members.push_back({pods[0], offset + place, std::move(why), {}});
    }
    if (static_cast<int64_t>(seats.claims.size()) == role.places) return;
    for (int64_t place = 0; place < role.places; ++place)
      if (seats.claims.count(place) == 0)
        out.members.push_back(
            {nullptr, offset + place, no_pod(), place_name(finder_, name_, role, place)});
  }

  // The workers of a group are made after its leader, of the same template, and go when it goes. A worker that was made
  // before the leader that is there now, or of another template, is of the group before and about to go. One that was made in
  // the same second as its leader is its own: a worker often is.
  std::string of_leader_before(const Role& role, const Seats& seats, int64_t place) const {
    const Pod& worker = *seats.claims.at(place)[0];
    const auto at = seats.claims.find(place - place % role.group_size);
    if (at == seats.claims.end() || at->second[0] == &worker) return "";
    const Pod& leader = *at->second[0];
    if (worker.created != 0 && worker.created < leader.created)
      return fmt::format("it was made at {}, before the leader {} of its group, at {}",
                         support::to_rfc3339(worker.created), quote(full_name(leader)),
                         support::to_rfc3339(leader.created));
    if (!worker.revision.empty() && !leader.revision.empty() &&
        !(worker.revision == leader.revision))
      return fmt::format("it is of revision {}, and the leader {} of its group is of {}",
                         quote(worker.revision), quote(full_name(leader)), quote(leader.revision));
    return "";
  }

  // A role of which some places have a pod at a time, or that has no places: the ones that count first, as many as there are
  // to be. How many that is.
  int64_t add_chosen(const Role& role, const Seats& seats, int64_t offset, Members& out) {
    const int64_t size = role.group_size > 0 ? role.group_size : std::max<int64_t>(role.places, 1);
    const int64_t groups = std::max<int64_t>(role.places / size, 1);
    // The pods of each group, which are one Job's, and how many of them have ended well.
    std::map<int64_t, std::vector<Seated>> pods;
    std::map<int64_t, int64_t> succeeded;
    for (const auto& [place, claims] : seats.claims) {
      const int64_t group = role.indexed ? place / size : role.group_size > 0 ? place : 0;
      for (const Pod* pod : claims) {
        if (pod->ended_well()) ++succeeded[group];
        pods[group].push_back({pod, role.indexed ? offset + place : MUSTER_UNRANKED});
      }
    }
    if (groups == 1) succeeded[0] = std::max(succeeded[0], role.succeeded);
    // Where each is to succeed once and others follow, those that have are done with. Where all are to run together, or none is
    // left to follow, one that has ended is missing.
    int64_t expected = 0;
    for (int64_t group = 0; group < groups; ++group) {
      expected += std::max<int64_t>(
          std::min(role.expected / groups, size - std::min(succeeded[group], size)), 0);
    }
    const bool in_turn = role.expected < role.places && expected > 0;
    if (!in_turn) expected = role.expected;
    for (int64_t group = 0; group < groups; ++group) {
      int64_t of_group = role.expected / groups;
      if (in_turn) of_group = std::min(of_group, size - std::min(succeeded[group], size));
      add_group(role, pods[group], of_group, in_turn, out);
    }
    return expected;
  }

  struct Seated {
    const Pod* pod;
    int64_t index;  // its rank, or MUSTER_UNRANKED
  };

  void add_group(const Role& role, std::vector<Seated>& pods, int64_t expected, bool in_turn,
                 Members& out) {
    if (in_turn)
      pods.erase(std::remove_if(pods.begin(), pods.end(),
                                [](const Seated& one) { return one.pod->ended_well(); }),
                 pods.end());
    std::sort(pods.begin(), pods.end(),
              [&](const Seated& a, const Seated& b) { return stays_before(*a.pod, *b.pod); });
    const auto tasks = std::count_if(pods.begin(), pods.end(),
                                     [&](const Seated& one) { return is_task(*one.pod, judge_); });
    for (size_t n = 0; n < pods.size(); ++n) {
      const auto& [pod, index] = pods[n];
      const bool over = static_cast<int64_t>(n) >= expected;
      std::string why = why_not(*pod);
      if (over && !is_task(*pod, judge_)) {
        placed_.notes.push_back(
            fmt::format("pod {} has been replaced: {}", quote(full_name(*pod)), why));
        continue;
      }
      if (over)
        why = fmt::format("{} pods of {} run, and {} are to: its controller ends one of them",
                          tasks, quote(role.name), expected);
      out.members.push_back({pod, index, std::move(why), {}});
    }
    for (auto n = static_cast<int64_t>(pods.size()); n < expected; ++n)
      out.members.push_back({nullptr, MUSTER_UNRANKED, no_pod(), {}});
  }

  // Which one stays when some are too many: of tasks the one that the Job's controller would end last (ready, with fewer restarts,
  // made earlier), else the one that counts first.
  bool stays_before(const Pod& a, const Pod& b) const {
    if (!is_task(a, judge_) || !is_task(b, judge_)) return counts_before(a, b, judge_);
    if (a.ready != b.ready) return a.ready;
    if (a.restarts != b.restarts) return a.restarts < b.restarts;
    if (a.created != b.created) return a.created < b.created;
    return counts_before(a, b, judge_);
  }

  std::string no_pod() const {
    if (plan_.suspended) return fmt::format("no pod yet: the {} is suspended", finder_.kind);
    if (plan_.deleting) return fmt::format("no pod: the {} is being deleted", finder_.kind);
    if (!plan_.ended.empty())
      return fmt::format("no pod: the {} has ended ({})", finder_.kind, plan_.ended);
    if (attempt_ > 0) return fmt::format("no pod of attempt {} yet", attempt_);
    return "no pod yet";
  }

  const Finder& finder_;
  const std::string& name_;
  const Plan& plan_;
  const Judge& judge_;
  std::vector<Seats> seats_;  // of each role
  std::unordered_map<const Pod*, std::string>
      doubts_;  // why one that was chosen may be the wrong one
  int32_t attempt_ = 0;
  Placed placed_;
};

}  // namespace

sdk::Result<Placed> place_pods(const Finder& finder, const std::string& name, const Plan& plan,
                               const Pods& pods, const std::string& as_job, const Judge& judge) {
  return Placing(finder, name, plan, judge).place(pods, as_job);
}

}  // namespace muster::kubernetes
