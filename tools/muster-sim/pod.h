#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "selector.h"

namespace muster::sim {

class MapReader;

struct ContainerPort {
  std::string name;
  std::string protocol = "TCP";
  std::int64_t port = 0;
};

struct Container {
  std::string name = "main";
  std::string image = "registry.example/train:1";
  std::vector<ContainerPort> ports;
  Labels limits;  // also given as requests
};

struct Owner {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
};

struct Condition {
  std::string type;
  std::string status;
  std::string reason;
  std::string message;
};

// One pod of the world, with every default filled in.
struct Pod {
  std::string name;
  std::string generate_name;
  std::string name_space = "default";
  std::string uid;
  Labels labels;
  Labels annotations;
  std::vector<Owner> owners;
  std::string created = "2026-01-01T00:00:00Z";
  std::string deleted;  // the deletion timestamp; empty: not being deleted

  std::string node;
  std::string hostname;
  std::string subdomain;
  bool host_network = false;
  std::string restart_policy = "Always";
  std::string service_account = "default";
  std::string scheduler = "default-scheduler";
  std::string nominated_node;
  std::vector<Container> containers;

  std::string phase = "Running";
  std::string reason;
  std::string message;
  std::string waiting;  // the reason the container waits, such as ImagePullBackOff
  bool ready = false;
  std::int64_t restarts = 0;
  std::string host_ip;
  std::vector<std::string> ips;
  std::vector<Condition> conditions;

  std::int64_t bytes = 0;  // the pod's JSON is padded to this size; 0: as it comes
};

// Reads one entry of 'pods' or 'generate' and appends the pods it stands for.
//
// count_needed  whether the entry must say 'count', as generate's entries must
// Problems are reported through the reader; nothing is appended then.
void read_pods(MapReader& reader, bool count_needed, std::vector<Pod>& pods);

// A version 4 looking UUID that depends on the text alone.
std::string uuid_of(std::string_view text);

}  // namespace muster::sim
