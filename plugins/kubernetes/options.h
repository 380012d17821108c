// The options of the kubernetes backend, as they are after create.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/finder.h"
#include "plugins/kubernetes/pod.h"
#include "plugins/kubernetes/reasons.h"

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

// What stands before the port in a task's address.
enum class AddressKind { kPodIp, kDns, kNodeIp, kHostPort };
enum class IpFamily { kAny, kIpv4, kIpv6 };

// Where a port is found: one of these, and none of them when it is not said.
struct PortRule {
  int64_t number = 0;
  std::string name;        // of a container's port
  std::string annotation;  // its key
  bool only = false;       // the one port that there is
};

struct Options {
  // Where the members come from: one of the three.
  std::vector<JobSelectors> jobs;  // in the order in which they are written
  const Finder* finder = nullptr;
  std::string object;   // its name
  std::string service;  // `service`

  std::string as_job;  // all members are one job of this name; "" when their roles are jobs
  int64_t port = 8470;
  PortRule any_port;                      // `port`
  std::map<std::string, PortRule> ports;  // by job, over `port`
  AddressKind address = AddressKind::kPodIp;
  IpFamily family = IpFamily::kAny;
  std::optional<std::string> cluster_domain;
  Require require = Require::kRunning;
  std::optional<std::string> pod_info;  // a folder of the downward API
  std::string rpc_layer = "grpc";
  Location location = Location::kAuto;
  std::optional<std::string> name_space;  // `namespace`
  bool all_namespaces = false;
  std::optional<std::string> kubeconfig;
  std::optional<std::string> context;
  int64_t page_size = 500;
  int64_t watch_silence = 90;  // seconds

  // Its rule of `ports`, else the one of `port`.
  const PortRule& port_of(const std::string& job) const;

  // What of a pod these options look at beside what is always read.
  Wanted wanted() const;
};

// `json` was checked against the schema. INVALID_ARGUMENT with an `option` detail for what a schema cannot
// say: options that contradict each other.
sdk::Result<Options> read_options(std::string_view json);

}  // namespace muster::kubernetes
