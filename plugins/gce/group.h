// The members of an instance group as the API tells them, and why one is no task. Knows nothing of networks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/gce/instance.h"

namespace muster::gce {

struct GroupMember {
  std::string name, zone;
  std::string status;  // "" while there is no instance
  std::string action;  // of a managed group: "NONE", "CREATING", ...
  std::string error;   // of its last attempt: "ZONE_RESOURCE_POOL_EXHAUSTED: not enough resources"
  std::string template_name, health;

  // On its way out: it does not count to the size that the group is to have.
  bool leaving() const { return action == "DELETING" || action == "ABANDONING"; }
};

struct GroupPage {
  std::vector<GroupMember> members;
  std::string next;
};

// The `fields` of listManagedInstances and of listInstances.
extern const char* const kManagedFields;
extern const char* const kMemberFields;

// A page of listManagedInstances (`managed`) or listInstances. DATA_LOSS when it is none.
sdk::Result<GroupPage> read_group(std::string_view json, bool managed);

// The port of that name in an answer with namedPorts; 0 when there is none, and then `known` has the names that there are. DATA_LOSS when it is none.
sdk::Result<int64_t> named_port(std::string_view json, const std::string& name, std::string& known);

// "being created: ZONE_RESOURCE_POOL_EXHAUSTED: ..."; "" when the member is a task. `instance` is null when it was not in the list of
// instances.
std::string why_missing(const GroupMember& member, const Instance* instance);
// The same of an instance that is a member by a filter.
std::string why_missing(const Instance& instance);

}  // namespace muster::gce
