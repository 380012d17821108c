// Many texts in natural order.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace muster {

// Which text stands where: natural_order({"w-10", "w-2"}) is {1, 0}. The order is natural_compare's; equal texts stay as they were
// given. Quicker than comparing pair by pair where the texts begin alike and go on with numbers, as names mostly do.
std::vector<uint32_t> natural_order(const std::vector<std::string_view>& texts);

}  // namespace muster
