// Follower: a thread that keeps asking one backend, by its own stream where it has one, else again and again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/plugin/backend.h"

namespace muster {

struct FollowSettings {
  std::string path;         // of the resolver, for errors
  int64_t interval_ns = 0;  // between two polls of a backend that cannot watch
  int64_t timeout_ns = 0;   // of one poll
  std::function<std::shared_ptr<Session>()> session;  // for each call
  // Each outcome, good or not, with the milliseconds that it took. On the thread of the follower.
  std::function<void(BackendOutcome, int64_t)> said;
};

// A failure is told, and the backend is asked again with backoff and jitter, for as long as this lives.
class Follower {
 public:
  // kResourceExhausted: the system gives no thread.
  static Result<std::unique_ptr<Follower>> start(std::shared_ptr<Backend> backend,
                                                 FollowSettings settings);
  // Ends the thread and waits for it: at most for the grace of a cancelled call.
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  // The thread is to end. Does not wait for it; nothing more is said but what is being said now.
  void stop();

 private:
  class Thread;
  explicit Follower(std::unique_ptr<Thread> thread);
  std::unique_ptr<Thread> thread_;
};

}  // namespace muster
