// The core's end of the frames in the hands of a test: for moments that the core itself meets by chance alone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/isolate/frame_buffer.h"
#include "core/isolate/process.h"
#include "core/service/recording.h"
#include "sdk/muster-check/trial.h"

namespace muster::check {

// What came of one resolve.
struct Called {
  std::optional<frames::v1::Answer> answer;  // nothing: none came in time, or the process has ended
  int64_t took_ns = 0;                       // from its moment, or else from its beginning
  int requests = 0;                          // that it asked
  int first_push = 0;                        // how many of them before it pushed; -1: it did not
  std::string pushed;                        // all of that, in order
  // Its code and what was pushed: two that are equal say the same.
  bool same(const Called& other) const;
};

// What a test does in the middle of a resolve: just behind its Run (moment 0), or when the n-th request has come and is not yet
// answered (moment n).
struct Moment {
  int number = -1;  // none
  std::function<void()> act = nullptr;
  bool cancelled = false;  // from then on each request is answered CANCELLED
  int64_t limit_ns = 0;    // for the answer, from then on
};

// A frame of a kind that comes with a later minor.
frames::v1::Frame unknown_frame();

// One process of the program, and what it is told. Not for several threads.
class FramesDouble {
 public:
  using Frame = frames::v1::Frame;
  using Answer = frames::v1::Answer;

  // Starts the program and says Hello as a core of this version; one of a later minor has fields in each of its messages that nobody
  // knows yet. Null when it cannot be started, which is told.
  static std::unique_ptr<FramesDouble> start(Trial& trial, uint32_t major = kFramesMajor,
                                             uint32_t minor = kFramesMinor);

  void write(Frame frame);
  void write_bytes(std::string_view bytes);
  // A request of a later minor, and a frame that wants no answer. That the one is answered UNIMPLEMENTED is looked at on the way.
  void write_unknown();
  // How many of these requests nobody has answered yet.
  size_t unanswered() const { return unknown_.size(); }

  // The next frame of the program. Nothing: none has come by then, or it has ended, or what came is no frame, which is told.
  std::optional<Frame> read(int64_t until_ns);
  // Waits for its Hello; writes Create; waits for its Answer. What is wrong is told.
  bool greet();
  void write_create();
  bool create();
  // One resolve, in which the recording answers what it asks.
  Called resolve(const Moment& moment = {});

  // What was awaited has not come: that breaks the duty, or MP-26 when the process is gone.
  void break_off(const char* duty, const std::string& what);

  // No frame comes any more. The program has to exit.
  void shut_down() const { process_->end_frames(); }
  // How it has exited, if that was within so long.
  std::optional<isolate::Ended> ended(int64_t wait_ns) { return process_->ended(wait_ns); }
  // What it has written to its standard streams so far.
  std::string output();

 private:
  FramesDouble(Trial& trial, uint32_t minor) : trial_(trial), minor_(minor) {}

  // Answers one request of a resolve; `cancelled`: by that code.
  void answer(const Frame& request, bool cancelled);
  // The recorded answer to a request; a streamed body goes ahead in one piece, of the stream if that is not 0.
  Answer exchange(const frames::v1::HttpRequest& request, uint64_t asked_by, uint64_t stream);

  Trial& trial_;
  uint32_t minor_;
  std::unique_ptr<BackendProcess> process_;
  FrameBuffer come_;
  std::string output_;
  uint64_t last_id_ = 0;
  std::set<uint64_t> unknown_;  // the ids of the requests that it cannot know
  std::unique_ptr<Recording> recording_;
  int64_t until_ns_ = 0;                                 // of the running resolve
  std::map<uint64_t, frames::v1::HttpRequest> streams_;  // begun and not ended
  uint64_t last_stream_ = 0;
};

}  // namespace muster::check
