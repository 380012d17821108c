// The watches that follow one list, one after the other: when each begins, and what is to be done when it ends.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/access.h"
#include "plugins/kubernetes/feeds.h"

namespace muster::kubernetes {

// The longest wait of a request that is no stream.
constexpr int64_t kAnswerTimeout_ns = 30'000'000'000;

class Stream {
 public:
  static constexpr int64_t kNever = INT64_MAX;

  // All of them outlive this. `silence_ns`: one that says nothing for so long, not even a bookmark, is given up for a new list.
  Stream(const Access& access, const sdk::HttpStreams& streams, Feed& feed, int64_t silence_ns,
         sdk::Call& call);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // When go_on is to be called; kNever while the server streams.
  int64_t due() const { return number_ == 0 ? due_ns_ : kNever; }
  // Lists where that is to be done, and begins the next watch. Whether it listed. The failures are those of resolve.
  sdk::Result<bool> go_on();
  // The list is to be asked for anew, at once. A watch that goes on is ended.
  void list_again();

  uint64_t number() const { return number_; }
  // It has ended, so. The failure: it cannot be had again, or not now, after several attempts.
  sdk::Status ended(const sdk::Result<sdk::Response>& response);

  // What it has brought since the last call of this has changed the list.
  bool take_changed() { return std::exchange(changed_, false); }
  // Whether the server has streamed.
  bool followed() const { return followed_; }

 private:
  static int32_t take(void* ctx, const char* data, uint64_t size);
  sdk::Status begin();
  sdk::Status again_after(sdk::Failure failure, int64_t at_least_ns);
  sdk::Status list_after(const char* why, int64_t pause_ns);
  int64_t now() const { return clock_->monotonic_ns(call_.get()); }
  int64_t pause(int nth);

  const Access& access_;
  const sdk::HttpStreams& streams_;
  Feed& feed_;
  const int64_t silence_ns_;
  sdk::Call& call_;
  const muster_clock_v1* const clock_;
  std::minstd_rand random_;

  uint64_t number_ = 0;  // of the exchange; 0: there is none
  int64_t due_ns_ = 0;
  bool list_ = true;       // before the next watch
  int64_t listed_ns_ = 0;  // when it was done last
  int soon_ = 0;           // lists in a row that came soon after one another
  int failed_ = 0;         // watches in a row that failed and said nothing
  bool followed_ = false;
  bool changed_ = false;

  // Of the watch.
  bool said_ = false;
  int64_t began_ns_ = 0, last_ns_ = 0;       // last: when it said something, or began
  std::optional<const char*> list_because_;  // it is ended for a new list
  sdk::Status status_;                       // of what it said
};

}  // namespace muster::kubernetes
