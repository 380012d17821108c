// A backend that is an executable, before it is anybody's resolver.
#pragma once

#include <cstdint>
#include <string>

#include "core/plugin/finder.h"
#include "core/result.h"

namespace muster {

// How long a backend's process may take for its Hello, and for its Create, where there is no shorter timeout.
inline constexpr int64_t kStart_ns = 5'000'000'000;

// Runs an executable, whose `command` is set and which is trusted, up to its Hello, and gives the descriptor in it. Takes `start_ns` at
// most. `helper` is muster-isolate.
Result<std::string> describe_program(const FoundPlugin& program, const std::string& helper,
                                     int64_t start_ns = kStart_ns);

}  // namespace muster
