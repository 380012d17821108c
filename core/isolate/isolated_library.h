// A plugin that runs in a process of its own, behind the functions that one in this process has.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/plugin/library.h"

namespace muster {

struct IsolatedSetting {
  std::string helper;  // muster-isolate
  uint64_t memory = kIsolatedMemory;
  bool trace = false;  // each frame is a line of the log, at MUSTER_LOG_DEBUG

  static constexpr uint64_t kIsolatedMemory = uint64_t{4} << 30;
};

// Nothing is started: each resolver that is created from it starts a process, and again when that has ended.
std::shared_ptr<const PluginLibrary> isolate_plugin(FoundPlugin found, IsolatedSetting setting);

}  // namespace muster
