#pragma once

#include <cstdint>
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
  // The JSON around its resourceVersion, which is the state's that it is in.
  std::string before_version, after_version;

  std::string json(std::int64_t version) const {
    return before_version + std::to_string(version) + after_version;
  }
};

// Reads one: a map with apiVersion, kind and metadata as a manifest has them. A uid that is not written
// is "uid-NAME"; a resourceVersion that is written does not count. Problems are told with their place.
void read_object(const YAML::Node& node, Problems& problems, std::vector<Object>& out);

}  // namespace muster::sim
