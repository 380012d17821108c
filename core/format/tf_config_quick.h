// TF_CONFIG as nearly everybody writes it, read in one pass.
#pragma once

#include <optional>
#include <string_view>

#include "core/format/format.h"

namespace muster {

// Read a text that has nothing in it but what is known, written plainly: no escapes, no unknown keys, names and IPv4 addresses, indices as
// digits. nullopt for every other text, right or wrong: cluster_from_json and parse_tf_config then read it through a JSON library, and tell what
// is wrong with it. What is accepted here gives the very same there.
std::optional<ClusterSpec> quick_cluster_from_json(std::string_view json);
std::optional<TfConfig> quick_parse_tf_config(std::string_view json);

}  // namespace muster
