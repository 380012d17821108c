#include "plugins/kubernetes/followed_pods.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "plugins/kubernetes/pod_texts.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

// Texts that no pod has any longer may be an eighth of all, or this much. Copying what is left costs each event less than
// reading it.
constexpr size_t kGarbageMinimum = 128 << 10;

size_t with_garbage(size_t bytes) { return bytes + std::max(bytes / 8, kGarbageMinimum); }

}  // namespace

void FollowedPods::reset(PodList list) {
  list_ = std::move(list);
  let_go_at_ = with_garbage(text_bytes());
  sort();
}

void FollowedPods::put(const Pod& pod) {
  const auto [at, added] = places_.try_emplace(full_name(pod), list_.pods.size());
  if (added) list_.pods.emplace_back();
  sorted_ = sorted_ && !added;
  Pod& place = list_.pods[at->second];
  place = copy_pod(pod, added ? nullptr : &place, annotation_count_, list_.texts);
  if (text_bytes() > let_go_at_) let_go();
}

bool FollowedPods::remove(const Pod& pod) {
  const auto at = places_.find(full_name(pod));
  if (at == places_.end()) return false;
  // The last one takes its place: of many that go at once each costs the same.
  const size_t place = at->second;
  places_.erase(at);
  if (place + 1 != list_.pods.size()) {
    list_.pods[place] = list_.pods.back();
    places_[full_name(list_.pods[place])] = place;
    sorted_ = false;
  }
  list_.pods.pop_back();
  return true;
}

void FollowedPods::let_go() {
  TextArena kept;
  for (Pod& pod : list_.pods) pod = copy_pod(pod, nullptr, annotation_count_, kept);
  list_.texts = std::move(kept);
  let_go_at_ = with_garbage(text_bytes());
}

void FollowedPods::sort() {
  std::vector<const Pod*> order;
  order.reserve(list_.pods.size());
  for (const Pod& pod : list_.pods) order.push_back(&pod);
  std::sort(order.begin(), order.end(), [](const Pod* a, const Pod* b) {
    return support::natural_compare(a->name, b->name) < 0;
  });
  Pods sorted;
  sorted.reserve(order.size());
  places_.clear();
  for (const Pod* pod : order)
    if (places_.emplace(full_name(*pod), sorted.size()).second) sorted.push_back(*pod);
  list_.pods = std::move(sorted);
  sorted_ = true;
}

const Pods& FollowedPods::pods() {
  if (!sorted_) sort();
  return list_.pods;
}

}  // namespace muster::kubernetes
