#include "core/isolate/child/supervise.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "core/cancel.h"
#include "core/isolate/child/descendants.h"

namespace muster::isolate {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
// How long the killed may take to be gone.
constexpr int64_t kKilling_ns = 200 * kMillisecond;

sigset_t child_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  return set;
}

// Those that left the backend's group, too, whose parents may take long to be torn down.
void kill_descendants() {
  for (const pid_t pid : descendants()) ::kill(pid, SIGKILL);
}

}  // namespace

Supervisor::Supervisor(pid_t launcher) : launcher_(launcher) {
  const sigset_t set = child_signal();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
#ifdef SYS_pidfd_open
  launcher_descriptor_ = static_cast<int>(::syscall(SYS_pidfd_open, launcher, 0));
#endif
}

void Supervisor::leave() const {
  const sigset_t set = child_signal();
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  ::close(signals_);
  if (launcher_descriptor_ >= 0) ::close(launcher_descriptor_);
}

void Supervisor::tell(const Ended& ended) {
  static_cast<void>(::send(kControl, &ended, sizeof ended, MSG_NOSIGNAL));
}

bool Supervisor::child_ended() {
  signalfd_siginfo drained;
  while (::read(signals_, &drained, sizeof drained) > 0) {
  }
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
      return false;
    if (info.si_pid == child_) return true;
    ::waitpid(info.si_pid, nullptr, 0);  // one that the backend left behind
  }
}

bool Supervisor::launcher_gone() const { return ::getppid() != launcher_; }

bool Supervisor::wait_for_child(int64_t nanoseconds) {
  const int64_t until = monotonic_ns() + nanoseconds;
  for (;;) {
    if (child_ended()) return true;
    const int64_t rest = until - monotonic_ns();
    if (rest <= 0) return false;
    pollfd waiting = {signals_, POLLIN, 0};
    ::poll(&waiting, 1, static_cast<int>(rest / kMillisecond) + 1);
  }
}

void Supervisor::read_control(IdleTime& idle, bool& end_now, bool& end_soon) {
  std::array<char, 64> said;
  const ssize_t got = ::recv(kControl, said.data(), said.size(), MSG_DONTWAIT);
  for (ssize_t at = 0; at < got; ++at) {
    const char what = said[static_cast<size_t>(at)];
    if (what == kEndNow) end_now = true;
    if (what == kCallBegins) idle.call_begins();
    if (what == kCallIsOver) idle.call_is_over();
  }
  if (got == 0) end_soon = true;
}

int Supervisor::watch(pid_t child, int failing, int64_t idle_period_ns) {
  child_ = child;
  // Said once more by the parent, so that the group is there whoever comes first.
  ::setpgid(child, child);
  bool end_now = false;
  bool end_soon = false;
  Ended ended;
  IdleTime idle(idle_period_ns);
  while (!end_now && !end_soon && !child_ended()) {
    std::array<pollfd, 3> waiting = {
        {{signals_, POLLIN, 0}, {kControl, POLLIN, 0}, {launcher_descriptor_, POLLIN, 0}}};
    // Where the kernel has no descriptors of processes, a look now and then.
    ::poll(waiting.data(), waiting.size(),
           launcher_descriptor_ < 0 ? 250 : idle.milliseconds_left());
    if (waiting[1].revents != 0) read_control(idle, end_now, end_soon);
    if (launcher_gone()) end_soon = true;
    ended.idle_ns = idle.too_much();
    if (ended.idle_ns != 0) end_now = true;
  }
  if (end_soon) wait_for_child(kGrace_ns);
  if (!child_ended()) {
    ::kill(-child_, SIGTERM);
    ::kill(-child_, SIGCONT);  // one that was stopped could not hear it
    wait_for_child(kTerm_ns);
  }
  end_all(ended);
  int number = 0;
  if (::read(failing, &number, sizeof number) == sizeof number) {
    ended.kind = Ended::kExecFailed;
    ended.value = number;
  }
  tell(ended);
  return 0;
}

void Supervisor::end_all(Ended& ended) {
  // Its process id is its own until its status is taken, so the group is too.
  ::kill(-child_, SIGKILL);
  const int64_t until = monotonic_ns() + kKilling_ns;
  bool taken = false;
  while (monotonic_ns() < until) {
    int status = 0;
    rusage used{};
    const pid_t gone = ::wait4(-1, &status, WNOHANG, &used);
    if (gone < 0 && errno == ECHILD) return;
    if (gone == child_) {
      taken = true;
      ended.kind = Ended::kWait;
      ended.value = status;
      ended.peak_kib = used.ru_maxrss;
    }
    if (gone > 0) continue;
    kill_descendants();
    if (!taken) ::kill(-child_, SIGKILL);
    pollfd waiting = {signals_, POLLIN, 0};
    ::poll(&waiting, 1, 1);
    signalfd_siginfo drained;
    while (::read(signals_, &drained, sizeof drained) > 0) {
    }
  }
}

}  // namespace muster::isolate
