// A backend that is an executable, before it is anybody's resolver.
#pragma once

#include <string>

#include "core/plugin/finder.h"
#include "core/result.h"

namespace muster {

// Runs an executable, whose `command` is set and which is trusted, up to its Hello, and gives the descriptor in it. Takes 5 seconds at most.
// `helper` is muster-isolate.
Result<std::string> describe_program(const FoundPlugin& program, const std::string& helper);

}  // namespace muster
