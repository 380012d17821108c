// What of this process belongs to the launcher, and what a plugin could leave behind in it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace muster::check {

// Signal handlers, locale, environment, working directory, umask, standard streams: each by its name, in words.
using ProcessState = std::map<std::string, std::string>;
ProcessState process_state();
// What belongs to the calling thread: blocked signals, locale, floating-point mode.
ProcessState thread_state();

// "the working directory: it was '/', and is '/tmp'"; one line for each difference.
std::vector<std::string> differences(const ProcessState& before, const ProcessState& after);

// The threads of this process by their numbers, with their names.
std::map<int, std::string> threads();
// Its open files by their numbers, with what they are.
std::map<int, std::string> open_files();
// Its children, those that nobody waited for too.
std::vector<int> children();

// Counts what was forked in this process, or waited for by it, from now on: also what is gone again.
class ForkCount {
 public:
  ForkCount();
  int count() const;

 private:
  int64_t waited_for_ = 0;
  int forked_ = 0;
};

}  // namespace muster::check
