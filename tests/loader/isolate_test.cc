// A plugin in a process of its own: whatever it does, the launcher gets an error that says so, and nothing of it is left.
#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "core/file_descriptor.h"
#include "core/isolate/conversation.h"
#include "core/isolate/policy.h"
#include "tests/loader/world.h"

using namespace muster;
using namespace muster::test;

namespace {

using Clock = std::chrono::steady_clock;

// What a loaded machine needs on top of what is promised, and a sanitizer.
constexpr int64_t kSlack_ms = kSanitized ? 4'000 : 400;

int64_t milliseconds_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
}

size_t open_descriptors() {
  size_t count = 0;
  DIR* all = ::opendir("/proc/self/fd");
  while (::readdir(all) != nullptr) ++count;
  ::closedir(all);
  return count;
}

bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

bool lives(pid_t pid) { return ::kill(pid, 0) == 0; }

std::string content(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

pid_t pid_in(const std::string& file) {
  pid_t pid = 0;
  for (int turn = 0; turn < 200 && pid == 0; ++turn) {
    std::ifstream(file) >> pid;
    if (pid == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return pid;
}

bool ends(pid_t pid) {
  for (int turn = 0; turn < 1'000 && lives(pid); ++turn)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return !lives(pid);
}

// The plugin "wild", isolated, doing one thing; nothing of it is left at the end.
struct Wild : World {
  explicit Wild(const std::string& what, uint64_t memory = IsolatedSetting::kIsolatedMemory)
      : World("wild", "wild"), options(fmt_options(what)) {
    isolated = IsolatedSetting{ISOLATE, memory};
  }
  ~Wild() {
    // The thread of a call may be the last that holds the backend.
    const auto start = Clock::now();
    while ((has_children() || open_descriptors() != descriptors) &&
           milliseconds_since(start) < kSlack_ms)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK_FALSE(has_children());
    CHECK(open_descriptors() == descriptors);
  }
  std::string fmt_options(const std::string& what) const { return options_for(what, file()); }
  static std::string options_for(const std::string& what, const std::string& file) {
    return "{\"do\": \"" + what + "\", \"file\": \"" + file + "\"}";
  }
  std::string file() const { return dir.path() + "/said"; }

  // The failure of one resolve, which has to come within so long.
  Error failure(int64_t deadline_ms, int64_t within_ms) {
    auto backend = create(options);
    REQUIRE(backend.ok());
    const auto start = Clock::now();
    BackendOutcome outcome = resolve(**backend, deadline_ms);
    CHECK(milliseconds_since(start) < within_ms + kSlack_ms);
    REQUIRE_FALSE(outcome.answer.ok());
    return std::move(outcome.answer).error();
  }

  size_t descriptors = open_descriptors();
  std::string options;
};

}  // namespace

TEST_CASE("an isolated plugin answers") {
  Wild world("answer");
  const auto answer = world.answer(world.options);
  REQUIRE(answer.ok());
  CHECK(answer->spec.task_count() == 1);
  CHECK(has(world.lines.text(), "wild (cluster): destroyed"));
}

TEST_CASE("a crash is an error that says the signal, and the launcher lives on") {
  Wild world("crash");
  const Error error = world.failure(10'000, 500);
  CHECK(error.code == Code::kUnavailable);
  CHECK(error.detail("duty") == "MP-26");
  CHECK(has(error.message,
            "plugin 'wild' (cluster) misbehaved: its process was ended by signal 11 (Segmentation "
            "fault) during resolve (MP-26)"));
}

TEST_CASE("a crash in create is an error of opening") {
  Wild world("crash in create");
  const auto backend = world.create(world.options);
  REQUIRE_FALSE(backend.ok());
  CHECK(has(backend.error().message, "signal 11 (Segmentation fault) during create"));
}

TEST_CASE("after a crash the next resolve starts anew") {
  Wild world("crash once");
  const auto backend = world.create(world.options);
  REQUIRE(backend.ok());
  CHECK_FALSE(world.resolve(**backend).answer.ok());
  CHECK(world.resolve(**backend).answer.ok());
}

TEST_CASE("an abort tells what was written before it") {
  Wild world("abort");
  const Error error = world.failure(10'000, 500);
  CHECK(has(error.message, "signal 6 (Aborted) during resolve"));
  CHECK(has(error.message, "; the last that it wrote: the invariant does not hold"));
  CHECK(has(world.lines.text(), "its process wrote: the invariant does not hold"));
}

TEST_CASE("an exit is an error that says the status") {
  Wild world("exit");
  CHECK(has(world.failure(10'000, 500).message, "its process ended with exit status 3 during"));
}

TEST_CASE("an exception that leaves a function is told as in process") {
  World world("throws", "throws");
  world.isolated = IsolatedSetting{ISOLATE};
  const Error isolated = world.error(R"({"do": "resolve"})");
  world.isolated.reset();
  const Error in_process = world.error(R"({"do": "resolve"})");
  CHECK(isolated.message == in_process.message);
  CHECK(isolated.detail("duty") == "MP-13");
}

TEST_CASE("an endless loop is ended after its deadline") {
  Wild world("loop");
  const Error error = world.failure(100, 600);
  CHECK(error.code == Code::kDeadlineExceeded);
  CHECK(error.detail("duty") == "MP-12");
  CHECK(has(error.message,
            "has not returned 300 ms after its deadline; its process was ended (MP-12)"));
}

TEST_CASE("one that ignores SIGTERM is killed, and says what it waited for") {
  Wild world("ignore");
  const Error error = world.failure(100, 600);
  // With a sanitizer killing takes so long that the core does not wait for it.
  CHECK((kSanitized ||
         has(error.message,
             "after its deadline, while waiting for: nobody; its process was ended (MP-12)")));
}

TEST_CASE("one that is ended may clear up first") {
  Wild world("last word");
  CHECK(world.failure(100, 600).code == Code::kDeadlineExceeded);
  CHECK(content(world.file()) == "asked to end\n");
}

TEST_CASE("one that kills its keeper ends with it") {
  Wild world("kill its keeper");
  const Error error = world.failure(500, 1'000);
  const pid_t plugin = pid_in(world.file());
  REQUIRE(plugin > 0);
  CHECK(ends(plugin));
  CHECK(has(error.message, "its process closed the frames during resolve"));
}

TEST_CASE("a cancel ends it as a deadline does") {
  Wild world("loop");
  const auto backend = world.create(world.options);
  REQUIRE(backend.ok());
  const CancelToken cancel;
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    cancel.cancel();
  });
  const auto start = Clock::now();
  const BackendOutcome outcome = world.resolve(**backend, 60'000, cancel);
  CHECK(milliseconds_since(start) < 50 + 500 + kSlack_ms);
  canceller.join();
  REQUIRE_FALSE(outcome.answer.ok());
  CHECK(outcome.answer.error().code == Code::kCancelled);
  CHECK(has(outcome.answer.error().message, "300 ms after being cancelled"));
}

TEST_CASE("a deadline in the middle of a long frame leaves the frames whole") {
  Wild world("read nothing for a while");
  std::ofstream(world.file()) << std::string(size_t{8} << 20, ' ');
  const auto backend = world.create(world.options);
  REQUIRE(backend.ok());
  // It has 300 ms more, and answers in them where the machine is not too slow for that.
  const BackendOutcome outcome = world.resolve(**backend, 500);
  if (outcome.answer.ok())
    CHECK(outcome.answer->spec.jobs()[0].tasks.begin()->index == 8 << 20);
  else
    CHECK(outcome.answer.error().code == Code::kDeadlineExceeded);
}

TEST_CASE("one that takes memory without end has its share and no more" *
          doctest::skip(kSanitized)) {
  Wild world("allocate", uint64_t{256} << 20);
  const Error error = world.failure(20'000, 20'000);
  CHECK(has(error.message, "MiB of the 256 MiB that it may have"));
}

TEST_CASE("one that spins between calls is ended, and the next call says so") {
  for (const char* what : {"spin behind the call", "spin in grandchildren", "spin in daemons"}) {
    CAPTURE(what);
    Wild world(what);
    world.isolated->idle_period_ns = 300'000'000;
    const auto backend = world.create(world.options);
    REQUIRE(backend.ok());
    CHECK(world.resolve(**backend).answer.ok());
    const pid_t spinning = pid_in(world.file());
    REQUIRE(spinning > 0);
    CHECK(ends(spinning));
    const BackendOutcome outcome = world.resolve(**backend);
    REQUIRE_FALSE(outcome.answer.ok());
    const Error& error = outcome.answer.error();
    CHECK(error.code == Code::kUnavailable);
    CHECK(error.detail("duty") == "MP-29");
    CHECK(has(error.message, "plugin 'wild' (cluster) misbehaved: it used "));
    CHECK(has(error.message, " s of processor time between two calls, and was ended (MP-29)"));
    CHECK(world.resolve(**backend).answer.ok());
  }
}

TEST_CASE("one that spins after its last call is ended, and its end says so") {
  Wild world("spin behind the call");
  world.isolated->idle_period_ns = 300'000'000;
  {
    const auto backend = world.create(world.options);
    REQUIRE(backend.ok());
    CHECK(world.resolve(**backend).answer.ok());
    CHECK(ends(pid_in(world.file())));
  }
  CHECK(has(world.lines.text(), "wild (cluster): misbehaved: it used "));
}

TEST_CASE("a call may work for as long as it has, and what then waits is left alone") {
  Wild world("work");
  world.isolated->idle_period_ns = 200'000'000;
  const auto backend = world.create(world.options);
  REQUIRE(backend.ok());
  CHECK(world.resolve(**backend).answer.ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(900));
  const pid_t waiting = pid_in(world.file());
  CHECK(lives(waiting));
  CHECK(world.resolve(**backend).answer.ok());
  CHECK(pid_in(world.file()) == waiting);
}

TEST_CASE(
    "its process has the frames, the environment that it asks for, and no privileges of "
    "anybody's") {
  ::setenv("WILD_ASKED", "for", 1);
  ::setenv("WILD_SECRET", "of the launcher", 1);
  const FileDescriptor not_closed_on_exec(::fcntl(STDIN_FILENO, F_DUPFD, 20));
  Wild world("report", uint64_t{1} << 30);
  CHECK(world.answer(world.options).ok());
  const std::string said = content(world.file());
  CHECK(has(said, "descriptors 0 1 2 3\n"));
  CHECK(has(said, "new privileges no\n"));
  CHECK(has(said, "group own\n"));
  CHECK(has(said, "core 0\n"));
  CHECK((kSanitized || has(said, "data 1073741824\n")));
  CHECK(has(said, "asked for\n"));
  CHECK(has(said, "secret \n"));
}

TEST_CASE("many threads start backends at once, while others take and free memory") {
  Wild world("report");
  std::atomic<bool> over{false};
  std::atomic<int> good{0};
  std::vector<std::thread> busy, threads;
  for (int n = 0; n < 2; ++n) {
    busy.emplace_back([&] {
      while (!over) std::vector<std::string>(100, std::string(100, 'x'));
    });
  }
  for (int n = 0; n < 8; ++n) {
    threads.emplace_back([&, n] {
      const std::string file = world.file() + std::to_string(n);
      if (!world.answer(Wild::options_for("report", file)).ok()) return;
      // Nothing of the backends beside it came with it.
      if (content(file).starts_with("descriptors 0 1 2 3\n")) ++good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  over = true;
  for (std::thread& thread : busy) thread.join();
  CHECK(good == 8);
}

TEST_CASE("while one hangs the others answer") {
  Wild world("ignore");
  const auto hanging = world.create(world.options);
  REQUIRE(hanging.ok());
  const CancelToken cancel;
  std::thread asking([&] { static_cast<void>(world.resolve(**hanging, 60'000, cancel)); });
  while ((*hanging)->progress() != "nobody")
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(world.answer(Wild::options_for("answer", "")).ok());
  CHECK((*hanging)->progress() == "nobody");
  cancel.cancel();
  asking.join();
}

TEST_CASE("a grandchild ends with its plugin") {
  for (const char* what : {"grandchild", "daemon"}) {
    CAPTURE(what);
    Wild world(what);
    pid_t grandchild = 0;
    {
      const auto backend = world.create(world.options);
      REQUIRE(backend.ok());
      static_cast<void>(world.resolve(**backend, 10'000));
      grandchild = pid_in(world.file());
      REQUIRE(grandchild > 0);
    }
    // A sanitizer's process takes longer to be torn down than the core waits; all are killed by then.
    CHECK((kSanitized ? ends(grandchild) : !lives(grandchild)));
  }
}

TEST_CASE("one that closes every descriptor is ended by its deadline, and told") {
  Wild world("close");
  const Error error = world.failure(200, 700);
  // With a sanitizer its end takes so long that the core does not wait for it.
  CHECK((kSanitized || has(error.message, "its process closed the frames during resolve")));
}

TEST_CASE("a cancel may come at any moment of a start, a crash and an end") {
  Wild world("crash");
  const auto backend = world.create(world.options);
  REQUIRE(backend.ok());
  for (int turn = 0; turn < 30; ++turn) {
    const CancelToken cancel;
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(turn));
      cancel.cancel();
    });
    const BackendOutcome outcome = world.resolve(**backend, 60'000, cancel);
    canceller.join();
    REQUIRE_FALSE(outcome.answer.ok());
    const Code code = outcome.answer.error().code;
    CHECK((code == Code::kCancelled || code == Code::kUnavailable));
  }
}

// With a sanitizer a million tasks take a minute.
TEST_CASE("a flood of tasks is refused" * doctest::skip(kSanitized)) {
  Wild world("flood the sink");
  const Error error = world.failure(60'000, 30'000);
  CHECK(error.detail("duty") == "MP-9");
  CHECK(has(error.message, "misbehaved: more than 1048576 tasks in one call (MP-9)"));
}

TEST_CASE("a flood of log lines neither fills the log nor keeps the call open") {
  Wild world("flood the log");
  CHECK(world.failure(1'500, 2'000).code == Code::kDeadlineExceeded);
  CHECK(has(world.lines.text(), "lines of its log are left out"));
  CHECK(world.lines.text().size() < 500'000);
}

TEST_CASE("a flood of output neither fills the log nor keeps the call open") {
  Wild world("flood the output");
  CHECK(world.failure(500, 1'000).code == Code::kDeadlineExceeded);
  CHECK(world.lines.text().size() < 500'000);
}

TEST_CASE("garbage among the frames is an error that says so") {
  Wild world("garbage");
  const Error error = world.failure(10'000, 600);
  CHECK(error.code == Code::kInternal);
  CHECK(has(error.message, "misbehaved: it does not keep to the frames: a frame says that it has"));
}

TEST_CASE("a destroy that hangs is ended") {
  Wild world("hang in destroy");
  const auto start = Clock::now();
  CHECK(world.answer(world.options).ok());
  CHECK(milliseconds_since(start) < 1'000 + kSlack_ms);
}

TEST_CASE("a file that is replaced between the check and the start of its process is refused") {
  World world("odd-right", "odd");
  world.isolated = IsolatedSetting{ISOLATE};
  const auto library = world.load();
  REQUIRE(library.ok());
  std::filesystem::remove(world.dir.file("odd"));
  world.dir.add(std::string(PLUGINS) + "/libodd-higher_minor.so", "odd");
  ResolverConfig config;
  config.path = "cluster";
  config.backend = "odd";
  const auto backend =
      Backend::create(*library, config, world.lines.log(), world.secrets, world.http);
  REQUIRE_FALSE(backend.ok());
  CHECK(backend.error().code == Code::kFailedPrecondition);
  CHECK(has(backend.error().message, "was replaced between being checked and being loaded"));
}

TEST_CASE("the process looks once more whether the file is the one that was checked") {
  PluginDir dir;
  dir.add(std::string(PLUGINS) + "/libodd-right.so", "odd");
  Result<FoundPlugin> found = find_plugin(dir.search(), "odd");
  REQUIRE(found.ok());
  found->modified_ns += 1;
  const Host host("odd", "cluster", "{}", nullptr, nullptr, nullptr);
  const auto conversation = Conversation::start(
      isolated_process(*found, {ISOLATE}), {"odd", "cluster", host.table(), 0, nullptr, nullptr});
  REQUIRE_FALSE(conversation.ok());
  CHECK(has(conversation.error().message, "was replaced between being checked and being loaded"));
}

TEST_CASE("without muster-isolate an isolated plugin fails, and does not run here") {
  World world("odd-right", "odd");
  world.isolated = IsolatedSetting{"/nowhere/muster-isolate"};
  const auto backend = world.create("{}");
  REQUIRE_FALSE(backend.ok());
  CHECK(has(backend.error().message,
            "'/nowhere/muster-isolate' cannot be started: No such file or directory"));
}

TEST_CASE("auto: what needs other libraries runs isolated") {
  World world("odd-needs", "odd");
  // Where the plugin's run path, its own folder, finds it.
  std::filesystem::copy_file(std::string(PLUGINS) + "/libmuster-test-other.so",
                             world.dir.path() + "/libmuster-test-other.so");
  const auto found = find_plugin(world.dir.search(), "odd");
  REQUIRE(found.ok());
  const Isolation decided = decide_isolation(*found, std::nullopt);
  CHECK(decided.isolated);
  CHECK(has(decided.why, "it needs 'libmuster-test-other.so', beyond the C and C++ runtime"));
  CHECK(has(decide_isolation(*found, false).warning, "may be bound to other copies"));

  world.isolated = IsolatedSetting{ISOLATE};
  CHECK(world.answer().ok());
}
