// The file of the static backend: one `job index address` a line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

namespace muster::static_backend {

// One line. The texts point into what was read.
struct RosterLine {
  std::string_view job;
  int64_t index = 0;
  std::string_view address;
  std::string_view name;  // the optional fourth column, or ""
};

// Reads `text` line by line: columns parted by blanks, '#' begins a comment, empty lines do not count.
// INVALID_ARGUMENT "PATH:LINE:COLUMN: why" for a missing or extra column, an index that is no number from 0
// to 2147483647, an index that stands twice in its job (naming both lines), and what is no address.
sdk::Result<std::vector<RosterLine>> read_roster(const sdk::Host& host, std::string_view text,
                                                 const std::string& path);

}  // namespace muster::static_backend
