// Runs each test in a process of its own, and says how that ended.
#pragma once

#include <string>
#include <vector>

#include "sdk/muster-check/reporter.h"
#include "sdk/muster-check/trial.h"

namespace muster::check {

struct TestResult {
  enum class Kind {
    kPassed,
    kFailed,
    kSkipped,
    kBroken
  };  // broken: of the checker, not of the plugin
  Kind kind = Kind::kPassed;
  Verdict verdict;
  double seconds = 0;
};

// Starts this program again for one test: `arguments` are those it was started with. Ends it, and all that it started, by its time.
TestResult run_apart(const Test& test, const std::vector<std::string>& arguments);

// The other side: the test itself, reporting to the file descriptor.
[[noreturn]] void run_here(const Test& test, const Target& target, uint64_t seed, int descriptor);

}  // namespace muster::check
