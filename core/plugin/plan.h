// How many requests a resolver makes, as its plugin says it (muster.plan/1).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

// Of one kind.
struct PlannedRequests {
  std::string api, request, reason;
  int64_t least = 0, most = 0;
  std::string quota;  // "": none
  int64_t quota_per_minute = 0;
};

using RequestPlan = std::vector<PlannedRequests>;

}  // namespace muster
