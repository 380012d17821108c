// Which TPU is meant: TensorFlow's decision tree, and behind it GKE and TPU VMs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/tpu/options.h"
#include "plugins/tpu/slice.h"

namespace muster::tpu {

struct Source {
  enum class Kind {
    kLocal,      // attached to this machine: an empty cluster
    kEndpoints,  // addresses are given
    kNodes,      // the API is asked for these names
    kQueued,     // the API is asked for the queued resource's nodes
    kGke,        // the variables of a pod
    kVm,         // the metadata server of a TPU VM is asked
  };
  Kind kind = Kind::kNodes;
  std::string said_by;             // "the option tpu"
  std::vector<std::string> names;  // of nodes; of endpoints their addresses
  std::string project, zone;       // the options', else TPU_CONFIG's
};

// Asks no network. INVALID_ARGUMENT for a text that is no name, no address or no JSON; NOT_FOUND with each place looked at when nobody says
// which TPU is meant.
sdk::Result<Source> find_source(const Options& options, const sdk::Call& call);

// The slice that addresses are. INVALID_ARGUMENT with the one that is none.
sdk::Result<Answer> read_endpoints(const Source& source, const Options& options,
                                   const sdk::Host& host);

// The slices that the variables of a GKE pod tell. INVALID_ARGUMENT for variables that contradict each other.
sdk::Result<Answer> read_gke(const Options& options, const sdk::Call& call);

}  // namespace muster::tpu
