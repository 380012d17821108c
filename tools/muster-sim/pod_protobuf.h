#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pod.h"

namespace muster::sim {

// The pod that pod_json writes, as the API server writes it in a list as protobuf: an item with its tag and length.
std::string pod_protobuf_item(const Pod& pod, std::int64_t resource_version);

// What stands before and behind `items_size` bytes of such items: the magic bytes, the envelope and the list's metadata.
std::string protobuf_list_head(std::int64_t resource_version, std::string_view next,
                               std::int64_t remaining, std::size_t items_size);
std::string protobuf_list_tail();

}  // namespace muster::sim
