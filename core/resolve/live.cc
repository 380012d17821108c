#include "core/resolve/live.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "core/thread.h"

namespace muster {
namespace {

constexpr int64_t kFirstBackoff_ns = 1'000'000'000;
constexpr int64_t kPoll_ns = 20'000'000;  // a cancel is seen after this long

// A tenth shorter or longer, so that the members of a big job do not ask all at once.
int64_t with_jitter(int64_t ns, std::minstd_rand& random) {
  return ns - ns / 10 +
         static_cast<int64_t>(random() % static_cast<uint64_t>(std::max<int64_t>(ns / 5, 1)));
}

}  // namespace

// The thread that keeps one backend's outcome.
class LiveBackend::Keeper {
 public:
  Keeper(std::shared_ptr<Backend> backend, LiveSettings settings)
      : backend_(std::move(backend)),
        settings_(std::move(settings)),
        random_(std::random_device{}()) {}
  ~Keeper() {
    stop_.cancel();
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    woken_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  Status start() {
    Result<std::thread> started = start_thread("watch", [this] { run(); });
    if (!started) return std::move(started).error();
    thread_ = std::move(*started);
    return {};
  }

  // The last outcome; nothing when none came by the deadline or cancel.
  std::optional<BackendOutcome> wait(int64_t deadline_ns, const CancelToken& cancel) {
    std::unique_lock lock(mutex_);
    while (!last_ && !cancel.cancelled()) {
      const int64_t left = deadline_ns - monotonic_ns();
      if (left <= 0) break;
      woken_.wait_for(lock, std::chrono::nanoseconds(std::min(left, kPoll_ns)));
    }
    return last_;
  }

 private:
  void run() {
    // A recording holds answers, and no streams.
    bool streams = backend_->can_watch() && settings_.session()->mode() != Session::Mode::kReplay;
    while (!stop_.cancelled()) {
      const int64_t began_ns = monotonic_ns();
      BackendOutcome outcome =
          streams
              ? backend_->watch(settings_.session(), settings_.interval_ns, stop_,
                                [this](BackendOutcome committed) { keep(std::move(committed)); })
              : backend_->resolve(settings_.session(), monotonic_ns() + settings_.timeout_ns,
                                  stop_);
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
      keep(std::move(outcome));
      pause();
    }
  }

  void keep(BackendOutcome outcome) {
    std::optional<BackendOutcome> kept(std::move(outcome));
    {
      const std::lock_guard lock(mutex_);
      last_.swap(kept);
    }
    woken_.notify_all();
    settings_.changed();
  }

  void pause() {
    std::unique_lock lock(mutex_);
    const int64_t pause_ns =
        with_jitter(backoff_ns_ > 0 ? backoff_ns_ : settings_.interval_ns, random_);
    woken_.wait_for(lock, std::chrono::nanoseconds(pause_ns), [this] { return stopping_; });
  }

  std::shared_ptr<Backend> backend_;
  LiveSettings settings_;
  CancelToken stop_;
  std::minstd_rand random_;  // of the thread
  int64_t backoff_ns_ = 0;   // of the thread
  std::mutex mutex_;
  std::condition_variable woken_;
  bool stopping_ = false;
  std::optional<BackendOutcome> last_;
  std::thread thread_;
};

LiveBackend::LiveBackend(std::shared_ptr<Backend> backend, LiveSettings settings)
    : backend_(std::move(backend)), settings_(std::move(settings)) {}

LiveBackend::~LiveBackend() = default;

BackendOutcome LiveBackend::resolve(std::shared_ptr<Session>, int64_t deadline_ns,
                                    const CancelToken& cancel) {
  asked_ = true;
  if (keeper_ == nullptr) {
    auto keeper = std::make_unique<Keeper>(backend_, settings_);
    if (Status started = keeper->start(); !started) return {std::move(started).error(), {}};
    keeper_ = std::move(keeper);
  }
  if (std::optional<BackendOutcome> outcome = keeper_->wait(deadline_ns, cancel))
    return *std::move(outcome);
  if (cancel.cancelled())
    return {Error{Code::kCancelled, "cancelled before a first answer", {}}, {}};
  const std::string waiting = progress();
  return {Error{Code::kDeadlineExceeded,
                "the deadline came before a first answer" +
                    (waiting.empty() ? "" : "; it is waiting for: " + waiting),
                {}},
          {}};
}

std::string LiveBackend::progress() const { return backend_->progress(); }

void LiveBackend::end_round() {
  if (!asked_) keeper_.reset();
  asked_ = false;
}

}  // namespace muster
