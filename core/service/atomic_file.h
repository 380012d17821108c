// Writes a file so that it is there whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace muster {

// Writes `content` beside `path` with mode 0600, then gives it that name. On failure `path` is as it was, and nothing is left behind.
Status write_file_atomically(const std::string& path, std::string_view content);

}  // namespace muster
