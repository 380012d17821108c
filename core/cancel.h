// CancelToken: one flag that stops everything below it. Deadline arithmetic.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

namespace muster {

// Set once from any thread (a signal handler too); read by many. Copies share the flag. A child is cancelled with its parent.
class CancelToken {
 public:
  CancelToken() : state_(std::make_shared<State>()) {}

  CancelToken child() const {
    CancelToken token;
    token.state_->parent = state_;
    return token;
  }
  // Cancelled also as soon as `epoch` has another value than now: how a signal handler stops everything that runs and
  // nothing that runs later.
  static CancelToken of_epoch(std::shared_ptr<const std::atomic<uint64_t>> epoch) {
    CancelToken token;
    token.state_->begin = epoch->load(std::memory_order_acquire);
    token.state_->epoch = std::move(epoch);
    return token;
  }
  // Cancelled with this one or with `other`.
  CancelToken also(const CancelToken& other) const {
    CancelToken token = child();
    token.state_->other = other.state_;
    return token;
  }
  void cancel() const { state_->cancelled.store(true, std::memory_order_release); }
  bool cancelled() const { return cancelled(state_.get()); }

 private:
  struct State {
    std::atomic<bool> cancelled{false};
    std::shared_ptr<const State> parent;
    std::shared_ptr<const State> other;
    std::shared_ptr<const std::atomic<uint64_t>> epoch;
    uint64_t begin = 0;
  };
  static bool cancelled(const State* state) {
    for (; state != nullptr; state = state->parent.get()) {
      if (state->cancelled.load(std::memory_order_acquire)) return true;
      if (state->epoch != nullptr && state->epoch->load(std::memory_order_acquire) != state->begin)
        return true;
      if (state->other != nullptr && cancelled(state->other.get())) return true;
    }
    return false;
  }
  std::shared_ptr<State> state_;
};

// Nanoseconds on CLOCK_MONOTONIC: the clock of every deadline.
inline int64_t monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace muster
