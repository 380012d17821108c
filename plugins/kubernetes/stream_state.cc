#include "plugins/kubernetes/stream_state.h"

#include <algorithm>

namespace muster::kubernetes {

int64_t StreamState::pause(int nth) {
  const int64_t longest = std::min(kFirstDelay_ns << std::min(nth - 1, 5), kMaxDelay_ns);
  return longest - static_cast<int64_t>(random_() % static_cast<uint64_t>(longest / 2));
}

int64_t StreamState::silence_end() const {
  if (doubtful_) return began_ns_ + std::min(kProofTimeout_ns, silence_ns_);
  return proved_ns_ + silence_ns_;
}

int64_t StreamState::due_ns() const {
  if (!streams_) return due_ns_;
  const bool may_become_quiet = name_ == Name::kConnecting || name_ == Name::kLive;
  return may_become_quiet ? std::min(silence_end(), word_ns_ + kQuietPeriod_ns) : silence_end();
}

void StreamState::hold() {
  streams_ = false;
  due_ns_ = kNever;
}

void StreamState::list_again(int64_t now_ns) {
  streams_ = false;
  list_ = true;
  name_ = Name::kListing;
  due_ns_ = now_ns;
}

void StreamState::listed(int64_t now_ns) {
  list_ = false;
  name_ = Name::kListing;
  listed_ns_ = proved_ns_ = now_ns;
  doubtful_ = progressed_ = false;
  first_failure_ns_ = 0;
  due_ns_ = now_ns;
}

void StreamState::gone(int64_t now_ns) {
  listed(now_ns);
  name_ = Name::kGone;
}

void StreamState::began(int64_t now_ns) {
  streams_ = true;
  began_ns_ = word_ns_ = now_ns;
  new_ = false;
  if (name_ != Name::kGone) name_ = Name::kConnecting;
}

void StreamState::heard(int64_t now_ns, bool progressed, bool changed) {
  word_ns_ = now_ns;
  if (name_ != Name::kGone || changed) name_ = Name::kLive;
  if (!progressed) return;
  new_ = progressed_ = true;
  proved_ns_ = now_ns;
  doubtful_ = false;
  failures_ = 0;
  first_failure_ns_ = 0;
}

StreamState::Silence StreamState::look(int64_t now_ns) {
  if (now_ns >= silence_end()) {
    // Where a whole cluster fell silent many come at once; after a failure they do not.
    list_again(now_ns + (doubtful_ ? 0 : kFirstDelay_ns - pause(1)));
    return Silence::kTooLong;
  }
  const bool may_become_quiet = name_ == Name::kConnecting || name_ == Name::kLive;
  if (!may_become_quiet || now_ns < word_ns_ + kQuietPeriod_ns) return Silence::kBearable;
  name_ = Name::kQuiet;
  return Silence::kQuiet;
}

// A stream that was well is followed by another one, which goes on where it was.
bool StreamState::go_on(int64_t now_ns) {
  failures_ = 0;
  first_failure_ns_ = 0;
  due_ns_ = std::max(now_ns, began_ns_ + pause(1));
  return true;
}

bool StreamState::fail(int64_t now_ns, int64_t at_least_ns) {
  const bool waits = name_ == Name::kGone;
  if (failures_++ == 0 || first_failure_ns_ == 0) first_failure_ns_ = now_ns;
  doubtful_ = true;
  due_ns_ = now_ns + std::max(pause(failures_), at_least_ns);
  // That it is not there has been told already; it is looked for by lists.
  if (waits) {
    list_ = true;
    return true;
  }
  name_ = Name::kFailing;
  return failures_ < kFailuresMaximum && due_ns_ - first_failure_ns_ < kFailingTimeout_ns;
}

bool StreamState::ended(End end, int64_t now_ns, int64_t at_least_ns) {
  streams_ = false;
  const bool lived = now_ns - began_ns_ >= kMoment_ns;
  if (end == End::kForgotten || end == End::kOutgrown) {
    list_ = true;
    // A list whose version is forgotten at once may be so again.
    if (end == End::kForgotten && !progressed_ && now_ns - listed_ns_ < kFailingTimeout_ns)
      return fail(now_ns, at_least_ns);
    name_ = Name::kListing;
    due_ns_ = std::max(now_ns, listed_ns_ + pause(1));
    return true;
  }
  if (end == End::kRefused) return fail(now_ns, at_least_ns);
  if (new_) return go_on(now_ns);
  if (end == End::kWhole) {
    if (!lived) return fail(now_ns, at_least_ns);
    proved_ns_ = now_ns;
    doubtful_ = false;
    return go_on(now_ns);
  }
  // Broken after a while without a word: what is between resets what is idle. The silence goes on.
  if (!lived || doubtful_) return fail(now_ns, at_least_ns);
  return go_on(now_ns);
}

}  // namespace muster::kubernetes
