// The plugin under test, in this process or in one of its own.
#pragma once

#include <muster/plugin.h>

#include <cstdint>
#include <memory>
#include <string>

#include "core/plugin/library.h"
#include "sdk/muster-check/trial.h"
#include "sdk/muster-check/world.h"

namespace muster::check {

// A plugin's table as it gave it to a core, copied as a core copies it; in a process of its own, the core's table for that process.
class Subject {
 public:
  // Loads the file and calls its entry; a second one of the same file calls its entry again. What is wrong is told to the
  // report; null then, and when the plugin says that it cannot run in this core.
  static std::unique_ptr<Subject> load(Trial& trial, World& world, const Core& core = {});

  const muster_plugin_v1& table() const { return table_; }
  // The extensions; each without its function when there is none.
  const muster_watch_v1& watch() const { return watch_; }
  const muster_permissions_v1& permissions() const { return permissions_; }
  const muster_plan_v1& plan() const { return plan_; }
  // The table's create, and whether this resolver has an extension whose function is there.
  int32_t create(const ResolverConfig& config, const muster_host_v1* host,
                 muster_resolver** resolver, muster_error* error) const;
  bool offers(const muster_resolver* resolver, const char* extension) const;
  const std::string& name() const { return name_; }
  const Core& core() const { return core_; }

 private:
  Subject() = default;
  std::shared_ptr<const PluginLibrary> isolated_;  // in a process of its own, else null
  muster_plugin_v1 table_{};
  muster_watch_v1 watch_{};
  muster_permissions_v1 permissions_{};
  muster_plan_v1 plan_{};
  std::string name_;
  Core core_;
  std::unique_ptr<InstrumentedHost> entry_host_;
};

}  // namespace muster::check
