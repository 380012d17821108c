#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::sim {

// The slices as one gzip member, at level 1 as the real server does it; empty on failure.
std::string gzip(const std::vector<std::string_view>& slices);

}  // namespace muster::sim
