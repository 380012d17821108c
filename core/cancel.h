// CancelToken: one flag that stops everything below it. Deadline arithmetic.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

namespace muster {

// A cancel that stays until it is taken back, so that one that comes before the call it is meant for is not lost.
// [thread-safe]; set() is async-signal-safe.
class CancelSwitch {
 public:
  void set() { state_.fetch_or(1, std::memory_order_acq_rel); }
  // What was begun before stays cancelled.
  void reset() {
    uint64_t state = state_.load(std::memory_order_acquire);
    while ((state & 1) != 0 &&
           !state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel)) {
    }
  }
  bool is_set() const { return (state() & 1) != 0; }
  // Odd while it is set; another number after each set() and each reset().
  uint64_t state() const { return state_.load(std::memory_order_acquire); }

 private:
  std::atomic<uint64_t> state_{0};
};

// Set once from any thread; read by many. Copies share the flag. A child is cancelled with its parent.
class CancelToken {
 public:
  CancelToken() : state_(std::make_shared<State>()) {}

  CancelToken child() const {
    CancelToken token;
    token.state_->parent = state_;
    return token;
  }
  // Cancelled while the switch is set, or once it has been set after now.
  static CancelToken of(std::shared_ptr<const CancelSwitch> cancel_switch) {
    CancelToken token;
    token.state_->begin = cancel_switch->state();
    token.state_->cancel_switch = std::move(cancel_switch);
    return token;
  }
  void cancel() const { state_->cancelled.store(true, std::memory_order_release); }
  bool cancelled() const { return cancelled(state_.get()); }

 private:
  struct State {
    std::atomic<bool> cancelled{false};
    std::shared_ptr<const State> parent;
    std::shared_ptr<const CancelSwitch> cancel_switch;
    uint64_t begin = 0;  // its state when the token was made
  };
  static bool cancelled(const State* state) {
    for (; state != nullptr; state = state->parent.get()) {
      if (state->cancelled.load(std::memory_order_acquire)) return true;
      if (state->cancel_switch != nullptr &&
          ((state->begin & 1) != 0 || state->cancel_switch->state() != state->begin))
        return true;
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
