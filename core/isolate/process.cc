#include "core/isolate/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>

#include "core/cancel.h"

namespace muster {
namespace {

constexpr int kAboveOurs = 10;  // descriptors from here on are not those that the program gets
constexpr int64_t kMillisecond = 1'000'000;
// What muster-isolate has to end all, once told to; after that it is ended itself.
constexpr int64_t kEnding_ns = isolate::kTerm_ns + 250 * kMillisecond;

class Descriptor {
 public:
  Descriptor() = default;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void set(int number) { number_ = number; }
  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }
  // Moves it out of the way of those that the program gets.
  bool raise() {
    if (number_ >= kAboveOurs) return true;
    const int higher = ::fcntl(number_, F_DUPFD_CLOEXEC, kAboveOurs);
    if (higher < 0) return false;
    ::close(number_);
    number_ = higher;
    return true;
  }

 private:
  int number_ = -1;
};

struct Actions {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  Actions() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
  }
  ~Actions() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::string system_text(int number) { return std::generic_category().message(number); }

bool make_pair(Descriptor& ours, Descriptor& theirs) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
  ours.set(ends[0]);
  theirs.set(ends[1]);
  return ours.raise() && theirs.raise() && ::fcntl(ours.get(), F_SETFL, O_NONBLOCK) == 0;
}

bool make_pipe(Descriptor& ours, Descriptor& theirs) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  ours.set(ends[0]);
  theirs.set(ends[1]);
  return ours.raise() && theirs.raise() && ::fcntl(ours.get(), F_SETFL, O_NONBLOCK) == 0;
}

// The program's signals are as a shell would give them; what this process blocks or ignores is its own affair. Its group is its own: Ctrl-C
// is the launcher's to handle.
void set_attributes(posix_spawnattr_t* attributes) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(attributes, &none);
  posix_spawnattr_setsigdefault(attributes, &all);
  posix_spawnattr_setpgroup(attributes, 0);
  posix_spawnattr_setflags(
      attributes,
      static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP));
}

}  // namespace

Result<std::unique_ptr<BackendProcess>> BackendProcess::start(const ProcessRequest& request) {
  const auto failed = [&](int number) {
    return Error{Code::kUnavailable,
                 fmt::format("'{}' cannot be started: {}", request.helper, system_text(number)),
                 {}};
  };
  Descriptor frames, their_frames, control, their_control, output, their_output;
  if (!make_pair(frames, their_frames) || !make_pair(control, their_control) ||
      !make_pipe(output, their_output))
    return failed(errno);

  Actions actions;
  posix_spawn_file_actions_addopen(&actions.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions.files, their_output.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions.files, their_output.get(), STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions.files, their_frames.get(), isolate::kFrames);
  posix_spawn_file_actions_adddup2(&actions.files, their_control.get(), isolate::kControl);
  posix_spawn_file_actions_addclosefrom_np(&actions.files, isolate::kControl + 1);
  set_attributes(&actions.attributes);

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
  process->frames_ = frames.release();
  process->control_ = control.release();
  process->output_ = output.release();
  return process;
}

BackendProcess::~BackendProcess() {
  if (pid_ > 0) end_now();
  for (const int descriptor : {frames_, output_, control_}) {
    if (descriptor >= 0) ::close(descriptor);
  }
}

void BackendProcess::end_frames() const { ::shutdown(frames_, SHUT_WR); }

std::optional<isolate::Ended> BackendProcess::ended(int64_t wait_ns) {
  const int64_t until = monotonic_ns() + wait_ns;
  while (!over_) {
    isolate::Ended said;
    const ssize_t got = ::recv(control_, &said, sizeof said, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) {
      const int64_t rest = until - monotonic_ns();
      if (rest <= 0) break;
      pollfd waiting = {control_, POLLIN, 0};
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
  ::shutdown(frames_, SHUT_WR);
  static_cast<void>(::send(control_, &isolate::kEndNow, 1, MSG_NOSIGNAL | MSG_DONTWAIT));
  static_cast<void>(ended(kEnding_ns));
  // It exits after its one message; one that gave none hangs, and the backend's process dies with it.
  if (!over_) ::kill(pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

std::string words_of(const isolate::Ended& ended) {
  using isolate::Ended;
  if (ended.kind == Ended::kExecFailed)
    return fmt::format("it cannot be run: {}", system_text(ended.value));
  if (ended.kind == Ended::kForkFailed)
    return fmt::format("no process can be had for it: {}", system_text(ended.value));
  if (WIFEXITED(ended.value) && WEXITSTATUS(ended.value) == isolate::kClosed)
    return "its process closed the frames";
  if (!WIFSIGNALED(ended.value))
    return fmt::format("its process ended with exit status {}", WEXITSTATUS(ended.value));
  const int number = WTERMSIG(ended.value);
  const char* name = ::sigdescr_np(number);
  return fmt::format("its process was ended by signal {}{}", number,
                     name == nullptr ? "" : fmt::format(" ({})", name));
}

}  // namespace muster
