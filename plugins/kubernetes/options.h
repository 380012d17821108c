// The options of the kubernetes backend, as they are after create.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

namespace muster::kubernetes {

struct Selector {
  std::string text;     // as the server takes it: "job-name=tensorflow"
  std::string pointer;  // where it stands in the options
};

struct JobSelectors {
  std::string job;
  std::vector<Selector> selectors;
};

enum class Location { kAuto, kWithinCluster, kOffCluster };

struct Options {
  std::vector<JobSelectors> jobs;  // in the order in which they are written
  int64_t port = 8470;
  std::string rpc_layer = "grpc";
  Location location = Location::kAuto;
  std::optional<std::string> name_space;  // `namespace`
  bool all_namespaces = false;
  std::optional<std::string> kubeconfig;
  std::optional<std::string> context;
  int64_t page_size = 500;
};

// `json` was checked against the schema. INVALID_ARGUMENT with an `option` detail for what a schema cannot
// say: options that contradict each other.
sdk::Result<Options> read_options(std::string_view json);

}  // namespace muster::kubernetes
