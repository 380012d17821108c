// Telling the core what was found.
#pragma once

#include <string>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/members.h"
#include "plugins/kubernetes/options.h"

namespace muster::kubernetes {

// Pushes the jobs with their tasks and missing members, each where the options' address and port say, then their notes
// and warnings. `domain` is the cluster's. A task that has no such address or port is missing with that reason.
void push_jobs(const std::vector<JobMembers>& jobs, const Options& options, const Wanted& wanted,
               const std::string& domain, sdk::Call& call);

// The domain of cluster-internal names: the option, else by /etc/resolv.conf, else "cluster.local". Reads nothing unless
// the options want DNS names.
std::string find_cluster_domain(const Options& options, const sdk::Call& call);

}  // namespace muster::kubernetes
