#include "sdk/muster-check/runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>

#include "core/cancel.h"
#include "core/service/text.h"

extern char** environ;

namespace muster::check {
namespace {

constexpr int kReport = 3;  // the file descriptor that a test reports to
constexpr size_t kShown = 500;

// A file in memory that a test's process writes to.
class Kept {
 public:
  explicit Kept(const char* name) : descriptor_(::memfd_create(name, MFD_CLOEXEC)) {}
  ~Kept() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  int descriptor() const { return descriptor_; }
  std::string text() const {
    std::string text;
    char piece[4096];
    for (off_t at = 0;;) {
      const ssize_t size = ::pread(descriptor_, piece, sizeof piece, at);
      if (size <= 0) return text;
      text.append(piece, static_cast<size_t>(size));
      at += size;
    }
  }

 private:
  int descriptor_;
};

// Waits for the process; -1 when its time was over first. Then it is ended with all that it started.
int wait_for(pid_t process, int seconds) {
  const int64_t until = monotonic_ns() + int64_t{seconds} * 1'000'000'000;
  int status = 0;
  for (int rest_ms = 1;; rest_ms = std::min(rest_ms * 2, 20)) {
    const pid_t ended = ::waitpid(process, &status, WNOHANG);
    if (ended == process) return status;
    if (ended < 0 && errno != EINTR) return -1;
    if (monotonic_ns() >= until) break;
    ::poll(nullptr, 0, rest_ms);
  }
  ::kill(-process, SIGKILL);
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return -1;
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("ended the process by signal {} ({})", WTERMSIG(status),
                       ::strsignal(WTERMSIG(status)));
  return fmt::format("ended the process with status {}", WEXITSTATUS(status));
}

std::string last_of(const std::string& text) {
  const std::string clean = clean_text(text, true);
  return clean.size() <= kShown ? clean : "... " + clean.substr(clean.size() - kShown);
}

// What the standard streams and the end of the process say beyond the report.
void read_verdict(const Test& test, int status, const std::string& out, const std::string& err,
                  Verdict& verdict) {
  const std::string step = verdict.step.empty() ? "its start" : verdict.step;
  if (status == -1) {
    verdict.findings.push_back(
        {verdict.step_duty.empty() ? "MP-12" : verdict.step_duty,
         fmt::format("it had not returned from '{}' when the {} seconds of the test were over",
                     step, test.seconds)});
  } else if (!verdict.ended) {
    verdict.findings.push_back(
        {"MP-26", fmt::format("it {} in '{}'{}", how_it_ended(status), step,
                              err.empty() ? "" : ", and standard error has: " + last_of(err))});
  }
  if (!out.empty())
    verdict.findings.push_back({"MP-16", "it wrote to standard output: " + last_of(out)});
  if (!err.empty() && verdict.ended)
    verdict.findings.push_back({"MP-16", "it wrote to standard error: " + last_of(err)});
}

}  // namespace

TestResult run_apart(const Test& test, const std::vector<std::string>& arguments) {
  TestResult result;
  const int64_t start = monotonic_ns();
  const Kept report("report");
  const Kept out("stdout");
  const Kept err("stderr");
  std::vector<std::string> words = {"muster-check", "--run-one", test.name};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, out.descriptor(), 1);
  ::posix_spawn_file_actions_adddup2(&files, err.descriptor(), 2);
  ::posix_spawn_file_actions_adddup2(&files, report.descriptor(), kReport);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t process = -1;
  const int failed =
      ::posix_spawn(&process, "/proc/self/exe", &files, &attributes, pointers.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  if (failed != 0) {
    result.kind = TestResult::Kind::kBroken;
    result.verdict.notes.push_back(fmt::format("no process for it: {}", ::strerror(failed)));
    return result;
  }
  const int status = wait_for(process, test.seconds);
  ::kill(-process, SIGKILL);  // what it left behind
  result.verdict = read_report(report.text());
  read_verdict(test, status, out.text(), err.text(), result.verdict);
  result.seconds = static_cast<double>(monotonic_ns() - start) / 1e9;
  result.kind = !result.verdict.findings.empty() ? TestResult::Kind::kFailed
                : result.verdict.skipped.empty() ? TestResult::Kind::kPassed
                                                 : TestResult::Kind::kSkipped;
  return result;
}

void run_here(const Test& test, const Target& target, uint64_t seed, int descriptor) {
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  Reporter report(descriptor);
  Trial trial{target, report, seed};
  if (test.loads && !target.found) {
    report.skip("it cannot be loaded: " + target.unusable.message);
  } else {
    test.run(trial);
  }
  report.end();
}

}  // namespace muster::check
