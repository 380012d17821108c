// How many requests a resolve makes, told beforehand.
#pragma once

#include <cstdint>

#include <muster/plugin.hpp>

#include "plugins/gce/options.h"
#include "plugins/support/google/credentials.h"

namespace muster::gce {

// Says it of a first resolve that finds `members` instances, none of whose zones has others. Asks nobody. The failures are those of
// credentials that cannot be read.
sdk::Status say_planned(const Options& options, support::google::Credentials& credentials,
                        int64_t members, sdk::Call& call);

}  // namespace muster::gce
