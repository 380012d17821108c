// The options of the static backend, as they are after create.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/plugin.hpp>

namespace muster::static_backend {

struct ListedTask {
  int64_t index = 0;
  std::string address;
};

struct ListedJob {
  std::string name;
  std::vector<ListedTask> tasks;
};

struct Options {
  std::vector<ListedJob> jobs;      // of cluster_spec
  std::optional<std::string> file;  // instead of it
  std::optional<std::string> master;
  std::optional<std::string> task_type;
  int64_t task_id = 0;  // meant when task_type is there
  std::string environment;
  std::optional<std::string> rpc_layer;
  // Attributes of each task: accelerator.type and .count, or accelerator.count.TYPE when there are several.
  std::vector<std::pair<std::string, std::string>> accelerators;
};

// `json` was checked against the schema. Fails with INVALID_ARGUMENT and an `option` detail for what a
// schema cannot say: neither or both of cluster_spec and file, half an identity, a wrong address, index or
// duplicate in cluster_spec.
sdk::Result<Options> read_options(const sdk::Host& host, std::string_view json);

}  // namespace muster::static_backend
