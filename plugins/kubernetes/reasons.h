// Why a pod is no task, in words for the person who waits for it.
#pragma once

#include <string>

#include "plugins/kubernetes/pod.h"

namespace muster::kubernetes {

// When a pod is a task: when it is Running and has an address; when it is Ready besides; or as soon as it has an address.
enum class Require { kRunning, kReady, kAddress };

struct Judge {
  Require require = Require::kRunning;
  bool by_name = false;  // its address is a name, so it needs no IP
};

// A pod that counts as there.
bool is_task(const Pod& pod, const Judge& judge);

// "Pending since 2026-01-31T11:50:00Z: Insufficient google.com/tpu"; "" when the pod is a task. One line of at most about 300
// bytes. It names times and no ages, so that the same facts give the same words at every moment.
std::string why_missing(const Pod& pod, const Judge& judge);

}  // namespace muster::kubernetes
