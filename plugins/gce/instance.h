// Instances as Compute Engine's API tells them, cut down to what a ClusterSpec takes. Knows nothing of networks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/gce/options.h"

namespace muster::gce {

struct Instance {
  std::string name, zone, id;
  std::string status;   // "RUNNING"; others, also those that are not known yet, are not running
  std::string message;  // what the API says beside the status
  std::string machine_type, physical_host;
  std::string provisioning;  // "SPOT", where it is not STANDARD

  std::string accelerator;  // "nvidia-tesla-t4"; "" for none
  std::string device;       // TensorFlow's type: "GPU", "TPU"
  int64_t device_count = 0;

  std::string host;     // the address that the options ask for, without a port
  std::string no_host;  // why there is none
  int64_t port = 0;  // by metadata; 0 when the options find it elsewhere, or no_port says why not
  std::string no_port;
  std::optional<int64_t> rank;  // by label or metadata
  std::string no_rank;
  bool tagged = true;  // it has the tag that the options ask for
};

// One page of a list.
struct InstancePage {
  std::vector<Instance> instances;
  std::string next;                      // the token of the next page, "" for none
  std::vector<std::string> unreachable;  // scopes that did not answer: "zones/europe-west9-c"
};

// Which of their fields the options look at, as the `fields` of a request has them: "name,id,status,...".
std::string instance_fields(const Options& options);

// A page of instances.list (of `zone`) or, with an empty zone, of instances.aggregatedList. DATA_LOSS when it is neither.
sdk::Result<InstancePage> read_instances(std::string_view json, const std::string& zone,
                                         const std::string& project, const Options& options);

// The accelerators of a machine type that has them built in: {"GPU", 8} of a3-highgpu-8g; no type for others.
struct Devices {
  std::string type;
  int64_t count = 0;
};
Devices devices_of(std::string_view machine_type);

// The segment of a resource's URL that stands behind "zones".
std::string_view zone_of(std::string_view url);

}  // namespace muster::gce
