// The slices of an answer, wherever they come from, and how they are pushed as one ranked whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/tpu/node.h"
#include "plugins/tpu/options.h"
#include "plugins/tpu/queued.h"

namespace muster::tpu {

struct Worker {
  std::string name;
  std::string host;  // without a port; or with one, where `port` is 0
  int64_t port = 0;
  std::string missing;  // why it is no task; "" when it is
};

struct Slice {
  std::string name, zone;
  std::vector<Worker> workers;  // in their order; those that are missing too
  int64_t size = 0;             // how many there are to be; 0: nobody knows
  std::string missing;          // why there are none; "" when there are
  bool lost = false;            // waiting is of no use
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<std::string> warnings;
};

// Which worker this process is.
struct Own {
  size_t slice = 0;
  int64_t worker = 0;
  std::string evidence;
};

struct Answer {
  std::vector<Slice> slices;  // by slice index
  std::optional<Own> own;
  bool local = false;             // a TPU of this machine: nobody else is in the cluster
  bool master = true;             // the first worker is the master, as TensorFlow's class says it
  std::string megascale_address;  // of the coordinator of all slices, where somebody says it
  int32_t wrong = MUSTER_E_DATA_LOSS;  // the code of what no cluster can have: who said it

  bool whole() const;  // no worker is missing
  // Something is missing that waiting will not bring.
  bool lost() const;
  // Why it is not whole: "TPU 'plum': CREATING: it is being created".
  std::string why() const;
};

// The slice of a node. now_s: seconds since 1970.
Slice slice_of(const Node& node, const Options& options, int64_t now_s);
// The slice of a node that does not exist yet.
Slice slice_of(const QueuedNode& node, const Queued& queued);

// The name of a worker: "plum-w-3".
std::string worker_name(const std::string& tpu, size_t worker);

// What the name of a type and the topology say of one slice: chips, cores, hosts, devices; and its warnings.
void describe(const std::string& type, const std::string& topology, Slice& out);

// Pushes the answer: slice by slice, worker by worker. A failure says what of it no cluster can have.
sdk::Status push(const Answer& answer, const Options& options, sdk::Call& call);

}  // namespace muster::tpu
