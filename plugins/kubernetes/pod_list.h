// The API server's PodList, as JSON: one page of it. Knows nothing of networks.
#pragma once

#include <string>
#include <string_view>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/json_walk.h"
#include "plugins/kubernetes/pod.h"

namespace muster::kubernetes {

// DATA_LOSS with why a page of pods, in either format, is none.
sdk::Failure list_not_understood(const std::string& why);

// Of a page that comes in no parts that can be read by themselves so much is held: a pod has some 10 KB, and 3 MiB at most.
constexpr size_t kHeldMaximum = size_t{64} << 20;
// RESOURCE_EXHAUSTED: it would be more.
sdk::Failure list_not_held();

// Reads pages; keeps its buffers from one to the next. Not thread-safe.
class PodListReader {
 public:
  // Appends the pods of a page to `list` and returns its continue token, "" on the last page. DATA_LOSS when it is no PodList, when something that is looked at has another type than Kubernetes
  // gives it, or is no JSON; `list` then holds what nobody may use. What nobody looks at is passed over by brackets.
  sdk::Result<std::string> read(std::string_view body, const Wanted& wanted, PodList& list);

 private:
  json::Walk walk_;
};

// The first words of a Status, the form of the API server's errors. Empty when `body` is none.
struct ApiStatus {
  std::string message, reason;
};
ApiStatus read_status(std::string_view body);

}  // namespace muster::kubernetes
