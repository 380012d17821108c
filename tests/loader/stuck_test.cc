// Time: whatever the plugin does, the caller is back within 500 ms of deadline or cancel.
#include <atomic>

#include <chrono>
#include <thread>

#include "tests/loader/world.h"

using namespace muster;
using namespace muster::test;

namespace {

using Clock = std::chrono::steady_clock;

int64_t milliseconds_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
}

std::shared_ptr<Backend> backend_of(World& world, const std::string& what) {
  auto backend = world.create("{\"do\": \"" + what + "\"}");
  REQUIRE(backend.ok());
  return *backend;
}

// 500 ms of grace, and what a loaded machine needs.
constexpr int64_t kLate = 500 + 400;

}  // namespace

TEST_CASE("a plugin that hangs is left behind after the grace, and says what it waited for") {
  World world("bad", "bad");
  const auto backend = backend_of(world, "hangs");

  const auto start = Clock::now();
  const BackendOutcome outcome = world.resolve(*backend, 100);

  CHECK(milliseconds_since(start) >= 590);
  CHECK(milliseconds_since(start) < 100 + kLate);
  REQUIRE_FALSE(outcome.answer.ok());
  CHECK(outcome.answer.error().code == Code::kDeadlineExceeded);
  CHECK(outcome.answer.error().detail("duty") == "MP-12");
  CHECK(has(outcome.answer.error().message,
            "plugin 'bad' (cluster) has not returned 500 ms after its deadline, while waiting for: "
            "a server that never answers; its answer will be dropped (MP-12)"));

  // Asking again fails at once, for as long as it has not returned.
  const auto again = Clock::now();
  const BackendOutcome second = world.resolve(*backend, 10'000);
  CHECK(milliseconds_since(again) < 300);
  REQUIRE_FALSE(second.answer.ok());
  CHECK(second.answer.error().code == Code::kUnavailable);
  CHECK(has(second.answer.error().message, "is stuck: it should have returned"));
  CHECK(has(second.answer.error().message,
            "it said it was waiting for: a server that never answers (MP-12)"));
}

TEST_CASE("a cancel ends a call like a deadline does") {
  World world("bad", "bad");
  const auto backend = backend_of(world, "hangs");
  const CancelToken cancel;
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    cancel.cancel();
  });
  const auto start = Clock::now();
  const BackendOutcome outcome = world.resolve(*backend, 20'000, cancel);
  canceller.join();
  CHECK(milliseconds_since(start) < 50 + kLate);
  REQUIRE_FALSE(outcome.answer.ok());
  CHECK(outcome.answer.error().code == Code::kCancelled);
  CHECK(has(outcome.answer.error().message, "has not returned 500 ms after being cancelled"));
}

TEST_CASE("a plugin that obeys returns soon, and the deadline is told as a deadline") {
  World world("bad", "bad");
  for (const char* what : {"waits_for_cancel", "waits_for_interrupt"}) {
    const auto backend = backend_of(world, what);
    const auto start = Clock::now();
    const BackendOutcome outcome = world.resolve(*backend, 100);
    CHECK(milliseconds_since(start) < 450);
    REQUIRE_FALSE(outcome.answer.ok());
    CHECK(outcome.answer.error().code == Code::kDeadlineExceeded);
  }
}

TEST_CASE("an interrupt that hangs is left behind too") {
  World world("bad", "bad");
  const auto backend = backend_of(world, "interrupt_hangs");
  const auto start = Clock::now();
  const BackendOutcome outcome = world.resolve(*backend, 100);
  CHECK(milliseconds_since(start) < 100 + kLate);
  REQUIRE_FALSE(outcome.answer.ok());
  const BackendOutcome second = world.resolve(*backend, 10'000);
  REQUIRE_FALSE(second.answer.ok());
  CHECK(second.answer.error().code == Code::kUnavailable);
}

TEST_CASE("a late answer is dropped, and then the plugin may be asked again") {
  World world("bad", "bad");
  const auto backend = backend_of(world, "hangs_for_a_second");
  CHECK_FALSE(world.resolve(*backend, 50).answer.ok());
  CHECK_FALSE(world.resolve(*backend, 50).answer.ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  const BackendOutcome outcome = world.resolve(*backend, 20'000);
  REQUIRE(outcome.answer.ok());
  CHECK(outcome.answer->spec.task_count() == 1);
}

TEST_CASE("a resolver is destroyed when its last call is out, not before") {
  World world("bad", "bad");
  auto backend = backend_of(world, "hangs_for_a_second");
  CHECK_FALSE(world.resolve(*backend, 50).answer.ok());
  backend.reset();
  CHECK(world.lines.text().find("destroyed") == std::string::npos);
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  CHECK(has(world.lines.text(), "destroyed"));
}

TEST_CASE("calls of one resolver take turns, and those that wait keep their own deadline") {
  World world("bad", "bad");
  const auto backend = backend_of(world, "slow");
  std::vector<std::thread> threads;
  threads.reserve(4);
  std::atomic<int> good = 0;
  const auto start = Clock::now();
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { good += world.resolve(*backend, 20'000).answer.ok() ? 1 : 0; });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const BackendOutcome hasty = world.resolve(*backend, 10);
  REQUIRE_FALSE(hasty.answer.ok());
  CHECK(hasty.answer.error().code == Code::kDeadlineExceeded);
  CHECK(has(hasty.answer.error().message,
            "the deadline came before plugin 'bad' (cluster) had returned from an earlier call"));
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 4);
  CHECK(milliseconds_since(start) >= 400);
}

TEST_CASE("a deadline that has passed asks nobody") {
  World world("bad", "bad");
  const auto backend = backend_of(world, "well");
  const BackendOutcome outcome = world.resolve(*backend, -5);
  REQUIRE_FALSE(outcome.answer.ok());
  CHECK(outcome.answer.error().code == Code::kDeadlineExceeded);
  CHECK(has(outcome.answer.error().message,
            "the deadline came before plugin 'bad' (cluster) could be asked"));
}

TEST_CASE("the progress of a running call can be seen from outside") {
  World world("bad", "bad");
  const auto backend = backend_of(world, "hangs");
  CHECK(backend->progress() == "");
  const CancelToken cancel;
  std::thread asking([&] { static_cast<void>(world.resolve(*backend, 20'000, cancel)); });
  for (int i = 0; i < 500 && backend->progress().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  CHECK(backend->progress() == "a server that never answers");
  cancel.cancel();
  asking.join();
}

TEST_CASE("a call without trouble costs a thread and little more") {
  World world("bad", "bad");
  const auto backend = backend_of(world, "well");
  const auto start = Clock::now();
  for (int i = 0; i < 100; ++i) REQUIRE(world.resolve(*backend).answer.ok());
  const auto each =
      static_cast<double>(
          std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count()) /
      100;
  MESSAGE(each << " us a call");
  CHECK(each < 20'000);
}
