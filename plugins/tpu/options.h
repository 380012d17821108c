// The options of the tpu backend, as they are after create.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/support/google/credentials.h"

namespace muster::tpu {

struct Options {
  std::vector<std::string> tpu;  // names, or addresses behind "grpc://"; without blank ones
  std::string queued_resource;
  std::string project, zone;  // "": found

  std::string job = "worker";  // `job_name`
  std::optional<int64_t> task_id;
  std::string rpc_layer = "grpc";
  int64_t port = 0;  // 0: the endpoint's own
  bool external = false;
  std::string coordinator_name, coordinator_address;

  bool wait = false;          // until READY and HEALTHY
  bool health_counts = true;  // false: an unhealthy TPU is a warning
  std::string api_version = "v2";
  std::string endpoint;  // a base URL without a slash at its end; "": the universe's
  std::string discovery_url;
  support::google::CredentialOptions credentials;
};

// `json` was checked against the schema. INVALID_ARGUMENT with an `option` detail for what a schema cannot say.
sdk::Result<Options> read_options(std::string_view json);

}  // namespace muster::tpu
