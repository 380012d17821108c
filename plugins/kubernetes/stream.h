// The watches that follow one list, one after the other: what their StreamState says is done here, with the server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/access.h"
#include "plugins/kubernetes/feeds.h"
#include "plugins/kubernetes/stream_state.h"

namespace muster::kubernetes {

class Stream {
 public:
  static constexpr int64_t kNever = StreamState::kNever;

  // All of them outlive this. `silence_ns`: after so long without a word, not even a bookmark, it is listed anew.
  // `due_ns`: nothing is asked before this.
  Stream(const Access& access, const sdk::HttpStreams& streams, Feed& feed, int64_t silence_ns,
         int64_t due_ns, sdk::Call& call);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // When go_on is to be called.
  int64_t due() const { return state_.due_ns(); }
  // Lists, begins the next watch, or ends one that is silent, whichever is due. Whether it listed. The failures are those of
  // resolve.
  sdk::Result<bool> go_on();
  // The list is to be asked for anew, at once. A watch that goes on is ended.
  void list_again();
  // Nothing is to be asked before list_again.
  void hold();
  // After go_on has failed with NOT_FOUND: its creation is waited for, as an event.
  sdk::Status wait_until_there();

  // Of the watch that goes on; 0: there is none.
  uint64_t number() const { return number_; }
  // It has ended, so. The failure: it cannot be had again, or not soon.
  sdk::Status ended(const sdk::Result<sdk::Response>& response);

  // What it has brought since the last call of this has changed the list.
  bool take_changed() { return std::exchange(changed_, false); }
  // Whether the server has streamed.
  bool followed() const { return followed_; }
  // Before this the server does not want to be asked.
  int64_t not_before_ns() const { return not_before_ns_; }

 private:
  static int32_t take(void* ctx, const char* data, uint64_t size);
  void note(const Feed::Taken& taken);
  void end_watch();
  sdk::Status begin();
  sdk::Status end_as(StreamState::End end, sdk::Failure failure, int64_t at_least_ns = 0);
  void say(const std::string& words) const;
  int64_t now() const { return clock_->monotonic_ns(call_.get()); }

  const Access& access_;
  const sdk::HttpStreams& streams_;
  Feed& feed_;
  const int64_t silence_ns_;
  sdk::Call& call_;
  const muster_clock_v1* const clock_;
  StreamState state_;

  uint64_t number_ = 0;  // of the exchange; 0: there is none
  bool followed_ = false;
  bool changed_ = false;
  int64_t not_before_ns_ = 0;

  // Of the watch.
  enum class Stop : uint8_t { kNone, kForgotten, kOutgrown };
  Stop stop_ = Stop::kNone;  // it is ended for a new list
  sdk::Status status_;       // of what it said
};

}  // namespace muster::kubernetes
