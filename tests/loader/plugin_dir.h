// PluginDir: a directory of a test's own in which plugins lie, trusted until the test spoils it.
#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/plugin/finder.h"

namespace muster::test {

// Mode 0700, removed at the end. Its parent is the system's temporary directory, which is sticky.
class PluginDir {
 public:
  PluginDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "muster-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = std::filesystem::canonical(pattern);
  }
  ~PluginDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  PluginDir(const PluginDir&) = delete;
  PluginDir& operator=(const PluginDir&) = delete;

  std::string path() const { return path_.string(); }
  std::string file(const std::string& name) const { return path() + "/libmuster-" + name + ".so"; }

  // A file with these bytes, mode 0644; returns its path.
  std::string write(const std::string& file_name, const std::string& bytes) {
    const std::filesystem::path whole = path_ / file_name;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole, std::ios::binary | std::ios::trunc) << bytes;
    ::chmod(whole.c_str(), 0644);
    return whole.string();
  }
  // Copies a built plugin here as the file of backend `name`.
  std::string add(const std::filesystem::path& built, const std::string& name) {
    std::filesystem::copy_file(built, file(name),
                               std::filesystem::copy_options::overwrite_existing);
    ::chmod(file(name).c_str(), 0644);
    return file(name);
  }

  // A search that looks here alone.
  PluginSearch search() const { return {{{"--plugin-dir", path(), ""}}, {}, nullptr}; }

 private:
  std::filesystem::path path_;
};

}  // namespace muster::test
