#include "sdk/muster-check/process_state.h"

#include <fenv.h>
#include <fmt/format.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

extern char** environ;

namespace muster::check {
namespace {

std::atomic<int> fork_calls{0};

std::string handler_of(int number) {
  struct sigaction action {};
  if (::sigaction(number, nullptr, &action) != 0) return "";
  const auto* handler = (action.sa_flags & SA_SIGINFO) != 0
                            ? reinterpret_cast<const void*>(action.sa_sigaction)
                            : reinterpret_cast<const void*>(action.sa_handler);
  const std::string name = action.sa_handler == SIG_DFL ? "the default"
                           : action.sa_handler == SIG_IGN
                               ? "ignored"
                               : fmt::format("a function at {}", handler);
  return fmt::format("{}, flags {:#x}", name, action.sa_flags);
}

std::string blocked_signals() {
  sigset_t blocked;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  std::string text;
  for (int number = 1; number < NSIG; ++number) {
    if (::sigismember(&blocked, number) == 1) text += fmt::format(" {}", number);
  }
  return text.empty() ? "nothing" : text.substr(1);
}

std::string line_of(const char* file, std::string_view key) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key)) return line.substr(key.size());
  }
  return "";
}

std::string stream_text(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return "closed";
  return fmt::format("device {} inode {}", status.st_dev, status.st_ino);
}

std::string name_of(const std::filesystem::path& link) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::read_symlink(link, error);
  return error ? "?" : target.string();
}

}  // namespace

ProcessState process_state() {
  ProcessState state;
  for (int number = 1; number < NSIG; ++number) {
    const std::string handler = handler_of(number);
    if (!handler.empty())
      state[fmt::format("the handler of signal {} ({})", number, ::strsignal(number))] = handler;
  }
  state["the locale"] = ::setlocale(LC_ALL, nullptr);
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const size_t equals = text.find('=');
    state[fmt::format("the environment variable {}", text.substr(0, equals))] =
        equals == std::string_view::npos ? "" : text.substr(equals + 1);
  }
  std::error_code error;
  state["the working directory"] = std::filesystem::current_path(error).string();
  state["the umask"] = line_of("/proc/self/status", "Umask:");
  const char* const streams[] = {"standard input", "standard output", "standard error"};
  for (int i = 0; i < 3; ++i) state[streams[i]] = stream_text(i);
  return state;
}

ProcessState thread_state() {
  return {{"the blocked signals of its thread", blocked_signals()},
          {"the locale of its thread",
           ::uselocale(nullptr) == LC_GLOBAL_LOCALE ? "the process's" : "one of its own"},
          {"the rounding of floating-point numbers of its thread", std::to_string(::fegetround())}};
}

std::vector<std::string> differences(const ProcessState& before, const ProcessState& after) {
  std::vector<std::string> lines;
  for (const auto& [what, was] : before) {
    const auto now = after.find(what);
    if (now == after.end()) {
      lines.push_back(fmt::format("{}: it was '{}', and is gone", what, was));
    } else if (now->second != was) {
      lines.push_back(fmt::format("{}: it was '{}', and is '{}'", what, was, now->second));
    }
  }
  for (const auto& [what, is] : after) {
    if (before.find(what) == before.end())
      lines.push_back(fmt::format("{}: it was not there, and is '{}'", what, is));
  }
  return lines;
}

std::map<int, std::string> threads() {
  std::map<int, std::string> all;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::ifstream name(entry.path() / "comm");
    std::string text;
    if (std::getline(name, text)) all[std::stoi(entry.path().filename().string())] = text;
  }
  return all;
}

std::map<int, std::string> open_files() {
  std::map<int, std::string> all;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const std::string name = name_of(entry.path());
    // The listing itself has one open.
    if (name.find("/proc/") == std::string::npos || name.find("/fd") == std::string::npos)
      all[std::stoi(entry.path().filename().string())] = name;
  }
  return all;
}

std::vector<int> children() {
  std::vector<int> all;
  for (const auto& [number, name] : threads()) {
    std::ifstream list(fmt::format("/proc/self/task/{}/children", number));
    all.insert(all.end(), std::istream_iterator<int>(list), std::istream_iterator<int>());
  }
  return all;
}

namespace {

int64_t waited_for() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  return usage.ru_minflt + usage.ru_majflt;  // no process lives without one
}

}  // namespace

ForkCount::ForkCount() : waited_for_(waited_for()), forked_(fork_calls) {
  static const int registered = ::pthread_atfork([] { fork_calls.fetch_add(1); }, nullptr, nullptr);
  static_cast<void>(registered);
}

int ForkCount::count() const {
  const int seen = fork_calls - forked_;
  return seen > 0 ? seen : waited_for() > waited_for_ || !children().empty() ? 1 : 0;
}

}  // namespace muster::check
