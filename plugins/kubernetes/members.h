// From pods to members: which pods count, in which order, and why one is missing. Knows nothing of networks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/pod.h"
#include "plugins/kubernetes/reasons.h"

namespace muster::kubernetes {

// The pods of one job, by selector in the order of the selectors.
using SelectedPods = std::vector<const Pods*>;

// A text that most members do not have, for the price of a pointer.
class RareText {
 public:
  RareText() = default;
  RareText(std::string text)
      : at_(text.empty() ? nullptr : std::make_unique<const std::string>(std::move(text))) {}
  std::string_view view() const { return at_ == nullptr ? std::string_view() : *at_; }
  operator std::string_view() const { return view(); }
  bool empty() const { return at_ == nullptr; }

 private:
  std::unique_ptr<const std::string> at_;
};

struct Member {
  const Pod* pod = nullptr;  // null: no pod has this place yet
  int64_t index = MUSTER_UNRANKED;
  RareText missing;  // why it cannot be a task yet; "" when it is one
  RareText place;    // without a pod: what it will be called, or ""
};

struct Members {
  std::vector<Member> members;        // by index when they are ranked
  std::vector<std::string> warnings;  // for the user
  std::vector<std::string> notes;     // for the log
};

// A job with its members.
struct JobMembers {
  std::string job;
  Members found;
  std::optional<int64_t> expected = {};  // how many it is to have, where somebody says it
  bool in_cluster = true;  // false: processes beside the cluster, known for identity alone
};

// Picks and ranks the members of a job by selectors; README.md has the rules. A pod counts once, however many selectors
// it matches; pods that ended well do not count; of several pods for one index the one that `choose` takes does, and a failed
// one without index does not once another pod was made in its place.
Members find_members(const SelectedPods& selected, const Judge& judge);

// Among pods for one place.
struct Choice {
  const Pod* pod = nullptr;  // the one that counts
  // Why it cannot be told from another one, so that the place is missing all the same; "" when it can.
  std::string doubt;
  // Each of the others, and why the one counts instead: "it was made later".
  std::vector<std::pair<const Pod*, std::string>> others;
};

// Of several pods for one place the one of the latest attempt counts; of these the one of the object that was made last; of these one
// that is a task, then one that lives, then one that has not failed; then the one that was made last. The order in which
// they are given says nothing.
Choice choose(std::vector<const Pod*> pods, const Judge& judge);

// Among pods of one object and attempt that have no places of their own: does `a` fill one rather than `b`? As above.
bool counts_before(const Pod& a, const Pod& b, const Judge& judge);

}  // namespace muster::kubernetes
