// Whether a backend runs in this process or in one of its own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/plugin/finder.h"
#include "core/result.h"

namespace muster {

struct Isolation {
  bool isolated = false;
  std::string why;      // in words, for `muster explain`
  std::string warning;  // "" for none
};

// What the resolver's `isolate` says; not given is auto: in this process runs what could as well be a part of libmuster, because it and every
// folder above it belong to root or to the owner of libmuster, and because it needs no library but the C and C++ runtime.
Isolation decide_isolation(const FoundPlugin& found, std::optional<bool> isolate);

// Whether a library of this file name is of the C or C++ runtime, or of a compiler's sanitizer: what a plugin may need (MP-1).
bool is_runtime_library(std::string_view name);

// The program muster-isolate, which stands beside libmuster; trusted as a plugin is. kFailedPrecondition: it cannot be used.
Result<std::string> isolation_helper();

}  // namespace muster
