// What a TF_CONFIG says, told to the core as TFConfigClusterResolver takes it.
#pragma once

#include <string>

#include <muster/plugin.hpp>

#include "plugins/support/tf_config.h"

namespace muster::support {

// How it is spoken of.
struct TfConfigWords {
  std::string name;      // what errors and warnings call the text
  std::string evidence;  // why this process is the task that the facts name
  std::string
      option;  // a pointer to the option that an identity outside of the cluster is the fault of; "" for none
};

// Pushes what `facts` and the reader's cluster say. INVALID_ARGUMENT as TfConfigReader::cluster, and where this process is said to
// be a task that is not there.
sdk::Status push_tf_config(sdk::Call& call, TfConfigReader& reader, const TfConfigFacts& facts,
                           const TfConfigWords& words);

}  // namespace muster::support
