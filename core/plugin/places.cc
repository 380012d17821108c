// The places where plugins may be, from the settings and the environment.

#include <dlfcn.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "core/path.h"
#include "core/plugin/finder.h"

namespace muster {
namespace {

constexpr const char* kSecureNote = "ignored: this program runs with raised privileges (AT_SECURE)";
constexpr const char* kSiteDirectory = "/usr/local/lib/muster/plugins";

void add_given(PluginSearch& search, const char* origin,
               const std::vector<std::string>& directories) {
  if (directories.empty()) search.places.push_back({origin, "", "none given"});
  for (const std::string& directory : directories) {
    if (directory.empty()) {
      search.places.push_back({origin, "", "ignored: an empty name", true});
    } else {
      search.places.push_back({origin, rooted_path(directory), ""});
    }
  }
}

void add_environment(PluginSearch& search, const SearchWorld& world) {
  constexpr const char* kVariable = "MUSTER_PLUGIN_PATH";
  const std::optional<std::string> value = world.variable(kVariable);
  if (!value) {
    search.places.push_back({kVariable, "", "unset"});
    return;
  }
  if (world.secure) {
    search.places.push_back({kVariable, "", kSecureNote, true});
    return;
  }
  if (value->empty()) {
    search.places.push_back({kVariable, "", "empty"});
    return;
  }
  for (size_t start = 0; start <= value->size();) {
    const size_t end = std::min(value->find(':', start), value->size());
    const std::string element = value->substr(start, end - start);
    if (element.empty()) {
      search.places.push_back({kVariable, "", "ignored: an empty element", true});
    } else if (element[0] != '/') {
      search.places.push_back({kVariable, element, "ignored: not an absolute path", true});
    } else {
      search.places.push_back({kVariable, tidy_path(element), ""});
    }
    start = end + 1;
  }
}

// The XDG base directory rule: a relative XDG_DATA_HOME is ignored.
void add_user(PluginSearch& search, const SearchWorld& world) {
  if (world.secure) {
    search.places.push_back({"user", "", kSecureNote, true});
    return;
  }
  const std::optional<std::string> data = world.variable("XDG_DATA_HOME");
  if (data && data->starts_with('/')) {
    search.places.push_back({"user", tidy_path(*data + "/muster/plugins"), ""});
    return;
  }
  const std::optional<std::string> home = world.variable("HOME");
  if (home && home->starts_with('/')) {
    search.places.push_back({"user", tidy_path(*home + "/.local/share/muster/plugins"), ""});
  } else {
    search.places.push_back({"user", "", home ? "HOME is not an absolute path" : "HOME is unset"});
  }
}

}  // namespace

std::string installed_plugin_directory() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&installed_plugin_directory), &info) == 0 ||
      info.dli_fname == nullptr)
    return {};
  std::error_code error;
  const std::filesystem::path library = std::filesystem::canonical(info.dli_fname, error);
  if (error) return {};
  const std::filesystem::path beside = library.parent_path();
  if (std::filesystem::exists(beside / "plugin" / "muster-build-tree", error))
    return tidy_path(beside.parent_path() / "plugins");
  return tidy_path(beside / "muster" / "plugins");
}

PluginSearch search_places_in(const SearchWorld& world,
                              const std::vector<std::string>& explicit_directories,
                              const std::vector<std::string>& configured,
                              std::map<std::string, std::string> sha256) {
  PluginSearch search;
  search.sha256 = std::move(sha256);
  add_given(search, "--plugin-dir", explicit_directories);
  add_environment(search, world);
  add_given(search, "plugins.search", configured);
  add_user(search, world);
  search.places.push_back({"site", kSiteDirectory, ""});
  if (world.installed.empty()) {
    search.places.push_back({"installed", "", "it is not known where libmuster.so is"});
  } else {
    search.places.push_back({"installed", world.installed, ""});
  }
  return search;
}

PluginSearch search_places(const std::vector<std::string>& explicit_directories,
                           const std::vector<std::string>& configured,
                           std::map<std::string, std::string> sha256) {
  SearchWorld world;
  world.variable = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  world.secure = ::getauxval(AT_SECURE) != 0;
  world.installed = installed_plugin_directory();
  return search_places_in(world, explicit_directories, configured, std::move(sha256));
}

}  // namespace muster
