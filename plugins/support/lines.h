// A cluster as lines: one `job index address [name]` each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

namespace muster::support {

// One line. The texts point into what was read.
struct TaskLine {
  std::string_view job;
  int64_t index = 0;
  std::string_view address;
  std::string_view name;  // the optional fourth column, or ""
};

// Reads `text` line by line: columns parted by blanks, '#' begins a comment, empty lines do not count.
// INVALID_ARGUMENT "PATH:LINE:COLUMN: why" for a missing or extra column, an index that is no number from 0
// to 2147483647, an index that stands twice in its job (naming both lines), and what is no address.
sdk::Result<std::vector<TaskLine>> read_lines(const sdk::Host& host, std::string_view text,
                                              const std::string& path);

}  // namespace muster::support
