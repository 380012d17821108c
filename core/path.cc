#include "core/path.h"

#include <system_error>

namespace muster {

std::string tidy_path(const std::filesystem::path& path) {
  std::string tidy;
  for (const std::filesystem::path& part : path.relative_path()) {
    if (part.empty() || part == ".") continue;
    if (!tidy.empty()) tidy += '/';
    tidy += part.string();
  }
  if (path.is_absolute()) return "/" + tidy;
  return tidy.empty() ? "." : tidy;
}

std::string rooted_path(const std::filesystem::path& path, const std::filesystem::path& folder) {
  if (path.is_absolute()) return tidy_path(path);
  std::error_code error;
  const std::filesystem::path begin =
      folder.is_absolute() ? folder : std::filesystem::current_path(error) / folder;
  return error ? path.string() : tidy_path(begin / path);
}

}  // namespace muster
