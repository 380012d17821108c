// One program: started, read, and ended, whatever it does.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/result.h"

namespace muster {

struct ChildRequest {
  std::vector<std::string> arguments;    // the first as the user wrote it
  std::vector<std::string> environment;  // "NAME=value", above this process's own
  bool terminal = false;  // lend it this process's standard input, and pass on its standard error
  uint64_t maximum_output = 0;
};

struct ChildResult {
  int64_t exit_status = 0;  // 128 + n: ended by signal n
  std::string output;
  std::string error_output;  // the end of it
};

// Whether standard input is a terminal and this process is in its foreground.
bool has_terminal();

// Runs it to its end. `waiting_ended` is asked every few milliseconds: anything but kOk ends the program and is returned as an
// error without words. Never hangs on output that a grandchild holds open. Safe in a process with threads: what happens between
// fork and exec is the C library's. The other errors are those of muster_process_v1::run, with words and hint.
Result<ChildResult> run_child(const ChildRequest& request,
                              const std::function<Code()>& waiting_ended);

}  // namespace muster
