// Watching: a thread looks at what the sources have said, and keeps the newest thing to tell.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/host/handles.h"
#include "core/resolve/live_cluster.h"
#include "core/thread.h"

namespace muster {
namespace {

constexpr int64_t kPoll_ms = 200;
constexpr int64_t kLongestWait_ms = int64_t{365} * 24 * 3600 * 1000;

bool same(const JobStatus& a, const JobStatus& b) {
  return a.name == b.name && a.found == b.found && a.expected == b.expected &&
         std::equal(a.missing.begin(), a.missing.end(), b.missing.begin(), b.missing.end(),
                    [](const MissingTask& x, const MissingTask& y) {
                      return x.index == y.index && x.name == y.name && x.reason == y.reason;
                    });
}

bool same_tasks(const ClusterSpec& a, const ClusterSpec& b) {
  return std::equal(a.jobs().begin(), a.jobs().end(), b.jobs().begin(), b.jobs().end(),
                    [](const Job& x, const Job& y) {
                      return x.name == y.name &&
                             (x.tasks.shares_with(y.tasks) ||
                              std::equal(x.tasks.begin(), x.tasks.end(), y.tasks.begin(),
                                         y.tasks.end(), [](const Task& t, const Task& u) {
                                           return t.index == u.index && t.address == u.address &&
                                                  t.name == u.name && t.attributes == u.attributes;
                                         }));
                    });
}

// Whether a person who saw `a` learns nothing from `b`: all but times and requests.
bool says_the_same(const Snapshot& a, const Snapshot& b) {
  return a.complete == b.complete && a.stale == b.stale && a.gone == b.gone &&
         a.master == b.master && a.rpc_layer == b.rpc_layer && a.environment == b.environment &&
         a.identity.type == b.identity.type && a.identity.index == b.identity.index &&
         a.accelerators == b.accelerators && a.attributes == b.attributes &&
         a.warnings == b.warnings &&
         std::equal(a.jobs.begin(), a.jobs.end(), b.jobs.begin(), b.jobs.end(), same) &&
         same_tasks(a.spec, b.spec);
}

}  // namespace
}  // namespace muster

struct muster_watch {
  explicit muster_watch(muster_cluster* watched)
      : cluster(watched),
        told(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        readable(epoll_create1(EPOLL_CLOEXEC)) {}
  ~muster_watch() {
    {
      const std::lock_guard lock(cluster->watches_mutex);
      std::erase(cluster->watches, live.get());
    }
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    changed.notify_all();
    if (thread.joinable()) thread.join();
    live.reset();
    muster_error_destroy(error);
    for (const int descriptor : {told, readable})
      if (descriptor >= 0) close(descriptor);
  }
  muster_watch(const muster_watch&) = delete;
  muster_watch& operator=(const muster_watch&) = delete;

  // Descriptors, backends of its own, and a thread.
  muster::Status start() {
    if (!cluster->make_cancel_event() || !poll_also(told) ||
        !poll_also(cluster->cancel_event.load())) {
      return muster::Error{muster::Code::kResourceExhausted,
                           "muster_watch_start: no file descriptor is left for the watch",
                           {}};
    }
    auto made = muster::LiveCluster::create(
        cluster->cluster->config(), cluster->make_backend,
        {cluster->watch_interval_ns, [this] { return cluster->session(); },
         [this] {
           const std::lock_guard lock(mutex);
           dirty = true;
           changed.notify_all();
         }});
    if (!made) return std::move(made).error();
    live = *std::move(made);
    auto started = muster::start_thread("watch", [this] { run(); });
    if (!started) return std::move(started).error();
    thread = *std::move(started);
    const std::lock_guard lock(cluster->watches_mutex);
    cluster->watches.push_back(live.get());
    return {};
  }

  // Looks at what the sources have said whenever one of them says something, or time itself changes what follows from it.
  void run() {
    for (;;) {
      {
        const std::lock_guard lock(mutex);
        if (stopping) return;
        dirty = false;
      }
      int64_t due_ns = INT64_MAX;
      try {
        muster::LiveCluster::Evaluation now = live->evaluate();
        due_ns = now.due_ns;
        if (auto* answer = std::get_if<muster::SnapshotPtr>(&now.said)) {
          tell(std::move(*answer));
        } else if (auto* failure = std::get_if<muster::ResolveFailure>(&now.said)) {
          muster_error* told_error = nullptr;
          muster::fail_resolve(std::move(*failure), &told_error);
          tell_failure(told_error);
        }
      } catch (const std::bad_alloc&) {
        due_ns = muster::monotonic_ns() + kOutOfMemoryPause_ns;  // the answer told last stays
      }
      std::unique_lock lock(mutex);
      const auto is_due = [this] { return stopping || dirty; };
      if (due_ns == INT64_MAX) {
        changed.wait(lock, is_due);
      } else {
        const int64_t left = std::max<int64_t>(due_ns - muster::monotonic_ns(), 0);
        changed.wait_for(lock, std::chrono::nanoseconds(left), is_due);
      }
    }
  }

  void tell(muster::SnapshotPtr answer) {
    const std::lock_guard lock(mutex);
    if (last != nullptr && muster::says_the_same(*last, *answer)) return;
    last = answer;
    pending = std::move(answer);
    muster_error_destroy(error);
    error = nullptr;
    signal();
  }

  void tell_failure(muster_error* failure) {
    const std::lock_guard lock(mutex);
    muster_error_destroy(error);
    error = failure;
    signal();
  }

 private:
  static constexpr int64_t kOutOfMemoryPause_ns = 1'000'000'000;

  // `readable` is readable with `descriptor`.
  bool poll_also(int descriptor) const {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    return descriptor >= 0 && readable >= 0 &&
           epoll_ctl(readable, EPOLL_CTL_ADD, descriptor, &event) == 0;
  }

  void signal() const {
    const uint64_t one = 1;
    (void)!write(told, &one, sizeof one);
  }

 public:
  muster_cluster* cluster;
  int told;      // an eventfd: there is something in `pending` or `error`
  int readable;  // an epoll of `told` and the cluster's cancel_event
  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  bool dirty = false;           // a source has something new
  muster::SnapshotPtr last;     // told or about to be told
  muster::SnapshotPtr pending;  // not yet fetched
  muster_error* error = nullptr;
  std::unique_ptr<muster::LiveCluster> live;
  std::thread thread;
};

extern "C" {

int32_t muster_watch_start(muster_cluster* cluster, muster_watch** watch, muster_error** error) {
  return muster::guarded(error, [&] {
    if (cluster == nullptr || watch == nullptr) {
      return muster::fail({muster::Code::kInvalidArgument,
                           "muster_watch_start: cluster and watch must not be NULL",
                           {}},
                          error);
    }
    auto started = std::make_unique<muster_watch>(cluster);
    if (muster::Status status = started->start(); !status)
      return muster::fail(std::move(status).error(), error);
    *watch = started.release();
    return 0;
  });
}

int32_t muster_watch_next(muster_watch* watch, int64_t timeout_ms, muster_snapshot** snapshot,
                          muster_error** error) {
  return muster::guarded(error, [&] {
    if (watch == nullptr || snapshot == nullptr) {
      return muster::fail({muster::Code::kInvalidArgument,
                           "muster_watch_next: watch and snapshot must not be NULL",
                           {}},
                          error);
    }
    const auto cancel = muster::CancelToken::of(watch->cluster->cancel_switch);
    const int64_t until_ns =
        timeout_ms < 0
            ? INT64_MAX
            : muster::monotonic_ns() + std::min(timeout_ms, muster::kLongestWait_ms) * 1'000'000;
    for (;;) {
      // Asked first, so that a cancel amid answers without end is not lost.
      if (cancel.cancelled())
        return muster::fail({muster::Code::kCancelled, "the wait was cancelled", {}}, error);
      {
        const std::lock_guard lock(watch->mutex);
        if (watch->pending != nullptr || watch->error != nullptr) break;
      }
      const int64_t left_ns = until_ns - muster::monotonic_ns();
      if (left_ns <= 0)
        return muster::fail({muster::Code::kDeadlineExceeded, "nothing new yet", {}}, error);
      // Not for ever: a cancel that was taken back again at once is seen as well.
      pollfd waited = {watch->readable, POLLIN, 0};
      if (::poll(&waited, 1,
                 static_cast<int>(std::min(left_ns / 1'000'000 + 1, muster::kPoll_ms))) > 0)
        watch->cluster->confirm_cancel();
    }
    const std::lock_guard lock(watch->mutex);
    uint64_t count = 0;
    (void)!read(watch->told, &count, sizeof count);
    if (watch->pending != nullptr) {
      *snapshot = new muster_snapshot(std::move(watch->pending));
      watch->pending = nullptr;
      return 0;
    }
    const int32_t code = muster_error_code(watch->error);
    if (watch->error == nullptr)  // another thread was quicker
      return muster::fail({muster::Code::kDeadlineExceeded, "nothing new yet", {}}, error);
    if (error != nullptr) {
      *error = watch->error;
    } else {
      muster_error_destroy(watch->error);
    }
    watch->error = nullptr;
    return code;
  });
}

int32_t muster_watch_fd(const muster_watch* watch) {
  return watch == nullptr ? -1 : watch->readable;
}

void muster_watch_destroy(muster_watch* watch) { delete watch; }

}  // extern "C"
