// Why a pod is no task, in words for the person who waits for it.
#pragma once

#include <cstdint>
#include <string>

#include "plugins/kubernetes/pod.h"

namespace muster::kubernetes {

// When a pod is a task: when it is Running and has an address; when it is Ready besides; or as soon as it has an address.
enum class Require { kRunning, kReady, kAddress };

struct Judge {
  int64_t now = 0;  // seconds since 1970; 0 when it is not known, and then no ages are told
  Require require = Require::kRunning;
  bool by_name = false;  // its address is a name, so it needs no IP
};

// A pod that counts as there.
bool is_task(const Pod& pod, const Judge& judge);

// "Pending, 12m old: Insufficient google.com/tpu"; "" when the pod is a task. One line of at most about 300 bytes.
std::string why_missing(const Pod& pod, const Judge& judge);

// "45s", "12m", "3h", "9d": in the unit that leaves at least two of it, rounded down.
std::string age_in_words(int64_t seconds);

}  // namespace muster::kubernetes
