#pragma once

#include <string>
#include <vector>

#include "selector.h"
#include "yaml_reader.h"

namespace muster::sim {

// An object of any kind, served as the scenario writes it.
struct Object {
  std::string api;       // its group and version below the server: "/apis/batch/v1", "/api/v1"
  std::string group;     // "batch", "" for the core
  std::string resource;  // "jobs"
  std::string api_version, kind;
  std::string name_space, name;
  Labels labels;
  std::string json;
};

// Reads one: a map with apiVersion, kind and metadata as a manifest has them. A uid and a resourceVersion that are not
// written are "uid-NAME" and "1". Problems are told with their place.
void read_object(const YAML::Node& node, Problems& problems, std::vector<Object>& out);

}  // namespace muster::sim
