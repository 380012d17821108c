#include "plugins/kubernetes/members.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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

class Ranking {
 public:
  explicit Ranking(const Judge& judge) : judge_(judge) {}

  Members find(const SelectedPods& selected) {
    gather(selected);
    replace();
    replace_failed();
    rank(selected.size());
    return std::move(members_);
  }

 private:
  void gather(const SelectedPods& selected) {
    std::unordered_set<const Pod*, ByFullName, ByFullName> seen;
    std::unordered_set<std::string> ended, owners;
    const bool several = selected.size() > 1;  // one list has each pod once
    size_t all = 0;
    for (const Pods* pods : selected) all += pods->size();
    candidates_.reserve(all);
    for (size_t selector = 0; selector < selected.size(); ++selector) {
      for (const Pod& pod : *selected[selector]) {
        if (several && !seen.insert(&pod).second) continue;
        if (pod.ended_well()) {
          members_.notes.push_back(
              fmt::format("pod {} has ended well and is no member", quote(full_name(pod))));
          if (!pod.owner.empty()) ended.insert(full_owner(pod));
          continue;
        }
        candidates_.push_back({&pod, selector});
        any_index_ = any_index_ || pod.index >= 0;
        any_failed_ = any_failed_ || pod.phase == Phase::kFailed;
      }
    }
    if (ended.empty()) return;
    for (const Candidate& candidate : candidates_)
      if (!candidate.pod->owner.empty()) owners.insert(full_owner(*candidate.pod));
    // Of an earlier run they have another owner. Of this run they are members that are gone.
    for (const std::string& owner : ended)
      if (owners.count(owner) != 0)
        members_.warnings.push_back(fmt::format(
            "some pods of {} have ended well already; they are not counted", quote(owner)));
  }

  void replace() {
    if (!any_index_) return;
    std::unordered_map<PlaceKey, const Pod*, PlaceHash> best;
    size_t indexed = 0;
    for (const Candidate& candidate : candidates_) {
      if (candidate.pod->index < 0) continue;
      const Pod*& kept = best[PlaceKey(*candidate.pod)];
      ++indexed;
      if (kept == nullptr || counts_before(*candidate.pod, *kept, judge_)) kept = candidate.pod;
    }
    if (best.size() == indexed) return;
    const auto beaten = [&](const Candidate& candidate) {
      if (candidate.pod->index < 0) return false;
      const Pod* winner = best.at(PlaceKey(*candidate.pod));
      if (winner == candidate.pod) return false;
      const std::string words = fmt::format("pod {} has index {} too, and is older than {}",
                                            quote(full_name(*candidate.pod)), candidate.pod->index,
                                            quote(full_name(*winner)));
      (candidate.pod->live() ? members_.warnings : members_.notes)
          .push_back(words + "; the newer one counts");
      return true;
    };
    candidates_.erase(std::remove_if(candidates_.begin(), candidates_.end(), beaten),
                      candidates_.end());
  }

  // Without indices nothing says who replaces whom. A controller makes one new pod for each that failed, after it did: so each
  // newer pod of the same owner takes the place of one.
  void replace_failed() {
    if (!any_failed_) return;
    std::unordered_map<std::string, std::vector<const Pod*>> failed, others;
    const auto is_owned = [](const Pod& pod) { return pod.index < 0 && !pod.owner.empty(); };
    for (const Candidate& candidate : candidates_) {
      const Pod& pod = *candidate.pod;
      if (is_owned(pod) && pod.phase == Phase::kFailed && pod.ended != 0)
        failed[full_owner(pod)].push_back(&pod);
    }
    if (failed.empty()) return;
    for (const Candidate& candidate : candidates_)  // one that failed may have replaced another
      if (is_owned(*candidate.pod)) others[full_owner(*candidate.pod)].push_back(candidate.pod);
    std::unordered_set<const Pod*> replaced;
    for (auto& [owner, pods] : failed) {
      auto& newer = others[owner];
      std::sort(pods.begin(), pods.end(),
                [](const Pod* a, const Pod* b) { return a->ended < b->ended; });
      std::sort(newer.begin(), newer.end(),
                [](const Pod* a, const Pod* b) { return a->created < b->created; });
      auto next = newer.begin();
      for (const Pod* pod : pods) {
        while (next != newer.end() && (*next)->created < pod->ended) ++next;
        if (next == newer.end()) break;
        members_.notes.push_back(fmt::format("pod {} has failed, and {} is in its place",
                                             quote(full_name(*pod)), quote(full_name(**next))));
        replaced.insert(pod);
        ++next;
      }
    }
    candidates_.erase(
        std::remove_if(candidates_.begin(), candidates_.end(),
                       [&](const Candidate& c) { return replaced.count(c.pod) != 0; }),
        candidates_.end());
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
    if (!is_task(pod, judge_)) member.missing = why_missing(pod, judge_);
  }

  const Judge& judge_;
  std::vector<Candidate> candidates_;
  bool any_index_ = false, any_failed_ = false;  // of the candidates
  Members members_;
};

}  // namespace

Members find_members(const SelectedPods& selected, const Judge& judge) {
  return Ranking(judge).find(selected);
}

bool counts_before(const Pod& a, const Pod& b, const Judge& judge) {
  if (a.attempt != b.attempt) return a.attempt > b.attempt;
  const int standing_a = standing(a, judge), standing_b = standing(b, judge);
  if (standing_a != standing_b) return standing_a > standing_b;
  if (a.created != b.created) return a.created > b.created;
  return a.uid.view() > b.uid.view();
}

}  // namespace muster::kubernetes
