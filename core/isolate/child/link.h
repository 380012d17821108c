// Link: the child's end of the frames, for a plugin that is loaded here.
#pragma once

#include <muster/plugin.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "core/isolate/frame_buffer.h"

namespace muster::isolate {

// A thread of its own reads, for a Cancel may come at any time; all else is taken on the thread that runs the plugin. Any thread may
// write. Nobody is left to tell when the frames cannot be used any more: the process then ends.
class Link {
 public:
  using Frame = frames::v1::Frame;
  using Answer = frames::v1::Answer;
  // Takes one piece of a body; MUSTER_OK, or the code that ends the exchange.
  using TakePiece = std::function<int32_t(const frames::v1::Piece&)>;

  explicit Link(int descriptor) : descriptor_(descriptor) {}

  // Reads until the core shuts down: on the reading thread. `cancel` is called at a Cancel, and at the end.
  void read(const std::function<void()>& cancel);

  // Gathers a frame, to be written with those behind it. [thread-safe]
  void gather(const Frame& frame) { write(frame, false); }
  // The same of what there is very much of.
  void gather(const muster_task_v1& task);
  void gather_attribute(std::string_view key, std::string_view value);
  // Writes all that was gathered, and this one. [thread-safe]
  void send(const Frame& frame) { write(frame, true); }

  // The next Create or Run; nothing at the end. The rest is for the plugin's thread alone, as this is.
  std::optional<Frame> next_work();
  // Asks the core. At the end of the frames the answer is CANCELLED.
  Answer ask(Frame& request, const TakePiece& take = nullptr);

  // Of the running call, whose end next_work forgets.
  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  int32_t refused() const { return refused_.load(std::memory_order_acquire); }
  void refuse(int32_t code);
  // Before Run's answer is sent: what comes of the call after that means nothing.
  void end_call();

 private:
  void write(const Frame& frame, bool now);
  void flush();
  void flush_much();
  std::optional<Frame> next();
  void take(Frame frame, const std::function<void()>& cancel);

  int descriptor_;
  std::mutex write_mutex_;
  std::string gathered_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Frame> come_;
  bool over_ = false;
  bool in_call_ = false;
  std::atomic<bool> cancelled_{false};
  std::atomic<int32_t> refused_{0};
  uint64_t last_id_ = 0;
};

// The frames cannot be used any more: says why on standard error, and ends the process with this status.
[[noreturn]] void give_up(const std::string& why, int status = 1);

}  // namespace muster::isolate
