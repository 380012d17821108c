// Which file was checked, as a word of a command line.
#pragma once

#include <fmt/format.h>

#include <string>

#include "core/plugin/finder.h"

namespace muster::isolate {

inline std::string identity_of(const FoundPlugin& found) {
  return fmt::format("{}:{}:{}:{}", found.device, found.inode, found.size, found.modified_ns);
}

}  // namespace muster::isolate
