// What the command says to people: messages and a live line on stderr, data on stdout.
#pragma once

#include <muster/muster.h>
#include <signal.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "tools/muster/options.h"

namespace muster_command {

// Whether to colour what goes to this file descriptor: a terminal, no --no-color, no NO_COLOR, not TERM=dumb.
bool colored(int descriptor, const Options& options);

// One message on stderr: "muster: text". Clears the live line first. Whatever the text has in it, a terminal shows it and obeys none of it,
// and of a very long one the beginning is said. After a signal nobody is waited for who does not read. [thread-safe]
void say(std::string_view text);
// A line under the last message: what to do about it. [thread-safe]
void say_hint(std::string_view text);
void say_error(const muster_error* error);

// All of it to stdout, as it is: data. 0, or with a message kExitNotWritten. Ends the process by a signal that comes while nobody reads.
int print(std::string_view text);
// The same of a text for people: a terminal obeys none of it.
int print_page(std::string_view text);

// A standard stream that is closed is taken by /dev/null: else the first file or connection that is opened would get its
// number, and the answer.
void occupy_standard_streams();

// While it lives, and stderr is a terminal, one line there says what a cluster's resolve waits for and how long it has.
class LiveLine {
 public:
  LiveLine(const muster_cluster* cluster, const Options& options);
  ~LiveLine();
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

 private:
  void run(const muster_cluster* cluster);
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;
};

// While it lives, SIGINT and SIGTERM cancel the cluster's resolve; a second one ends the process at once.
class CancelOnSignal {
 public:
  explicit CancelOnSignal(muster_cluster* cluster);
  ~CancelOnSignal();
  CancelOnSignal(const CancelOnSignal&) = delete;
  CancelOnSignal& operator=(const CancelOnSignal&) = delete;

  // Ends the process by the signal that came, so that a shell sees 128+n; returns when none came.
  static void die_if_signalled();

 private:
  struct Handled {
    int number;
    struct sigaction before {};
  };
  Handled handled_[2] = {{SIGINT}, {SIGTERM}};
};

}  // namespace muster_command
