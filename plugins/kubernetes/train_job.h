// A TrainJob that has no JobSet, which would say who its members are. Knows nothing of networks.
#pragma once

#include <string>
#include <string_view>

#include <muster/plugin.hpp>

namespace muster::kubernetes {

// In words, why it has none: "it is suspended; it is to have 4 nodes of ClusterTrainingRuntime 'torch-distributed'".
// DATA_LOSS when the JSON is no TrainJob of that name.
sdk::Result<std::string> why_no_job_set(const std::string& name, std::string_view json);

}  // namespace muster::kubernetes
