// Writes a file so that it is there whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace muster {

// replace_file of core/file for the owner alone: mode 0600.
Status write_private_file(const std::string& path, std::string_view content);

}  // namespace muster
