#include "core/isolate/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "core/cancel.h"
#include "core/service/spawn.h"

namespace muster {
namespace {

constexpr int kAboveOurs = 10;  // descriptors from here on are not those that the program gets
constexpr int64_t kMillisecond = 1'000'000;
// What muster-isolate has to end all, once told to; after that it is ended itself.
constexpr int64_t kEnding_ns = isolate::kTerm_ns + 250 * kMillisecond;

// Of two ends just opened ours does not wait, and neither is in the way of those that the program gets.
bool take(const std::array<int, 2>& ends, FileDescriptor& ours, FileDescriptor& theirs) {
  ours.reset(ends[0]);
  theirs.reset(ends[1]);
  return ours.raise(kAboveOurs) && theirs.raise(kAboveOurs) &&
         ::fcntl(ours.get(), F_SETFL, O_NONBLOCK) == 0;
}

bool make_pair(FileDescriptor& ours, FileDescriptor& theirs) {
  std::array<int, 2> ends;
  return ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0 &&
         take(ends, ours, theirs);
}

bool make_pipe(FileDescriptor& ours, FileDescriptor& theirs) {
  std::array<int, 2> ends;
  return ::pipe2(ends.data(), O_CLOEXEC) == 0 && take(ends, ours, theirs);
}

}  // namespace

Result<std::unique_ptr<BackendProcess>> BackendProcess::start(const ProcessRequest& request) {
  const auto failed = [&](int number) {
    return Error{Code::kUnavailable,
                 fmt::format("'{}' cannot be started: {}", request.helper, system_text(number)),
                 {}};
  };
  FileDescriptor frames, their_frames, control, their_control, output, their_output;
  if (!make_pair(frames, their_frames) || !make_pair(control, their_control) ||
      !make_pipe(output, their_output))
    return failed(errno);

  // Ctrl-C is the launcher's to handle.
  SpawnActions actions(true);
  posix_spawn_file_actions_addopen(&actions.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions.files, their_output.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions.files, their_output.get(), STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions.files, their_frames.get(), isolate::kFrames);
  posix_spawn_file_actions_adddup2(&actions.files, their_control.get(), isolate::kControl);
  posix_spawn_file_actions_addclosefrom_np(&actions.files, isolate::kControl + 1);

  std::vector<std::string> arguments = {"muster-isolate"};
  arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
  std::vector<std::string> environment = request.environment;
  std::unique_ptr<BackendProcess> process(new BackendProcess);
  const int number =
      ::posix_spawn(&process->pid_, request.helper.c_str(), &actions.files, &actions.attributes,
                    pointers_to(arguments).data(), pointers_to(environment).data());
  if (number != 0) {
    process->pid_ = -1;
    return failed(number);
  }
  process->frames_ = std::move(frames);
  process->control_ = std::move(control);
  process->output_ = std::move(output);
  return process;
}

std::unique_ptr<BackendProcess> BackendProcess::adopt(FileDescriptor frames, FileDescriptor output,
                                                      FileDescriptor control) {
  std::unique_ptr<BackendProcess> process(new BackendProcess);
  process->frames_ = std::move(frames);
  process->output_ = std::move(output);
  process->control_ = std::move(control);
  return process;
}

BackendProcess::~BackendProcess() {
  if (pid_ > 0) end_now();
}

void BackendProcess::say(char what) const {
  static_cast<void>(::send(control(), &what, 1, MSG_NOSIGNAL | MSG_DONTWAIT));
}

void BackendProcess::end_frames() const { ::shutdown(frames(), SHUT_WR); }

std::optional<isolate::Ended> BackendProcess::ended(int64_t wait_ns) {
  const int64_t until = monotonic_ns() + wait_ns;
  while (!over_) {
    isolate::Ended said;
    const ssize_t got = ::recv(control(), &said, sizeof said, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) {
      const int64_t rest = until - monotonic_ns();
      if (rest <= 0) break;
      pollfd waiting = {control(), POLLIN, 0};
      ::poll(&waiting, 1, static_cast<int>(rest / kMillisecond) + 1);
      continue;
    }
    over_ = true;
    if (got == sizeof said) ended_ = said;
  }
  return ended_;
}

void BackendProcess::end_now() {
  if (pid_ <= 0) return;
  ::shutdown(frames(), SHUT_WR);
  say(isolate::kEndNow);
  static_cast<void>(ended(kEnding_ns));
  // It exits after its one message; one that gave none hangs, and the backend's process dies with it.
  if (!over_) ::kill(pid_, SIGKILL);
  // What it writes as it exits must not wait for somebody to read it.
  output_.reset();
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

bool is_out_of_memory(const isolate::Ended& ended) {
  return ended.kind == isolate::Ended::kWait && WIFEXITED(ended.value) &&
         WEXITSTATUS(ended.value) == isolate::kOutOfMemory;
}

std::string words_of(const isolate::Ended& ended) {
  using isolate::Ended;
  if (ended.kind == Ended::kExecFailed)
    return fmt::format("it cannot be run: {}", system_text(ended.value));
  if (ended.kind == Ended::kForkFailed)
    return fmt::format("no process can be had for it: {}", system_text(ended.value));
  if (ended.idle_ns != 0)
    return fmt::format("it used {:.1f} s of processor time between two calls, and was ended",
                       static_cast<double>(ended.idle_ns) / 1e9);
  if (WIFEXITED(ended.value) && WEXITSTATUS(ended.value) == isolate::kClosed)
    return "its process closed the frames";
  if (is_out_of_memory(ended)) return "its process had no memory";
  if (!WIFSIGNALED(ended.value))
    return fmt::format("its process ended with exit status {}", WEXITSTATUS(ended.value));
  const int number = WTERMSIG(ended.value);
  const char* name = ::sigdescr_np(number);
  return fmt::format("its process was ended by signal {}{}", number,
                     name == nullptr ? "" : fmt::format(" ({})", name));
}

}  // namespace muster
