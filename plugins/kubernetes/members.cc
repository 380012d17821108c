#include "plugins/kubernetes/members.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::natural_compare;
using support::quote;

constexpr size_t kReasonMaximum = 300;

struct Candidate {
  const Pod* pod;
  size_t selector;
};

// One line of at most kReasonMaximum bytes.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::replace(text.begin(), text.end(), '\r', ' ');
  if (text.size() <= kReasonMaximum) return text;
  size_t end = kReasonMaximum;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

// Why a pod is no task yet, in words; "" when it is one.
std::string why_missing(const Pod& pod) {
  if (pod.live()) return "";
  if (!pod.deleted.empty()) return fmt::format("being deleted since {}", pod.deleted);
  std::string said;
  if (pod.phase == "Failed") {
    said = pod.reason.empty() ? pod.terminated : pod.reason;
    if (!pod.message.empty()) said += (said.empty() ? "" : ": ") + pod.message;
  } else if (pod.phase == "Running") {
    return "Running, but it has no IP address yet";
  } else if (!pod.unschedulable.empty()) {
    said = pod.unschedulable;
  } else if (!pod.waiting.empty()) {
    said = pod.waiting;
  } else if (!pod.reason.empty()) {
    said = pod.message.empty() ? pod.reason : pod.reason + ": " + pod.message;
  } else if (pod.phase == "Pending") {
    said = pod.node.empty() ? "not scheduled yet" : fmt::format("starting on {}", pod.node);
  }
  return one_line(said.empty() ? pod.phase : fmt::format("{}: {}", pod.phase, said));
}

// Among pods for one index: the higher, the more it is the one that counts.
int standing(const Pod& pod) {
  if (pod.live()) return 3;
  if (pod.phase == "Failed") return 0;
  return pod.deleted.empty() ? 2 : 1;
}

bool counts_before(const Pod& a, const Pod& b) {
  if (standing(a) != standing(b)) return standing(a) > standing(b);
  if (a.created != b.created) return a.created > b.created;
  return a.uid > b.uid;
}

// Pods of the same key are one another's replacements.
std::string place_key(const Pod& pod) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", pod.name_space, pod.owner, pod.role, pod.group,
                     pod.index);
}

class Finder {
 public:
  Members find(const SelectedPods& selected) {
    gather(selected);
    replace();
    rank(selected.size());
    say_shared_addresses();
    return std::move(members_);
  }

 private:
  void gather(const SelectedPods& selected) {
    std::unordered_set<std::string> seen, ended, owners;
    for (size_t selector = 0; selector < selected.size(); ++selector) {
      for (const Pod& pod : *selected[selector]) {
        if (!seen.insert(full_name(pod)).second) continue;
        if (pod.ended_well()) {
          members_.notes.push_back(
              fmt::format("pod {} has ended well and is no member", quote(full_name(pod))));
          if (!pod.owner.empty()) ended.insert(pod.name_space + "/" + pod.owner);
          continue;
        }
        if (!pod.owner.empty()) owners.insert(pod.name_space + "/" + pod.owner);
        candidates_.push_back({&pod, selector});
      }
    }
    // Of an earlier run they have another owner. Of this run they are members that are gone.
    for (const std::string& owner : ended)
      if (owners.count(owner) != 0)
        members_.warnings.push_back(fmt::format(
            "some pods of {} have ended well already; they are not counted", quote(owner)));
  }

  void replace() {
    std::unordered_map<std::string, const Pod*> best;
    for (const Candidate& candidate : candidates_) {
      if (candidate.pod->index < 0) continue;
      const Pod*& kept = best[place_key(*candidate.pod)];
      if (kept == nullptr || counts_before(*candidate.pod, *kept)) kept = candidate.pod;
    }
    const auto beaten = [&](const Candidate& candidate) {
      if (candidate.pod->index < 0) return false;
      const Pod* winner = best.at(place_key(*candidate.pod));
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

  // The platform's own index over the whole job, or -1.
  static int64_t platform_index(const Pod& pod) {
    if (pod.group >= 0 && pod.group_size > 0 && pod.index >= 0 && pod.index < pod.group_size &&
        pod.group <= 2147483647 / pod.group_size - 1)
      return pod.group * pod.group_size + pod.index;
    return pod.index;
  }

  void rank(size_t selectors) {
    bool all = true, unique = true;
    std::set<int64_t> seen;
    for (const Candidate& candidate : candidates_) {
      const int64_t index = platform_index(*candidate.pod);
      all = all && index >= 0;
      unique = unique && seen.insert(index).second;
    }
    if (selectors <= 1 && !all) {  // by the core, in natural order of name
      for (const Candidate& candidate : candidates_) add(*candidate.pod, MUSTER_UNRANKED);
      return;
    }
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
      if (a.selector != b.selector) return a.selector < b.selector;
      const Pod &x = *a.pod, &y = *b.pod;
      if (x.role != y.role) return natural_compare(x.role, y.role) < 0;
      if (x.group != y.group) return x.group < y.group;
      if (x.index != y.index) return x.index < y.index;
      if (const int order = natural_compare(x.name, y.name); order != 0) return order < 0;
      return x.name_space < y.name_space;
    });
    const bool keep = selectors <= 1 && unique;
    int64_t next = 0;
    for (const Candidate& candidate : candidates_) {
      add(*candidate.pod, keep ? platform_index(*candidate.pod) : next);
      ++next;
    }
  }

  void add(const Pod& pod, int64_t index) {
    members_.members.push_back({&pod, index, why_missing(pod)});
  }

  void say_shared_addresses() {
    std::unordered_map<std::string_view, const Pod*> owners;
    for (const Member& member : members_.members) {
      if (!member.missing.empty()) continue;
      const auto [at, added] = owners.emplace(member.pod->ip, member.pod);
      if (!added)
        members_.warnings.push_back(fmt::format(
            "pods {} and {} have one address {} (hostNetwork on one node); with one "
            "port they cannot both be reached",
            quote(full_name(*at->second)), quote(full_name(*member.pod)), quote(member.pod->ip)));
    }
  }

  std::vector<Candidate> candidates_;
  Members members_;
};

}  // namespace

Members find_members(const SelectedPods& selected) { return Finder().find(selected); }

std::string full_name(const Pod& pod) {
  return pod.name_space.empty() ? pod.name : pod.name_space + "/" + pod.name;
}

}  // namespace muster::kubernetes
