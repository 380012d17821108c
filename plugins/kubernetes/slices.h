// The EndpointSlices of a Service, as JSON. Knows nothing of networks.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/pod.h"

namespace muster::kubernetes {

struct ServiceEndpoints {
  // One for each endpoint, however many slices it stands in (one for each address family, and two for a moment): what its
  // slices know of the pod behind it. Its phase is Running, for slices have none; its ports are the slices'.
  PodList pods;
  std::set<std::string> ports;  // names of all ports; "" for one without a name
};

// Reads an EndpointSliceList. DATA_LOSS when the JSON is none.
sdk::Result<ServiceEndpoints> read_slices(std::string_view json);

}  // namespace muster::kubernetes
