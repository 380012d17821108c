// The pods of one selector, kept up to date by events. Knows nothing of networks.
#pragma once

#include <string>
#include <unordered_map>

#include "plugins/kubernetes/pod.h"

namespace muster::kubernetes {

// Takes as much memory as its pods need, however many events there were: a text that did not change is kept, and what no pod
// has any longer is let go from time to time.
class FollowedPods {
 public:
  // `annotation_count`: of each pod, as in Wanted.
  explicit FollowedPods(size_t annotation_count) : annotation_count_(annotation_count) {}

  // These and no others.
  void reset(PodList list);
  // A pod that is new or has changed; its texts may be anywhere.
  void put(const Pod& pod);
  // Whether it was there.
  bool remove(const Pod& pod);

  // In natural order of name, as the core ranks: it need not sort them again. Good until one of the above.
  const Pods& pods();

  // Of the texts, with those that are to be let go.
  size_t text_bytes() const { return list_.texts.size(); }

 private:
  void sort();
  void let_go();

  const size_t annotation_count_;
  PodList list_;
  std::unordered_map<std::string, size_t> places_;  // of the pods, by full name
  bool sorted_ = false;
  size_t let_go_at_ = 0;  // bytes of texts
};

}  // namespace muster::kubernetes
