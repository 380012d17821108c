#pragma once

#include <string>

#include "google.h"
#include "json.h"

namespace muster::sim {

// An instance as the API has it, one JSON object.
void write_instance(JsonWriter& out, const Instance& instance, const Google& world);
// A member of a group in listInstances, and of a managed one in listManagedInstances. `instance`: null when it is not there.
void write_member(JsonWriter& out, const Group& group, const GroupMember& member,
                  const Instance* instance, const Google& world);
void write_managed(JsonWriter& out, const GroupMember& member, const Instance* instance,
                   const Google& world);

// "https://www.googleapis.com/compute/v1/projects/P/" and the rest.
std::string resource_url(const Google& world, const std::string& rest);

}  // namespace muster::sim
