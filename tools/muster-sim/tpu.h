#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "yaml_reader.h"

namespace muster::sim {

struct TpuHost {
  std::string ip, external_ip;
};

struct TpuSymptom {
  std::string type, details, worker;
  std::string created;     // RFC 3339; "" by age
  std::int64_t age_s = 0;  // before now
};

// A TPU node, as a scenario tells it.
struct TpuNode {
  std::string name, zone;
  std::string id;                     // decimal
  std::string type = "v5litepod-16";  // acceleratorType
  std::string topology;
  std::string state = "READY", health, health_description;
  std::vector<TpuHost> hosts;
  std::int64_t port = 8470;  // 0: endpoints have none
  std::string runtime_version = "v2-alpha-tpuv5-lite", tensorflow_version = "2.12.0";
  std::string queued_resource;
  std::vector<TpuSymptom> symptoms;
  std::vector<std::pair<std::string, std::string>> labels, metadata;
  bool spot = false, preemptible = false, reserved = false;
  bool legacy = false;  // v1 alone: the one endpoint of old, without a list
  // What those find who ask after so many have asked for it; "" for the same as before. -1: nothing changes.
  std::int64_t becomes_after = -1;
  std::string becomes_state, becomes_health;
};

// A request for capacity, and the nodes that it is to become.
struct QueuedResource {
  std::string name, zone;
  std::string state = "WAITING_FOR_RESOURCES";
  std::string error;  // of one that failed
  std::string type = "v5litepod-16";
  std::vector<std::string> nodes;
  std::string prefix;      // or PREFIX-0, PREFIX-1, ...
  std::int64_t count = 0;  // so many
  std::int64_t becomes_after = -1;
  std::string becomes_state;
};

// Reads an entry of 'tpus', or of 'queued_resources'. The README has the grammar.
void read_tpus(MapReader& reader, std::vector<TpuNode>& out);
QueuedResource read_queued_resource(MapReader& reader);

// How many VMs a slice of this type has; 1 where the type says nothing.
std::int64_t tpu_hosts(const std::string& type);

}  // namespace muster::sim
