// Conversation: libmuster's side of the frames with one backend's process.
#pragma once

#include <muster/plugin.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/file_descriptor.h"
#include "core/isolate/frame_buffer.h"
#include "core/isolate/process.h"
#include "core/isolate/program.h"
#include "core/result.h"
#include "core/service/session.h"

namespace muster {

// Of the lines of a trace: below what a backend can log at.
inline constexpr int32_t kFrameLevel = -1;

// What a conversation tells of its process, and to whom.
struct Speaker {
  std::string name;                        // the backend's
  std::string path;                        // of the resolver in the config
  const muster_host_v1* host = nullptr;    // logs for the resolver, and has the services
  uint64_t memory = 0;                     // that its process may have, for words
  std::shared_ptr<const Log> trace;        // each frame is a line of it; or null
  std::shared_ptr<const Secrets> secrets;  // which the trace hides; not null where there is one
  int64_t start_ns = kStart_ns;            // for its Hello, and for its Create, each
};

class Conversation;

// Where the pieces of one streamed body go.
struct BodyTarget {
  Conversation* conversation = nullptr;
  uint64_t request = 0;  // of the two that Piece has, one
  uint64_t stream = 0;
};

// Used by one thread at a time, but for wake. Whatever the process does or does not do, each function returns: by its deadline, or, in a
// call, 400 ms after the call's deadline or cancel. A conversation that has failed has ended its process, and fails from then on.
class Conversation {
 public:
  // Starts the process and waits for its Hello.
  static Result<std::unique_ptr<Conversation>> start(const ProcessRequest& request,
                                                     Speaker speaker);
  // The same with a process that has been started.
  static Result<std::unique_ptr<Conversation>> begin(std::unique_ptr<BackendProcess> process,
                                                     Speaker speaker);
  // Lets the process end by itself, for 300 ms; then it is ended.
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  const frames::v1::Hello& hello() const { return hello_; }
  bool failed() const { return failure_.has_value(); }

  // The resolver's create. The answer is the backend's, whatever its code; the error is of the process.
  Result<frames::v1::Answer> create(const std::string& options);
  // One call, for which the backend pushes into `call` and asks the services.
  Result<frames::v1::Answer> run(const muster_call_v1* call, frames::v1::Run run);
  // Makes a running call look again whether it is to end. [thread-safe]
  void wake() const;

 private:
  friend class Serving;
  using Frame = frames::v1::Frame;
  using Answer = frames::v1::Answer;

  explicit Conversation(Speaker speaker);

  Status say_hello();
  // Sends a request and serves the backend until its answer is there, the contents of which are put together.
  Result<Answer> ask(Frame& request);
  Status send(const Frame& frame);
  // Waits for something to happen, and reads it. False: nothing is left to read, and the process has to be asked why.
  bool wait(int64_t until_ns, bool to_write);
  Status look_at_time();
  Status serve(const Frame& frame);
  void read_output();
  void show_line(std::string_view line);
  void log(int32_t level, std::string_view text);
  bool tracing() const;
  void trace(bool ours, const Frame& frame);

  // Ends the process and says why the conversation is over.
  Error fail(Code code, const char* duty, const std::string& what);
  Error fail_by_end();
  std::string wrote_last() const;                 // "; the last that it wrote: ..."
  Error fail_by_memory(const std::string& what);  // of the machine: nobody misbehaved
  // The call has failed by what was pushed: it should end soon.
  void refuse();
  Error breach(const std::string& what);

  Speaker speaker_;
  std::unique_ptr<BackendProcess> process_;
  FileDescriptor wake_;  // eventfd
  frames::v1::Hello hello_;
  FrameBuffer come_;
  std::string to_write_;
  size_t written_ = 0;  // of that
  std::optional<Error> failure_;
  std::string line_;        // of its standard streams, so far
  std::string last_lines_;  // the end of what it wrote there
  bool output_over_ = false;
  int64_t lines_since_ns_ = 0;
  int64_t lines_ = 0;    // of the log, in the second from then on
  int64_t dropped_ = 0;  // of them
  uint64_t last_id_ = 0;

  // Of what goes on.
  std::string doing_;                     // "create", "resolve", ...
  const muster_call_v1* call_ = nullptr;  // null between calls
  int64_t deadline_ns_ = 0;               // of what is no call
  int64_t end_by_ns_ = 0;                 // once it was told to end; 0 before
  bool cancel_said_ = false;
  bool refused_ = false;
  std::optional<std::pair<std::string, std::string>> misbehaved_;  // duty, what
  int depth_ = 0;
  std::vector<std::unique_ptr<BodyTarget>> targets_;  // of the streams of the call
};

}  // namespace muster
