// What libmuster and muster-isolate, the program that stands between it and a backend's process, say to each other. Both are of
// one version: this is nobody else's.
#pragma once

#include <cstdint>

namespace muster::isolate {

// Descriptors of the program at its start.
inline constexpr int kFrames = 3;   // the backend's end of the frames
inline constexpr int kControl = 4;  // the program's own

// The exit status of a process with a plugin in it whose descriptors the plugin has closed: it cannot say so any more.
inline constexpr int kClosed = 117;

// The exit status of one that the system gives no memory or no thread.
inline constexpr int kOutOfMemory = 118;

// libmuster writes this byte: end the backend now. The end of the stream: the launcher is gone.
inline constexpr char kEndNow = 'T';
// And these, so that the program knows when the backend should be idle, which it is not before the first of them.
inline constexpr char kCallBegins = 'B';
inline constexpr char kCallIsOver = 'O';

// What a backend gets after its Cancel, or the end of the frames, before it is asked by SIGTERM; and then before SIGKILL.
inline constexpr int64_t kGrace_ns = 300'000'000;
inline constexpr int64_t kTerm_ns = 100'000'000;

// The one message of the program: how the backend's process ended. Everything that it started has ended then.
struct Ended {
  enum Kind : int32_t { kWait = 1, kExecFailed = 2, kForkFailed = 3 };
  int32_t kind = 0;
  int32_t value = 0;     // of waitpid; or errno
  int64_t peak_kib = 0;  // the most memory that it had
  int64_t idle_ns =
      0;  // the processor time that it used between calls, when it was ended for that; else 0
};

}  // namespace muster::isolate
