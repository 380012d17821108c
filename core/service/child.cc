// One program: started, read, and ended, whatever it does.
#include "core/service/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "core/cancel.h"
#include "core/file_descriptor.h"
#include "core/service/file.h"
#include "core/service/spawn.h"
#include "core/spec/quote.h"

namespace muster {
namespace {

constexpr int kSlice_ms = 5;  // a cancel and an end are seen after this long
constexpr int64_t kGrace_ns =
    200'000'000;  // between SIGTERM and SIGKILL; the core's caller has 500 ms
constexpr size_t kErrorOutput = 4096;

// A pipe whose ends are above the standard streams, so that none of them is overwritten in the child before it is used.
class Pipe {
 public:
  bool open() {
    std::array<int, 2> ends;
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    reading_.reset(ends[0]);
    writing_.reset(ends[1]);
    return reading_.raise(STDERR_FILENO + 1) && writing_.raise(STDERR_FILENO + 1) &&
           fcntl(reading_.get(), F_SETFL, O_NONBLOCK) == 0;
  }
  int reading() const { return reading_.get(); }
  int writing() const { return writing_.get(); }
  void close_writing() { writing_.reset(); }

 private:
  FileDescriptor reading_;
  FileDescriptor writing_;
};

Error not_executable(const std::string& path, const std::string& why) {
  return Error{
      Code::kPermissionDenied, fmt::format("the program '{}' cannot be run: {}", path, why), {}}
      .with("hint", "check that it is the right file, and that this user may execute it");
}

// The file to execute.
Result<std::string> find_program(const std::string& name) {
  struct stat info {};
  if (name.find('/') != std::string::npos) {
    Result<std::string> path = absolute_path(name);
    if (!path) return path;
    if (stat(path->c_str(), &info) != 0) {
      if (errno == ENOENT || errno == ENOTDIR)
        return Error{Code::kNotFound, fmt::format("the program '{}' does not exist", *path), {}};
      return not_executable(*path, system_text(errno));
    }
    if (!S_ISREG(info.st_mode)) return not_executable(*path, "it is not a regular file");
    if (access(path->c_str(), X_OK) != 0) return not_executable(*path, system_text(errno));
    return path;
  }
  const char* list = std::getenv("PATH");
  const std::string folders = list == nullptr ? "" : list;
  std::string forbidden;
  for (size_t at = 0; at <= folders.size();) {
    const size_t end = std::min(folders.find(':', at), folders.size());
    const std::string path = folders.substr(at, end - at) + "/" + name;
    at = end + 1;
    // A folder relative to where this process happens to stand is anybody's.
    if (path[0] != '/' || stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (access(path.c_str(), X_OK) == 0) return path;
    if (forbidden.empty()) forbidden = path;
  }
  if (!forbidden.empty()) return not_executable(forbidden, system_text(EACCES));
  return Error{Code::kNotFound,
               fmt::format("there is no program {} in the folders of PATH ({})", quote(name),
                           list == nullptr ? "which is not set" : folders),
               {}};
}

// This process's environment with `above` over it.
std::vector<std::string> environment_with(const std::vector<std::string>& above) {
  std::vector<std::string> out;
  std::map<std::string, size_t> places;
  const auto add = [&](std::string entry) {
    const auto [place, added] = places.emplace(entry.substr(0, entry.find('=')), out.size());
    if (added) {
      out.push_back(std::move(entry));
    } else {
      out[place->second] = std::move(entry);
    }
  };
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) add(*entry);
  for (const std::string& entry : above) add(entry);
  return out;
}

// A running child. Its process id is ours until wait() took its status: until then no signal can reach a stranger.
class Child {
 public:
  Child(pid_t pid, bool own_group) : pid_(pid), target_(own_group ? -pid : pid) {}
  ~Child() {
    if (!ended()) end();
    reap();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Whether it has ended; its status is not taken yet.
  bool ended() {
    if (ended_ || lost_) return true;
    siginfo_t info{};
    while (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
      if (errno == EINTR) continue;
      return lost_ = true;
    }
    return ended_ = info.si_pid == pid_;
  }

  // Asks it and all of its group to end, then makes them.
  void end() {
    if (lost_) return;
    kill(target_, SIGTERM);
    kill(target_, SIGCONT);  // one that was stopped could not hear it
    const int64_t until = monotonic_ns() + kGrace_ns;
    while (!ended() && monotonic_ns() < until) poll(nullptr, 0, kSlice_ms);
    if (!lost_) kill(target_, SIGKILL);
    // One that hangs in the kernel is left: nothing can end it.
    const int64_t give_up = monotonic_ns() + kGrace_ns;
    while (!ended() && monotonic_ns() < give_up) poll(nullptr, 0, kSlice_ms);
  }

  // The exit status, once it has ended; nothing when somebody else in this process took it.
  std::optional<int64_t> status() {
    reap();
    if (lost_) return std::nullopt;
    if (WIFSIGNALED(status_)) return 128 + WTERMSIG(status_);
    return WEXITSTATUS(status_);
  }

 private:
  void reap() {
    if (reaped_ || lost_ || !ended_) return;
    // What it left in the background ends with it; until its status is taken the group is its own.
    if (target_ < 0) kill(target_, SIGKILL);
    while (waitpid(pid_, &status_, 0) < 0) {
      if (errno == EINTR) continue;
      lost_ = true;
      return;
    }
    reaped_ = true;
  }

  pid_t pid_;
  pid_t target_;
  bool ended_ = false;
  bool lost_ = false;
  bool reaped_ = false;
  int status_ = 0;
};

// Reads what is there, a pipe's capacity at most: a program may write without end. False: nothing will come any more.
template <typename Take>
bool read_some(int fd, const Take& take) {
  std::array<char, 16384> buffer;
  for (int pieces = 0; pieces < 64; ++pieces) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got > 0) {
      if (!take(std::string_view(buffer.data(), static_cast<size_t>(got)))) return true;
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    return got < 0 && errno == EAGAIN;
  }
  return true;
}

void show(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

bool has_terminal() { return isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp(); }

Result<ChildResult> run_child(const ChildRequest& request,
                              const std::function<Code()>& waiting_ended) {
  const Result<std::string> program = find_program(request.arguments.at(0));
  if (!program) return program.error();
  const auto cannot_start = [&](int error) {
    return Error{
        Code::kUnavailable,
        fmt::format("the program '{}' cannot be started: {}", *program, system_text(error)),
        {}};
  };

  Pipe output;
  Pipe error_output;
  if (!output.open() || !error_output.open()) return cannot_start(errno);
  // In a group of its own a program may not read from the terminal.
  SpawnActions actions(!request.terminal);
  if (!request.terminal)
    posix_spawn_file_actions_addopen(&actions.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions.files, output.writing(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions.files, error_output.writing(), STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&actions.files, STDERR_FILENO + 1);

  std::vector<std::string> arguments = request.arguments;
  std::vector<std::string> environment = environment_with(request.environment);
  pid_t pid = -1;
  const int failed = posix_spawn(&pid, program->c_str(), &actions.files, &actions.attributes,
                                 pointers_to(arguments).data(), pointers_to(environment).data());
  if (failed == EACCES || failed == ENOEXEC || failed == ENOENT)
    // The interpreter that a script names, too, may be what is not there.
    return not_executable(*program, failed == ENOENT
                                        ? "the interpreter that it names does not exist"
                                        : system_text(failed));
  if (failed != 0) return cannot_start(failed);
  Child child(pid, !request.terminal);
  output.close_writing();
  error_output.close_writing();

  ChildResult result;
  bool too_long = false;
  const auto take_output = [&](std::string_view piece) {
    if (result.output.size() + piece.size() > request.maximum_output) return !(too_long = true);
    result.output.append(piece);
    return true;
  };
  const auto take_error = [&](std::string_view piece) {
    if (request.terminal) show(piece);
    result.error_output.append(piece);
    if (result.error_output.size() > kErrorOutput)
      result.error_output.erase(0, result.error_output.size() - kErrorOutput);
    return true;
  };
  std::array<pollfd, 2> waiting = {
      {{output.reading(), POLLIN, 0}, {error_output.reading(), POLLIN, 0}}};
  for (;;) {
    if (const Code code = waiting_ended(); code != Code::kOk) {
      child.end();
      return Error{code, "", {}};
    }
    // Asked before reading: what it wrote before its end is then read whole.
    const bool ended = child.ended();
    if (!ended) poll(waiting.data(), waiting.size(), kSlice_ms);
    if (waiting[0].fd >= 0 && !read_some(output.reading(), take_output)) waiting[0].fd = -1;
    if (waiting[1].fd >= 0 && !read_some(error_output.reading(), take_error)) waiting[1].fd = -1;
    if (too_long) {
      child.end();
      return Error{Code::kResourceExhausted,
                   fmt::format("the program '{}' wrote more than the {} bytes it may", *program,
                               request.maximum_output),
                   {}};
    }
    if (ended) break;
  }
  const std::optional<int64_t> status = child.status();
  if (!status)
    return Error{
        Code::kFailedPrecondition,
        fmt::format("how the program '{}' ended is not known: this process ignores SIGCHLD, "
                    "or takes the status of every child",
                    *program),
        {}};
  result.exit_status = *status;
  return result;
}

}  // namespace muster
