// muster-isolate: runs one backend in a process of its own, and sees to it that nothing of it is left.
//
//   muster-isolate LAUNCHER MEMORY IDLE plugin FILE IDENTITY    a shared object, loaded here
//   muster-isolate LAUNCHER MEMORY IDLE program FILE ARGUMENT...  an executable that speaks the frames itself
//
// libmuster alone starts it: descriptor 3 is the backend's end of the frames, 4 says when to end it. LAUNCHER is libmuster's
// process; MEMORY the bytes that the backend may have, 0 for any; IDLE how long in nanoseconds it may use more than half a processor
// between calls.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/isolate/child/run_plugin.h"
#include "core/isolate/child/supervise.h"
#include "core/isolate/control.h"

namespace {

using muster::isolate::Ended;

// A sanitizer's shadow of all memory counts as data.
#ifdef MUSTER_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

bool is_socket(int descriptor) {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
}

// What holds for the backend's process, whoever's code runs in it.
bool confine(pid_t supervisor, unsigned long long memory) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) return false;  // it died before that was said
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (memory == 0 || kSanitized) return true;
  // What it may write to, not what it maps: a Go or a Java runtime reserves far more than it takes.
  const rlimit data = {memory, memory};
  ::setrlimit(RLIMIT_DATA, &data);
  return true;
}

[[noreturn]] void run_program(char** arguments, int failing) {
  ::setenv("MUSTER_FRAMES_FD", "3", 1);
  ::execv(arguments[0], arguments);
  const int number = errno;
  static_cast<void>(!::write(failing, &number, sizeof number));
  ::_exit(127);
}

int usage() {
  std::fprintf(stderr,
               "muster-isolate is started by libmuster, for a backend with 'isolate: true' and for "
               "backends that are executables; it is of no use by hand\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 4 ? argv[4] : "";
  const bool plugin = what == "plugin" && argc == 7;
  if ((!plugin && !(what == "program" && argc > 5)) || !is_socket(muster::isolate::kFrames) ||
      !is_socket(muster::isolate::kControl))
    return usage();
  const auto launcher = static_cast<pid_t>(std::strtol(argv[1], nullptr, 10));
  const unsigned long long memory = std::strtoull(argv[2], nullptr, 10);
  const int64_t idle_period_ns = std::strtoll(argv[3], nullptr, 10);

  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  muster::isolate::Supervisor supervisor(launcher);
  std::array<int, 2> failing{-1, -1};
  if (::pipe2(failing.data(), O_CLOEXEC) != 0) {
    supervisor.tell({Ended::kForkFailed, errno});
    return 1;
  }
  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    supervisor.tell({Ended::kForkFailed, errno});
    return 1;
  }
  if (child == 0) {
    supervisor.leave();
    ::close(muster::isolate::kControl);
    if (!confine(self, memory)) ::_exit(1);
    if (!plugin) run_program(argv + 5, failing[1]);
    ::close(failing[0]);
    ::close(failing[1]);
    return muster::isolate::run_plugin(argv[5], argv[6]);
  }
  ::close(failing[1]);
  ::close(muster::isolate::kFrames);
  return supervisor.watch(child, failing[0], idle_period_ns);
}
