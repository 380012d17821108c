// TPU nodes as the API tells them, v1 or v2, and why one is not to be used. Knows nothing of networks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/tpu/page.h"

namespace muster::tpu {

struct Endpoint {
  std::string ip, external_ip;
  int64_t port = 0;  // 0 where the API says none
};

struct Symptom {
  std::string type, details, worker;
  std::string created;  // as RFC 3339 has it
};

struct Node {
  std::string name, zone, id;
  std::string type, topology;  // "v5litepod-16", "4x4"
  std::string state, health, health_description;
  std::string runtime;              // the runtime's version, of v1 TensorFlow's
  std::string provisioning;         // "SPOT", "PREEMPTIBLE", "RESERVED"; "" for none of them
  std::vector<Endpoint> endpoints;  // in the order of workers
  std::vector<Symptom> symptoms;
};

struct NodePage : Page {
  std::vector<Node> nodes;
};

// One node, and a page of a list. DATA_LOSS when it is none.
sdk::Result<Node> read_node(std::string_view json);
sdk::Result<NodePage> read_nodes(std::string_view json);

// "CREATING: it is being created"; "" when it is READY, and not unhealthy where `health_counts`. A state or health that is not known to
// this version is none that can be used; health that nobody tells is no reason.
std::string why_missing(const Node& node, bool health_counts);

// It will not come back by itself, so waiting is of no use.
bool is_lost(const Node& node);

// TensorFlow's recoverable(): it was not taken away or ended, and no symptom of less than 90 s ago says that memory ran out.
bool is_recoverable(const Node& node, int64_t now_s);

// "OUT_OF_MEMORY on worker 3 at 2026-02-11T11:14:15Z: 'details'"; "" for none.
std::string symptoms_in_words(const Node& node);

}  // namespace muster::tpu
