// Watching: a thread asks a tree of backends that keep their answers, and keeps the newest thing to tell.
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/host/handles.h"
#include "core/resolve/live.h"
#include "core/thread.h"

namespace muster {
namespace {

constexpr std::chrono::milliseconds kPoll(50);  // muster_cancel, of signal handlers, wakes nobody

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
  return a.complete == b.complete && a.stale == b.stale && a.master == b.master &&
         a.rpc_layer == b.rpc_layer && a.environment == b.environment &&
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
        readable(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        cancel(muster::CancelToken::of_epoch(watched->cancel_epoch)) {}
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

  // Makes the same tree again, of backends that keep their answers.
  muster::Status prepare() {
    const muster::Config& config = cluster->cluster->config();
    const muster::LiveSettings settings{cluster->watch_interval_ns, config.timeout.count(),
                                        [this] { return cluster->session(); },
                                        [this] {
                                          const std::lock_guard lock(mutex);
                                          stirred = true;
                                          changed.notify_all();
                                        }};
    auto made = muster::Cluster::create(
        config,
        [&](const muster::ResolverConfig& leaf)
            -> muster::Result<std::shared_ptr<muster::Backend>> {
          auto backend = cluster->make_backend(leaf);
          if (!backend) return backend;
          backends.push_back(std::make_shared<muster::LiveBackend>(std::move(*backend), settings));
          return std::shared_ptr<muster::Backend>(backends.back());
        });
    if (!made) return std::move(made).error();
    tree = std::move(*made);
    return {};
  }

  // Asks the tree, which costs no request, whenever one of its backends has something new.
  void run() {
    while (!stop.cancelled()) {
      {
        const std::lock_guard lock(mutex);
        stirred = false;
      }
      const auto cancel = muster::CancelToken::of_epoch(cluster->cancel_epoch).also(stop);
      auto outcome = tree->resolve(cluster->session(), cancel);
      if (stop.cancelled()) return;
      for (const auto& backend : backends) backend->end_round();
      if (auto* answer = std::get_if<muster::SnapshotPtr>(&outcome)) {
        tell(std::move(*answer));
      } else {
        muster_error* failure = nullptr;
        muster::fail_resolve(std::move(std::get<muster::ResolveFailure>(outcome)), &failure);
        tell_failure(failure);
      }
      std::unique_lock lock(mutex);
      changed.wait(lock, [this] { return stopping || stirred; });
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
      stale->stale_since_ns = cluster->session()->realtime_ns("");
      if (failure != nullptr) {
        const std::string& hint = failure->error.detail("hint");
        stale->warnings.push_back(
            fmt::format("this is the last good answer; asking again failed: {}{}{}",
                        failure->error.message, hint.empty() ? "" : "; ", hint));
      }
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
  muster::CancelToken cancel;  // by muster_cancel, since it was last told
  muster::CancelToken stop;
  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  bool stirred = false;         // a backend has something new
  muster::SnapshotPtr last;     // told or about to be told
  muster::SnapshotPtr pending;  // not yet fetched
  muster_error* error = nullptr;
  std::vector<std::shared_ptr<muster::LiveBackend>> backends;
  std::unique_ptr<muster::Cluster> tree;
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
    if (muster::Status prepared = started->prepare(); !prepared)
      return muster::fail(std::move(prepared).error(), error);
    auto thread = muster::start_thread("watch", [self = started.get()] { self->run(); });
    if (!thread) return muster::fail(std::move(thread).error(), error);
    started->thread = std::move(*thread);
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
    const auto begin = std::chrono::steady_clock::now();
    std::chrono::milliseconds left(timeout_ms);
    for (;;) {
      // Asked first, so that neither a cancel between two calls nor one amid answers without end is lost.
      if (watch->cancel.cancelled()) {
        watch->cancel = muster::CancelToken::of_epoch(watch->cluster->cancel_epoch);
        return muster::fail({muster::Code::kCancelled, "the wait was cancelled", {}}, error);
      }
      if (watch->changed.wait_for(
              lock, timeout_ms < 0 ? muster::kPoll : std::min(left, muster::kPoll), told))
        break;
      if (timeout_ms < 0) continue;
      left = std::chrono::milliseconds(timeout_ms) -
             std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
      if (left.count() <= 0)
        return muster::fail({muster::Code::kDeadlineExceeded, "nothing new yet", {}}, error);
    }
    uint64_t count = 0;
    (void)!read(watch->readable, &count, sizeof count);
    if (watch->pending != nullptr) {
      *snapshot = new muster_snapshot(std::move(watch->pending));
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
