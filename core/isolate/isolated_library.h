// A plugin that runs in a process of its own, behind the functions that one in this process has.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/isolate/process.h"
#include "core/isolate/program.h"
#include "core/plugin/library.h"

namespace muster {

struct IsolatedSetting {
  std::string helper;  // muster-isolate
  uint64_t memory = kIsolatedMemory;
  int64_t idle_period_ns =
      kIdlePeriod_ns;  // for which it may use more than half a processor between calls
  // Each frame is a line of this log, at kFrameLevel, without these secrets; null: frames are not shown.
  std::shared_ptr<const Log> trace = nullptr;
  std::shared_ptr<const Secrets> secrets = nullptr;
  int64_t start_ns = kStart_ns;  // for its Hello, and for its Create, each

  static constexpr uint64_t kIsolatedMemory = uint64_t{4} << 30;
  static constexpr int64_t kIdlePeriod_ns = 15'000'000'000;
};

// Nothing is started: each resolver that is created from it starts a process, and again when that has ended.
std::shared_ptr<const PluginLibrary> isolate_plugin(FoundPlugin found, IsolatedSetting setting);

// How the process of such a plugin is started: what of this process's environment it gets, above all.
ProcessRequest isolated_process(const FoundPlugin& found, const IsolatedSetting& setting);

}  // namespace muster
