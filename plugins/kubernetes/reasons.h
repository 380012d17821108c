// Why a pod is no task, in words for the person who waits for it.
#pragma once

#include <cstdint>
#include <string>

#include "plugins/kubernetes/pod.h"

namespace muster::kubernetes {

// "Pending for 12m: Insufficient google.com/tpu"; "" when the pod is live. One line of at most about 300 bytes. `now` is in
// seconds since 1970; 0 when it is not known, and then no ages are told.
std::string why_missing(const Pod& pod, int64_t now);

// "45s", "12m", "3h", "9d": in the unit that leaves at least two of it, rounded down.
std::string age_in_words(int64_t seconds);

}  // namespace muster::kubernetes
