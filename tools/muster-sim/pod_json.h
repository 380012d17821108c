#pragma once

#include <cstdint>
#include <string>

#include "pod.h"

namespace muster::sim {

// The pod as the API server writes it in a list: compact JSON without kind and apiVersion.
// With pod.bytes the result is padded to that size by what makes real pods big: managedFields
// and environment variables. A pod that is bigger by itself stays so.
std::string pod_json(const Pod& pod, std::int64_t resource_version);

// How many bytes of JSON are still missing to pod.bytes, to be filled with environment variables; 0: none.
std::int64_t pod_padding(const Pod& pod, std::int64_t resource_version);

// Its metadata alone, as rows of a table and metadata-only lists have it.
std::string pod_metadata_json(const Pod& pod, std::int64_t resource_version);

}  // namespace muster::sim
