// How many requests a resolve makes, told beforehand.
#pragma once

#include <muster/plugin.hpp>

#include "plugins/support/google/credentials.h"
#include "plugins/tpu/options.h"
#include "plugins/tpu/source.h"

namespace muster::tpu {

// Says it of a first resolve, as if the zones had no other TPUs; of `wait: healthy` that of one try. Asks nobody. The failures are those
// of credentials that cannot be read.
sdk::Status say_planned(const Options& options, const Source& source,
                        support::google::Credentials& credentials, sdk::Call& call);

}  // namespace muster::tpu
