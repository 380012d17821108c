// A test of muster-check, and what it may use. Each runs in a process of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/muster-check/reporter.h"
#include "sdk/muster-check/target.h"

namespace muster::check {

struct Trial {
  const Target& target;
  Reporter& report;
  uint64_t seed = 1;

  // The world that was recorded; null: nothing is there.
  const RecordedResolver* recorded() const { return target.recorded ? &*target.recorded : nullptr; }
  bool isolated() const { return !target.helper.empty(); }
  // How often to do what makes a resolver: fewer times when each is a process.
  int times(int many) const { return isolated() ? many / 5 : many; }
};

// What a test is for.
enum class Scope {
  kAny,      // every backend
  kFile,     // a shared object
  kShared,   // a shared object in this process
  kProgram,  // an executable
};

struct Test {
  const char* name;  // "group.thing"
  const char* what;  // one line for --list
  int seconds;       // after which it is ended
  bool loads;        // needs a file that can be loaded, and options
  void (*run)(Trial& trial);
  Scope scope = Scope::kAny;
};

bool is_for(const Test& test, const Target& target);

// Every test, in the order in which they run.
const std::vector<Test>& all_tests();

// The groups.
std::vector<Test> file_tests();
std::vector<Test> handshake_tests();
std::vector<Test> life_tests();
std::vector<Test> input_tests();
std::vector<Test> world_tests();
std::vector<Test> permissions_tests();
std::vector<Test> plan_tests();
std::vector<Test> time_tests();
std::vector<Test> sink_tests();
std::vector<Test> manners_tests();
std::vector<Test> backend_tests();
std::vector<Test> frames_tests();

}  // namespace muster::check
