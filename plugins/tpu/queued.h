// Queued resources: requests for TPUs that do not exist yet. Knows nothing of networks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/tpu/page.h"

namespace muster::tpu {

struct QueuedNode {
  std::string name, zone, type;
};

struct Queued {
  std::string name, zone;
  std::string state, error;
  std::vector<QueuedNode> nodes;  // that it is to become, in the order of slices

  bool active() const { return state == "ACTIVE"; }
  // It will not become anything any more.
  bool lost() const;
  // "queued resource 'q' is WAITING_FOR_RESOURCES: there is no capacity for it yet"
  std::string in_words() const;
};

struct QueuedPage : Page {
  std::vector<Queued> queued;
};

// One, and a page of a list, of v2 or v2alpha1. DATA_LOSS when it is none.
sdk::Result<Queued> read_queued(std::string_view json);
sdk::Result<QueuedPage> read_queued_list(std::string_view json);

}  // namespace muster::tpu
