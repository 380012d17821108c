#pragma once

#include <map>
#include <string>

#include "google.h"

namespace muster::sim {

// A node as this version of the API ("v1", "v2", "v2alpha1") has it.
std::string node_json(const Google& world, const TpuNode& node, const std::string& version);
// A queued resource; v2alpha1 names its parts otherwise.
std::string queued_json(const Google& world, const QueuedResource& queued,
                        const std::string& version);

// What a VM of the node finds among the attributes of its metadata server.
std::map<std::string, std::string> tpu_attributes(const Google& world, const TpuNode& node);

}  // namespace muster::sim
