#include "core/resolve/follower.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "core/thread.h"

namespace muster {
namespace {

constexpr int64_t kFirstBackoff_ns = 1'000'000'000;

// A tenth shorter or longer, so that the members of a big job do not ask all at once.
int64_t with_jitter(int64_t ns, std::minstd_rand& random) {
  return ns - ns / 10 +
         static_cast<int64_t>(random() % static_cast<uint64_t>(std::max<int64_t>(ns / 5, 1)));
}

}  // namespace

class Follower::Thread {
 public:
  Thread(std::shared_ptr<Backend> backend, FollowSettings settings)
      : backend_(std::move(backend)),
        settings_(std::move(settings)),
        random_(std::random_device{}()) {}
  ~Thread() {
    stop();
    if (thread_.joinable()) thread_.join();
  }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  Status start() {
    Result<std::thread> started = start_thread(settings_.path, [this] { run(); });
    if (!started) return std::move(started).error();
    thread_ = std::move(*started);
    return {};
  }

  void stop() {
    stop_.cancel();
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    woken_.notify_all();
  }

 private:
  void run() {
    // A recording holds answers, and no streams.
    bool streams = backend_->can_watch() && settings_.session()->mode() != Session::Mode::kReplay;
    while (!stop_.cancelled()) {
      const int64_t began_ns = monotonic_ns();
      bool first = true;
      const auto committed = [&](BackendOutcome outcome) {
        say(std::move(outcome), first ? monotonic_ns() - began_ns : 0);
        first = false;
      };
      BackendOutcome outcome =
          streams ? backend_->watch(settings_.session(), settings_.interval_ns, stop_, committed)
                  : backend_->resolve(settings_.session(), began_ns + settings_.timeout_ns, stop_);
      if (stop_.cancelled()) return;
      if (streams && outcome.answer.error().code == Code::kUnimplemented) {
        streams = false;
        continue;
      }
      // A stream that fails soon after its snapshot, again and again, is begun no more often than a source is polled.
      if (streams ? monotonic_ns() - began_ns > settings_.interval_ns : outcome.answer.ok())
        backoff_ns_ = 0;
      if (!outcome.answer)
        backoff_ns_ = std::min(std::max(backoff_ns_ * 2, kFirstBackoff_ns),
                               std::max(settings_.interval_ns, kFirstBackoff_ns));
      say(std::move(outcome), monotonic_ns() - began_ns);
      pause();
    }
  }

  void say(BackendOutcome outcome, int64_t took_ns) const {
    settings_.said(std::move(outcome), (took_ns + 500'000) / 1'000'000);
  }

  void pause() {
    std::unique_lock lock(mutex_);
    const int64_t pause_ns =
        with_jitter(backoff_ns_ > 0 ? backoff_ns_ : settings_.interval_ns, random_);
    woken_.wait_for(lock, std::chrono::nanoseconds(pause_ns), [this] { return stopping_; });
  }

  std::shared_ptr<Backend> backend_;
  FollowSettings settings_;
  CancelToken stop_;
  std::minstd_rand random_;  // of the thread
  int64_t backoff_ns_ = 0;   // of the thread
  std::mutex mutex_;
  std::condition_variable woken_;
  bool stopping_ = false;
  std::thread thread_;
};

Follower::Follower(std::unique_ptr<Thread> thread) : thread_(std::move(thread)) {}
Follower::~Follower() = default;

Result<std::unique_ptr<Follower>> Follower::start(std::shared_ptr<Backend> backend,
                                                  FollowSettings settings) {
  auto thread = std::make_unique<Thread>(std::move(backend), std::move(settings));
  if (Status started = thread->start(); !started) return std::move(started).error();
  return std::unique_ptr<Follower>(new Follower(std::move(thread)));
}

void Follower::stop() { thread_->stop(); }

}  // namespace muster
