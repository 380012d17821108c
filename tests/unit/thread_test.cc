// Threads of the core: core/thread.h.
#include "core/thread.h"

#include <doctest/doctest.h>
#include <pthread.h>
#include <signal.h>

#include <future>
#include <stdexcept>

using namespace muster;

namespace {

// No thread can be had: its stack would be larger than any memory.
class NoThreads {
 public:
  NoThreads() {
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    ::pthread_attr_init(&huge);
    ::pthread_attr_setstacksize(&huge, size_t{1} << 46);
    ::pthread_setattr_default_np(&huge);
    ::pthread_attr_destroy(&huge);
  }
  ~NoThreads() {
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_;
};

bool blocks_interrupts() {
  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  return ::sigismember(&now, SIGINT) == 1;
}

}  // namespace

TEST_CASE("a thread that the system does not give is told by its name, with the limit to raise") {
  const NoThreads none;

  const Result<std::thread> thread = start_thread("http", [] {});

  REQUIRE_FALSE(thread.ok());
  CHECK(thread.error().code == Code::kResourceExhausted);
  CHECK(thread.error().message ==
        "the system gives no thread for 'http': Resource temporarily unavailable");
  CHECK(thread.error().detail("hint").find("ulimit -u") != std::string::npos);
  CHECK(thread.error().detail("hint").find("ulimit -d") != std::string::npos);  // a stack is memory
  CHECK_FALSE(blocks_interrupts());
}

TEST_CASE("a thread takes no signals of the launcher, which keeps its own") {
  std::promise<bool> blocked;
  Result<std::thread> thread = start_thread("x", [&] { blocked.set_value(blocks_interrupts()); });
  REQUIRE(thread.ok());
  thread->join();
  CHECK(blocked.get_future().get());
  CHECK_FALSE(blocks_interrupts());
}

TEST_CASE("a thread whose owner is left by an exception goes on by itself") {
  std::promise<void> go_on;
  std::promise<void> ended;
  std::future<void> end = ended.get_future();
  const auto throws = [&] {
    Result<std::thread> started = start_thread(
        "x", [go = go_on.get_future().share(),
              last = std::make_shared<std::promise<void>>(std::move(ended))]() mutable {
          go.wait();
          last->set_value();
        });
    REQUIRE(started.ok());
    const LetGo thread(*std::move(started));
    throw std::runtime_error("the owner fails");
  };
  CHECK_THROWS(throws());
  go_on.set_value();
  end.wait();
}
