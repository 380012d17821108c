// From what the API told to the members of the answer: which there are, in which order, and why one is missing. Knows nothing of
// networks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/gce/group.h"
#include "plugins/gce/instance.h"
#include "plugins/gce/options.h"

namespace muster::gce {

struct Member {
  std::string name, zone;
  int64_t index = MUSTER_UNRANKED;
  std::optional<Instance> instance;  // none when there is none, or it is not known
  std::string missing;               // why it is no task; "" when it is
  std::string template_name, health;
  std::string maintenance;  // what its metadata server says is coming; "" for nothing
};

struct Members {
  std::vector<Member> members;
  std::optional<int64_t> expected;  // how many the group is to have
};

// The zones in which members stand whose address must be asked for, without repetition.
std::vector<std::string> zones_to_ask(const std::vector<GroupMember>& group);

// Joins a group with the instances of its zones. ALREADY_EXISTS when two claim one rank.
sdk::Result<Members> join(const std::vector<GroupMember>& group, std::vector<Instance> instances,
                          const Options& options);

// The members by a filter: all of them but those that lack the tag.
sdk::Result<Members> select(std::vector<Instance> instances, const Options& options);

}  // namespace muster::gce
