// Finding plugins: where they may be, which file is meant, whether it may be trusted.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/config/descriptor.h"
#include "core/result.h"

namespace muster {

// A directory that is looked in, in order; the first that has the file wins.
struct SearchPlace {
  std::string
      origin;  // "--plugin-dir", "MUSTER_PLUGIN_PATH", "plugins.search", "user", "site", "installed"
  std::string
      directory;  // absolute; "" when the origin gives none (unset, no home, ignored under AT_SECURE)
  std::string
      note;  // why it is not looked in: "unset", "does not exist", "ignored: set-user-ID program", ...; "" when it is
  bool ignored = false;  // somebody said it, and it does not count
};

struct FoundPlugin;

// Everything that decides where plugins are found; made by search_places from the settings and the environment.
struct PluginSearch {
  std::vector<SearchPlace> places;
  std::map<std::string, std::string> sha256;  // backend name to lower-case hex
  // Asks an executable, which is trusted by then, for its descriptor: it has to be run for that. Null: no executable is taken.
  std::function<Result<std::string>(const FoundPlugin& program)> describe = nullptr;
};

// `explicit_directories` from settings or flags (relative ones count from the working directory), then MUSTER_PLUGIN_PATH (absolute ones
// between colons; others are ignored, with a note), `configured` (plugins.search), the user's data directory
// (${XDG_DATA_HOME:-~/.local/share}/muster/plugins), /usr/local/lib/muster/plugins, installed_plugin_directory. Under AT_SECURE, environment and
// user are ignored, with a note. An origin that gives no directory stands there with its note alone.
PluginSearch search_places(const std::vector<std::string>& explicit_directories,
                           const std::vector<std::string>& configured,
                           std::map<std::string, std::string> sha256);

// What search_places asks of the process, so that a test can be another one.
struct SearchWorld {
  std::function<std::optional<std::string>(const std::string& name)>
      variable;           // environment; nullopt: unset
  bool secure = false;    // AT_SECURE: set-user-ID or the like
  std::string installed;  // "" : not known
};
PluginSearch search_places_in(const SearchWorld& world,
                              const std::vector<std::string>& explicit_directories,
                              const std::vector<std::string>& configured,
                              std::map<std::string, std::string> sha256);

// `muster/plugins` beside the libmuster.so that runs this (found by dladdr). In a build tree, known by the file
// `plugin/muster-build-tree` beside libmuster.so, the tree's `plugins`. "" when the loader does not say where the library is.
std::string installed_plugin_directory();

// A plugin file that was found and read, but not loaded.
struct FoundPlugin {
  std::string path;  // absolute, symlinks followed to their end
  Descriptor descriptor;
  std::string sha256;  // of the file, lower-case hex; "" unless it is pinned or asked for
  std::string origin;
  std::vector<std::string> shadowed;  // files of the same name in later places
  std::vector<std::string> needed;    // DT_NEEDED: the libraries that it needs
  std::vector<std::string> command;   // of an executable: `path` and its arguments; else empty
  // Identity of the file that was checked: load refuses when the file at `path` is another one by then.
  uint64_t device = 0, inode = 0;
  int64_t size = 0, modified_ns = 0;
};

// Finds `libmuster-NAME.so`, or in the same place `muster-backend-NAME`, checks trust, pin, ELF, descriptor, ABI. The error tells the cause first, then every place looked at with
// its reason, then what to do. kNotFound; kPermissionDenied (not trusted, pin differs); kInvalidArgument (not a plugin, wrong ABI).
Result<FoundPlugin> find_plugin(const PluginSearch& search, const std::string& name);

// The executable of a command, its first part with a slash in it: checked as find_plugin does. `name` is the backend that it has to be.
Result<FoundPlugin> find_program(const PluginSearch& search, const std::string& name,
                                 const std::vector<std::string>& command);

// One file by its path, with its sha256: read and checked as find_plugin does, trust left to the caller.
Result<FoundPlugin> inspect_plugin(const std::string& path);

// One line of `muster plugins list`: a file `libmuster-*.so` or `muster-backend-*` and what can be said of it.
struct ListedPlugin {
  std::string path, origin, name;
  bool usable = false;
  std::string reason;  // why not; or "shadowed by PATH"
  Descriptor descriptor;
};
std::vector<ListedPlugin> list_plugins(const PluginSearch& search);

// Owner root or this user, not writable by group or others, file and every parent directory up to the root, symlinks followed; a
// sticky world-writable parent is allowed. kPermissionDenied names the path, its owner and mode, and the chmod or chown that mends it.
Status check_trust(const std::string& path);

// The same; gives the path with every symlink followed. kNotFound: not there.
Result<std::string> follow_trusted(const std::string& path);

// Finds a file of the core's own, as libmuster-http.so: same places, same trust.
Result<std::string> find_service_library(const PluginSearch& search, const std::string& name);

}  // namespace muster
