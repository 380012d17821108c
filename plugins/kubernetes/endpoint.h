// Where a pod is reached as a task of a job: the address and port that the options ask for. Knows nothing of networks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plugins/kubernetes/options.h"
#include "plugins/kubernetes/pod.h"

namespace muster::kubernetes {

struct Endpoint {
  std::string host;  // a name or an IP address, without brackets
  int64_t port = 0;
  std::string
      missing;  // why there is none: "no container port is called 'rpc'"; "" when there is one
};

// `domain` is the cluster's, "cluster.local"; `wanted` is that of the options, by which the pod was read.
Endpoint endpoint_of(const Pod& pod, const std::string& job, const Options& options,
                     const Wanted& wanted, std::string_view domain);

// Of two addresses the first of that family; "" when neither is.
std::string_view of_family(IpFamily family, std::string_view first, std::string_view second);

// The cluster's domain by the search list of a resolv.conf ("search ml.svc.example.org svc.example.org ..."); "" when it
// is not a pod's.
std::string cluster_domain_of(std::string_view resolv_conf);

}  // namespace muster::kubernetes
