#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fault.h"
#include "tpu.h"
#include "yaml_reader.h"

namespace muster::sim {

// A VM, as a scenario tells it.
struct Instance {
  std::string name, zone;
  std::string id;  // decimal
  std::string status = "RUNNING";
  std::string ip, external_ip, ipv6, external_ipv6;  // of nic0
  std::string network = "default", subnetwork = "default";
  std::string machine_type = "n1-standard-8";
  std::string hostname, physical_host;
  std::string accelerator;  // its type; "" for none
  std::int64_t accelerator_count = 0;
  bool spot = false;
  std::vector<std::pair<std::string, std::string>> labels, metadata;
  std::vector<std::string> tags;
  std::int64_t bytes = 0;  // its JSON is padded to this size
};

// A member of a group, that need not be an instance.
struct GroupMember {
  std::string name, zone;
  std::string action = "NONE";  // of a managed group
  std::string error;            // of the last attempt: "CODE: message"
  std::string version;          // of the template
};

struct Group {
  std::string name;
  std::string place;  // "zones/Z" or "regions/R"
  bool managed = true;
  bool paginated = false;  // the managed list has pages; by itself it has not
  std::vector<GroupMember> members;
  std::vector<std::pair<std::string, std::int64_t>> named_ports;
};

// The machine that asks, as its metadata server knows it.
struct OwnMachine {
  std::string instance;  // its name; "" for none: a pod
  std::string zone;
  std::string tpu;  // the node that it is a VM of; "" for none
  std::int64_t worker = 0;
  std::vector<std::string> slices;  // nodes of its multislice group
  std::string service_account = "default@orchard.iam.gserviceaccount.com";  // "" for none
  std::vector<std::pair<std::string, std::string>> attributes;
  bool flavor = true;  // answers carry Metadata-Flavor
  bool preempted = false;
  std::string maintenance_event = "NONE";
};

struct Google {
  bool on = false;
  std::string project = "orchard";
  std::string project_number = "271828182845";
  std::string universe = "googleapis.com";
  std::vector<Instance> instances;
  std::vector<Group> groups;
  std::vector<TpuNode> tpus;
  std::vector<QueuedResource> queued_resources;
  std::vector<std::string> unreachable;  // zones
  std::vector<std::string> unlisted;     // instances that lists leave out: deleted in between
  std::optional<OwnMachine> machine;     // none: there is no metadata server
  std::int64_t token_life_s = 3600;      // of tokens given
  std::int64_t clock_ahead_s = 0;        // of this cloud, of ours
  std::int64_t page_size = 0;            // the most a page has; 0: as asked
  bool empty_pages = false;              // each second page is empty and has a successor
  bool self_signed = true;               // false: only tokens that were given count
  bool gzip = true;
  std::vector<Fault> faults;

  // The node that the machine is a VM of; null for none.
  const TpuNode* machine_node() const;
};

// Reads 'google' of a scenario. The README has the grammar.
Google read_google(const YAML::Node& node, Problems& problems);

}  // namespace muster::sim
