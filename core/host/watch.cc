// Watching by polling: a thread asks again and again, and keeps the newest thing to tell.
#include <fmt/format.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <random>
#include <thread>

#include "core/host/handles.h"

namespace muster {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kFirstBackoff = kSecond;

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
                             std::equal(x.tasks.begin(), x.tasks.end(), y.tasks.begin(),
                                        y.tasks.end(), [](const Task& t, const Task& u) {
                                          return t.index == u.index && t.address == u.address &&
                                                 t.name == u.name && t.attributes == u.attributes;
                                        });
                    });
}

// Whether a person who saw `a` learns nothing from `b`: all but times and requests.
bool says_the_same(const Snapshot& a, const Snapshot& b) {
  return a.digest == b.digest && a.complete == b.complete && a.stale == b.stale &&
         a.master == b.master && a.rpc_layer == b.rpc_layer && a.environment == b.environment &&
         a.identity.type == b.identity.type && a.identity.index == b.identity.index &&
         a.accelerators == b.accelerators && a.attributes == b.attributes &&
         a.warnings == b.warnings &&
         std::equal(a.jobs.begin(), a.jobs.end(), b.jobs.begin(), b.jobs.end(), same) &&
         same_tasks(a.spec, b.spec);
}

// A period of `ns` up to a tenth shorter or longer, so that the members of a big job do not ask all at once.
int64_t with_jitter(int64_t ns, std::minstd_rand& random) {
  return ns - ns / 10 +
         static_cast<int64_t>(random() % static_cast<uint64_t>(std::max<int64_t>(ns / 5, 1)));
}

}  // namespace
}  // namespace muster

struct muster_watch {
  explicit muster_watch(muster_cluster* watched)
      : cluster(watched), readable(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~muster_watch() {
    stop.cancel();
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    changed.notify_all();
    if (thread.joinable()) thread.join();
    muster_error_destroy(error);
    if (readable >= 0) close(readable);
  }
  muster_watch(const muster_watch&) = delete;
  muster_watch& operator=(const muster_watch&) = delete;

  // Asks until told to stop.
  void run() {
    std::minstd_rand random(std::random_device{}());
    int64_t backoff = 0;
    while (!stop.cancelled()) {
      muster::SnapshotPtr answer;
      muster_error* failure = nullptr;
      const auto cancel = muster::CancelToken::of_epoch(cluster->cancel_epoch).also(stop);
      const int32_t code = cluster->resolve(cancel, answer, &failure);
      if (stop.cancelled()) {
        muster_error_destroy(failure);
        return;
      }
      if (code == 0) {
        backoff = 0;
        tell(std::move(answer));
      } else {
        backoff = std::min(std::max(backoff * 2, muster::kFirstBackoff),
                           std::max(cluster->watch_interval_ns, muster::kFirstBackoff));
        tell_failure(failure);
      }
      std::unique_lock lock(mutex);
      const int64_t pause =
          muster::with_jitter(backoff > 0 ? backoff : cluster->watch_interval_ns, random);
      changed.wait_for(lock, std::chrono::nanoseconds(pause), [this] { return stopping; });
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
    if (last == nullptr) {
      muster_error_destroy(error);
      error = failure;
      signal();
      return;
    }
    if (!last->stale) {
      auto stale = std::make_shared<muster::Snapshot>(*last);
      stale->stale = true;
      if (failure != nullptr)
        stale->warnings.push_back(fmt::format(
            "this is the last good answer; asking again failed: {}", failure->error.message));
      last = stale;
      pending = stale;
      signal();
    }
    muster_error_destroy(failure);
  }

  void signal() {
    const uint64_t one = 1;
    if (readable >= 0) (void)!write(readable, &one, sizeof one);
    changed.notify_all();
  }

  muster_cluster* cluster;
  int readable;
  muster::CancelToken stop;
  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  muster::SnapshotPtr last;     // told or about to be told
  muster::SnapshotPtr pending;  // not yet fetched
  muster_error* error = nullptr;
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
    if (started->readable < 0) {
      return muster::fail({muster::Code::kResourceExhausted,
                           "muster_watch_start: no file descriptor is left for the watch",
                           {}},
                          error);
    }
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      started->thread = std::thread([self = started.get()] { self->run(); });
    } catch (...) {
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
      throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
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
    std::unique_lock lock(watch->mutex);
    const auto told = [watch] { return watch->pending != nullptr || watch->error != nullptr; };
    if (timeout_ms < 0) {
      watch->changed.wait(lock, told);
    } else if (!watch->changed.wait_for(lock, std::chrono::milliseconds(timeout_ms), told)) {
      return muster::fail({muster::Code::kDeadlineExceeded, "nothing new yet", {}}, error);
    }
    uint64_t count = 0;
    (void)!read(watch->readable, &count, sizeof count);
    if (watch->pending != nullptr) {
      *snapshot = muster::make_snapshot_handle(std::move(watch->pending));
      watch->pending = nullptr;
      return 0;
    }
    const int32_t code = muster_error_code(watch->error);
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
