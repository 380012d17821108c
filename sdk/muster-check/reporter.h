// What a test found, told to the process that started it.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace muster::check {

// A duty that was broken, and how.
struct Finding {
  std::string duty;  // "MP-16"
  std::string text;
};

// What came of one test.
struct Verdict {
  std::vector<Finding> findings;
  std::vector<std::string> notes;
  std::string skipped;    // why it did not run; "" when it did
  std::string step;       // what it was doing last
  std::string step_duty;  // which duty a plugin breaks that never comes back from it
  bool ended = false;     // it came to its end
};

// Writes each fact at once to a file descriptor, so that nothing is lost when the plugin ends the process. [thread-safe]
class Reporter {
 public:
  explicit Reporter(int descriptor) : descriptor_(descriptor) {}

  // What is done next, and the duty that is broken if it never ends.
  void step(std::string_view duty, std::string_view what);
  // With what the next steps are done: these options, that fault.
  void with(std::string_view what);
  // The same finding is told once, and of very many the first ones.
  void broke(std::string_view duty, std::string_view text);
  void note(std::string_view text);
  void skip(std::string_view why);
  bool found_any() const;
  // The test is over, whatever the plugin's threads do.
  [[noreturn]] void end();

 private:
  void write_line(char kind, std::string_view duty, std::string_view text);

  int descriptor_;
  mutable std::mutex mutex_;
  std::set<std::string> told_;
  std::set<std::string> noted_;
  std::string with_;
};

// Reads what a Reporter wrote.
Verdict read_report(std::string_view lines);

}  // namespace muster::check
