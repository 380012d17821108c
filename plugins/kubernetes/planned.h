// How many requests a resolve makes, told beforehand. Knows nothing of networks.
#pragma once

#include <cstdint>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/options.h"

namespace muster::kubernetes {

// Says it of a first resolve that finds `members` pods.
void say_planned(const Options& options, int64_t members, sdk::Call& call);

}  // namespace muster::kubernetes
