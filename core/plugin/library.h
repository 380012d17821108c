// PluginLibrary: a plugin in memory.
#pragma once

#include <muster/plugin.h>

#include <memory>
#include <string>

#include "core/plugin/finder.h"
#include "core/service/host.h"
#include "core/service/session.h"

namespace boost::dll {
class shared_library;
}

namespace muster {

// Immutable once loaded, so any thread may use it; core/isolate has one whose resolvers are processes. Never unloaded (MC-6): what a plugin leaves behind (thread-local
// destructors, atexit handlers, a Go runtime) would run into nothing. Only with the environment variable
// MUSTER_UNLOAD_PLUGINS=1, for leak hunts, does the last owner unload it.
class PluginLibrary {
 public:
  PluginLibrary(FoundPlugin found, std::unique_ptr<boost::dll::shared_library> library);
  virtual ~PluginLibrary();
  PluginLibrary(const PluginLibrary&) = delete;
  PluginLibrary& operator=(const PluginLibrary&) = delete;

  const FoundPlugin& found() const { return found_; }
  const std::string& name() const { return found_.descriptor.name; }
  // Every function is there: the optional ones that the plugin lacks do nothing.
  const muster_plugin_v1& table() const { return table_; }
  // Whether the plugin has an interrupt of its own.
  bool can_interrupt() const { return can_interrupt_; }
  // The extension muster.watch/1; its function is null when the plugin has none.
  const muster_watch_v1& watch() const { return watch_; }

  // The extension muster.permissions/1, likewise.
  const muster_permissions_v1& permissions() const { return permissions_; }

  // The extension muster.plan/1, likewise.
  const muster_plan_v1& plan() const { return plan_; }

  // The table's create, for the resolver at `path` of the config.
  virtual int32_t create(const std::string& path, const muster_host_v1* host, const char* options,
                         uint64_t options_size, muster_resolver** resolver,
                         muster_error* error) const;
  // Whether this resolver has an extension whose table is there.
  virtual bool offers(const muster_resolver* resolver, const char* extension) const;

  // Calls the entry and takes its table over. For load_plugin alone.
  Status enter(const Log& log);

 protected:
  // For one whose functions are not those of a file that was loaded: they are set by whoever is made of it.
  explicit PluginLibrary(FoundPlugin found);
  muster_plugin_v1 table_{};
  bool can_interrupt_ = false;
  muster_watch_v1 watch_{};
  muster_permissions_v1 permissions_{};
  muster_plan_v1 plan_{};

 private:
  Status take_table(const muster_plugin_v1* theirs);
  // The table of an extension, if there is one; the function that it is about is there then.
  template <typename Table, typename Function>
  Status take_extension(const char* id, Table& table, Function Table::*function);

  FoundPlugin found_;
  std::unique_ptr<boost::dll::shared_library> library_;
  std::unique_ptr<Host> entry_host_;  // lives as long as the library: an entry may have kept it
};

}  // namespace muster
