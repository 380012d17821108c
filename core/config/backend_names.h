// Names of backends and of the files that hold them.
#pragma once

#include <string>
#include <string_view>

namespace muster {

inline constexpr std::string_view kBackendNameRule =
    "a backend's name is lower-case letters, digits and '_', begins with a letter, and has at most "
    "64 characters";

inline bool is_backend_name(std::string_view name) {
  if (name.empty() || name.size() > 64 || name[0] < 'a' || name[0] > 'z') return false;
  for (const char c : name) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return false;
  }
  return true;
}

inline constexpr std::string_view kFilePrefix = "libmuster-";
inline constexpr std::string_view kFileSuffix = ".so";

// An executable of this name speaks the frames of sdk/frames by itself.
inline constexpr std::string_view kProgramPrefix = "muster-backend-";

inline std::string program_file_name(std::string_view name) {
  return std::string(kProgramPrefix).append(name);
}

inline std::string plugin_file_name(std::string_view name) {
  return std::string(kFilePrefix).append(name).append(kFileSuffix);
}

}  // namespace muster
