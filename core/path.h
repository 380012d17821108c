// tidy_path, rooted_path: a path as the user wrote it, from the root.
#pragma once

#include <filesystem>
#include <string>

namespace muster {

// `path` without '.', doubled slashes or a slash at its end. '..' stays: behind a symbolic link it is not the directory before
// it, and only the system knows. Text alone; no file is looked at.
std::string tidy_path(const std::filesystem::path& path);

// The same, a relative one counted from `folder`, or from the working directory. As it is where there is no working directory.
std::string rooted_path(const std::filesystem::path& path,
                        const std::filesystem::path& folder = {});

}  // namespace muster
