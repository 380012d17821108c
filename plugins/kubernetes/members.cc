#include "plugins/kubernetes/members.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "plugins/kubernetes/reasons.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::natural_compare;
using support::quote;

struct Candidate {
  const Pod* pod;
  size_t selector;
};

// Among pods for one place: the higher, the more it is the one that counts.
int standing(const Pod& pod, const Judge& judge) {
  if (is_task(pod, judge)) return 4;
  if (pod.live()) return 3;
  if (pod.phase == Phase::kFailed) return 0;
  return pod.deleted == 0 ? 2 : 1;
}

// Pods of the same key are one another's replacements.
struct PlaceKey {
  explicit PlaceKey(const Pod& pod)
      : name_space(pod.name_space),
        owner(pod.owner),
        role(pod.role),
        group(pod.group),
        index(pod.index) {}
  bool operator==(const PlaceKey&) const = default;

  Text name_space, owner, role;
  int32_t group, index;
};
struct PlaceHash {
  size_t operator()(const PlaceKey& key) const {
    // Owners are few, and mostly one.
    return std::hash<std::string_view>()(key.owner) ^
           static_cast<size_t>((uint64_t{static_cast<uint32_t>(key.group)} << 32 |
                                static_cast<uint32_t>(key.index)) *
                               0x9e3779b97f4a7c15u);
  }
};

std::string full_owner(const Pod& pod) {
  return fmt::format("{}/{}", pod.name_space.view(), pod.owner.view());
}

// Pods without indices of which one may stand in for another: of one object, and of one kind of member.
using SiblingKey =
    std::tuple<std::string_view, std::string_view, std::string_view, std::string_view, int32_t>;
SiblingKey siblings_of(const Pod& pod) {
  return {pod.name_space, pod.owner, pod.owner_uid, pod.role, pod.group};
}

// The pods that a restart replaces all at once: those of one JobSet, or, where none says its uid, of one owner's name.
std::string run_of(const Pod& pod) {
  return pod.set_uid.empty() ? full_owner(pod) : pod.set_uid.string();
}

bool by_name(const Pod* a, const Pod* b) {
  return std::pair(a->name_space.view(), a->name.view()) <
         std::pair(b->name_space.view(), b->name.view());
}

class Ranking {
 public:
  explicit Ranking(const Judge& judge) : judge_(judge) {}

  Members find(const SelectedPods& selected) {
    gather(selected);
    pass_over_ended_indices();
    replace();
    replace_failed();
    rank(selected.size());
    return std::move(members_);
  }

 private:
  void gather(const SelectedPods& selected) {
    std::unordered_set<const Pod*, ByFullName, ByFullName> seen;
    const bool several = selected.size() > 1;  // one list has each pod once
    size_t all = 0;
    for (const Pods* pods : selected) all += pods->size();
    candidates_.reserve(all);
    for (size_t selector = 0; selector < selected.size(); ++selector) {
      for (const Pod& pod : *selected[selector]) {
        if (several && !seen.insert(&pod).second) continue;
        if (pod.attempt > 0) {
          int32_t& latest = latest_attempts_[run_of(pod)];
          latest = std::max(latest, pod.attempt);
        }
        if (pod.ended_well()) {
          members_.notes.push_back(
              fmt::format("pod {} has ended well and is no member", quote(full_name(pod))));
          ended_well_.push_back(&pod);
          continue;
        }
        candidates_.push_back({&pod, selector});
        any_index_ = any_index_ || pod.index >= 0;
        any_failed_ = any_failed_ || pod.phase == Phase::kFailed;
      }
    }
    warn_of_ended();
  }

  // Of an earlier run they have another owner. Of this run they are members that are gone.
  void warn_of_ended() {
    std::set<std::string> ended, owners;
    for (const Pod* pod : ended_well_)
      if (!pod->owner.empty()) ended.insert(full_owner(*pod));
    if (ended.empty()) return;
    for (const Candidate& candidate : candidates_)
      if (!candidate.pod->owner.empty()) owners.insert(full_owner(*candidate.pod));
    for (const std::string& owner : ended)
      if (owners.count(owner) != 0)
        members_.warnings.push_back(fmt::format(
            "some pods of {} have ended well already; they are not counted", quote(owner)));
  }

  template <typename IsOut>
  void remove_if(const IsOut& is_out) {
    candidates_.erase(std::remove_if(candidates_.begin(), candidates_.end(),
                                     [&](const Candidate& c) { return is_out(*c.pod); }),
                      candidates_.end());
  }

  // An index whose pod failed, and which a later pod of the same object has brought to a good end, has ended well too.
  void pass_over_ended_indices() {
    if (!any_index_ || !any_failed_) return;
    std::unordered_map<PlaceKey, std::vector<const Pod*>, PlaceHash> ended;
    for (const Pod* pod : ended_well_)
      if (pod->index >= 0) ended[PlaceKey(*pod)].push_back(pod);
    if (ended.empty()) return;
    remove_if([&](const Pod& pod) {
      if (pod.index < 0 || pod.phase != Phase::kFailed) return false;
      const auto at = ended.find(PlaceKey(pod));
      if (at == ended.end()) return false;
      const auto later = std::find_if(at->second.begin(), at->second.end(), [&](const Pod* other) {
        return other->owner_uid == pod.owner_uid && other->attempt >= pod.attempt &&
               other->created > pod.created;
      });
      if (later == at->second.end()) return false;
      members_.notes.push_back(
          fmt::format("pod {} has failed, and {} has ended index {} well after it",
                      quote(full_name(pod)), quote(full_name(**later)), pod.index));
      return true;
    });
  }

  void replace() {
    if (!any_index_) return;
    std::unordered_map<PlaceKey, const Pod*, PlaceHash> first;
    // Of places that several pods have, in the order in which they are found.
    std::unordered_map<PlaceKey, size_t, PlaceHash> numbers;
    std::vector<std::vector<const Pod*>> contested;
    for (const Candidate& candidate : candidates_) {
      const Pod& pod = *candidate.pod;
      if (pod.index < 0) continue;
      const auto [at, added] = first.try_emplace(PlaceKey(pod), &pod);
      if (added) continue;
      const auto [number, second] = numbers.try_emplace(at->first, contested.size());
      if (second) contested.push_back({at->second});
      contested[number->second].push_back(&pod);
    }
    if (contested.empty()) return;
    std::unordered_set<const Pod*> beaten;
    for (const std::vector<const Pod*>& pods : contested) {
      Choice choice = choose(pods, judge_);
      for (const auto& [loser, why] : choice.others) {
        beaten.insert(loser);
        (loser->live() ? members_.warnings : members_.notes)
            .push_back(fmt::format("pods {} and {} have index {}; {} counts: {}",
                                   quote(full_name(*loser)), quote(full_name(*choice.pod)),
                                   choice.pod->index, quote(full_name(*choice.pod)), why));
      }
      if (!choice.doubt.empty()) doubts_.emplace(choice.pod, std::move(choice.doubt));
    }
    remove_if([&](const Pod& pod) { return beaten.count(&pod) != 0; });
  }

  // Without indices nothing says who replaces whom. A controller makes one new pod for each that failed, after it did: so each
  // sibling that was made in a later second than one failed takes the place of one. One made in the same second may have been
  // made before, and a pod that nobody knows when it failed is replaced by none.
  void replace_failed() {
    if (!any_failed_) return;
    const auto has_siblings = [](const Pod& pod) { return pod.index < 0 && !pod.owner.empty(); };
    std::map<SiblingKey, std::vector<const Pod*>> failed, others;
    for (const Candidate& candidate : candidates_) {
      const Pod& pod = *candidate.pod;
      if (has_siblings(pod) && pod.phase == Phase::kFailed && pod.end() != 0)
        failed[siblings_of(pod)].push_back(&pod);
    }
    if (failed.empty()) return;
    // One that failed, or ended well, may have replaced another.
    for (const Candidate& candidate : candidates_)
      if (has_siblings(*candidate.pod))
        others[siblings_of(*candidate.pod)].push_back(candidate.pod);
    for (const Pod* pod : ended_well_)
      if (has_siblings(*pod)) others[siblings_of(*pod)].push_back(pod);
    std::unordered_set<const Pod*> replaced;
    for (auto& [key, pods] : failed) {
      auto& later = others[key];
      std::sort(pods.begin(), pods.end(), [](const Pod* a, const Pod* b) {
        return a->end() != b->end() ? a->end() < b->end() : by_name(a, b);
      });
      std::sort(later.begin(), later.end(), [](const Pod* a, const Pod* b) {
        return a->created != b->created ? a->created < b->created : by_name(a, b);
      });
      auto next = later.begin();
      for (const Pod* pod : pods) {
        // A pod's own making is never after its end, so it does not replace itself.
        while (next != later.end() && (*next)->created <= pod->end()) ++next;
        if (next == later.end()) break;
        members_.notes.push_back(fmt::format("pod {} has failed, and {} is in its place",
                                             quote(full_name(*pod)), quote(full_name(**next))));
        replaced.insert(pod);
        ++next;
      }
    }
    remove_if([&](const Pod& pod) { return replaced.count(&pod) != 0; });
  }

  // The platform's own index over the whole job, or -1.
  static int64_t platform_index(const Pod& pod) {
    if (pod.group >= 0 && pod.group_size > 0 && pod.index >= 0 && pod.index < pod.group_size &&
        pod.group <= 2147483647 / pod.group_size - 1)
      return int64_t{pod.group} * pod.group_size + pod.index;
    return pod.index;
  }

  void rank(size_t selectors) {
    members_.members.reserve(candidates_.size());
    const bool all = std::all_of(candidates_.begin(), candidates_.end(), [](const Candidate& one) {
      return platform_index(*one.pod) >= 0;
    });
    if (selectors <= 1 && !all) {  // by the core, in natural order of name
      for (const Candidate& candidate : candidates_) add(*candidate.pod, MUSTER_UNRANKED);
      return;
    }
    std::unordered_set<int64_t> seen;
    const bool unique = std::all_of(
        candidates_.begin(), candidates_.end(),
        [&](const Candidate& one) { return seen.insert(platform_index(*one.pod)).second; });
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
      if (a.selector != b.selector) return a.selector < b.selector;
      const Pod &x = *a.pod, &y = *b.pod;
      if (x.global_group != y.global_group) return x.global_group < y.global_group;
      if (!(x.role == y.role)) return natural_compare(x.role, y.role) < 0;
      if (x.group != y.group) return x.group < y.group;
      if (x.index != y.index) return x.index < y.index;
      if (const int order = natural_compare(x.name, y.name); order != 0) return order < 0;
      return x.name_space.view() < y.name_space.view();
    });
    const bool keep = selectors <= 1 && unique;
    int64_t next = 0;
    for (const Candidate& candidate : candidates_) {
      add(*candidate.pod, keep ? platform_index(*candidate.pod) : next);
      ++next;
    }
  }

  void add(const Pod& pod, int64_t index) {
    Member& member = members_.members.emplace_back();
    member.pod = &pod;
    member.index = index;
    if (!is_task(pod, judge_)) {
      member.missing = why_missing(pod, judge_);
    } else if (const auto doubt = doubts_.find(&pod); doubt != doubts_.end()) {
      member.missing = doubt->second;
    } else if (!latest_attempts_.empty()) {
      member.missing = of_attempt_before(pod);
    }
  }

  // "" for a pod of the latest attempt.
  std::string of_attempt_before(const Pod& pod) const {
    const auto latest = latest_attempts_.find(run_of(pod));
    if (latest == latest_attempts_.end() || pod.attempt >= latest->second) return "";
    return fmt::format("it is of attempt {}, and attempt {} has begun", pod.attempt,
                       latest->second);
  }

  const Judge& judge_;
  std::vector<Candidate> candidates_;
  std::vector<const Pod*> ended_well_;
  bool any_index_ = false, any_failed_ = false;     // of the candidates
  std::map<std::string, int32_t> latest_attempts_;  // of each run; without those that had one only
  std::unordered_map<const Pod*, std::string>
      doubts_;  // why one that was chosen may be the wrong one
  Members members_;
};

}  // namespace

Members find_members(const SelectedPods& selected, const Judge& judge) {
  return Ranking(judge).find(selected);
}

bool counts_before(const Pod& a, const Pod& b, const Judge& judge) {
  const int standing_a = standing(a, judge), standing_b = standing(b, judge);
  if (standing_a != standing_b) return standing_a > standing_b;
  if (a.created != b.created) return a.created > b.created;
  return by_name(&a, &b);
}

namespace {

// Why a pod of a higher standing counts.
std::string standing_in_words(const Pod& other) {
  if (other.phase == Phase::kFailed) return "the other one has failed";
  if (other.deleted != 0) return "the other one is being deleted";
  return other.live() ? "it is ready" : "the other one does not run";
}

}  // namespace

Choice choose(std::vector<const Pod*> pods, const Judge& judge) {
  // Two objects of one name are one after the other, and the later one's pods were made later.
  std::map<std::pair<int32_t, std::string_view>, int64_t>
      made;  // an object's last pod, of each attempt
  const auto made_of = [&](const Pod* pod) -> int64_t& {
    return made[{pod->attempt, pod->owner_uid.view()}];
  };
  for (const Pod* pod : pods) made_of(pod) = std::max(made_of(pod), pod->created);
  std::sort(pods.begin(), pods.end(), [&](const Pod* a, const Pod* b) {
    if (a->attempt != b->attempt) return a->attempt > b->attempt;
    if (made_of(a) != made_of(b)) return made_of(a) > made_of(b);
    return counts_before(*a, *b, judge);
  });
  Choice choice;
  const Pod* one = choice.pod = pods.front();
  for (size_t n = 1; n < pods.size(); ++n) {
    const Pod* other = pods[n];
    std::string why = "both were made in one second, and one is taken";
    const bool of_another = !(other->owner_uid == one->owner_uid);
    bool told_apart = true;
    if (other->attempt != one->attempt) {
      why = fmt::format("attempt {} has begun", one->attempt);
    } else if (made_of(other) != made_of(one)) {
      why = "it is of the object that was made later";
    } else if (standing(*other, judge) != standing(*one, judge)) {
      why = standing_in_words(*other);
      told_apart = !of_another || other->deleted != 0;
    } else if (other->created != one->created) {
      why = "it was made later";
    } else {
      told_apart = false;
    }
    if (!told_apart && choice.doubt.empty())
      choice.doubt = fmt::format("pod {} has its place too, and nothing tells which one counts",
                                 quote(full_name(*other)));
    choice.others.emplace_back(other, std::move(why));
  }
  return choice;
}

}  // namespace muster::kubernetes
