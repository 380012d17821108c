// BackendProcess: a backend's process, with the program muster-isolate between it and us.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/file_descriptor.h"
#include "core/isolate/control.h"
#include "core/result.h"

namespace muster {

struct ProcessRequest {
  std::string helper;                    // muster-isolate's absolute path
  std::vector<std::string> arguments;    // of it, behind its own name
  std::vector<std::string> environment;  // all of it: "NAME=value"
};

// Started in a process with threads: what happens between fork and exec is the C library's. Its four descriptors close on exec.
class BackendProcess {
 public:
  // kUnavailable, with errno's words: the system gives no process or descriptor.
  static Result<std::unique_ptr<BackendProcess>> start(const ProcessRequest& request);
  // One that is there already: its frames, what it writes, and its end, which is that of `control`. For the tests.
  static std::unique_ptr<BackendProcess> adopt(FileDescriptor frames, FileDescriptor output,
                                               FileDescriptor control);
  // Everything has ended when it returns, which takes half a second at the most.
  ~BackendProcess();
  BackendProcess(const BackendProcess&) = delete;
  BackendProcess& operator=(const BackendProcess&) = delete;

  int frames() const { return frames_.get(); }  // our end, not blocking
  int output() const {
    return output_.get();
  }  // what it writes to its standard streams, not blocking
  int control() const { return control_.get(); }  // readable once it has ended

  // Between calls it may use little of the processor.
  void call_begins() const { say(isolate::kCallBegins); }
  void call_is_over() const { say(isolate::kCallIsOver); }
  // Says that no more frames come: it should exit by itself.
  void end_frames() const;
  // Ends it and all that it started, and waits for that.
  void end_now();
  // How it ended, as far as is known within so long.
  std::optional<isolate::Ended> ended(int64_t wait_ns);

 private:
  BackendProcess() = default;
  void say(char what) const;

  pid_t pid_ = -1;
  FileDescriptor frames_;
  FileDescriptor output_;
  FileDescriptor control_;
  bool over_ = false;  // the program has said all, or is gone
  std::optional<isolate::Ended> ended_;
};

// Whether the system gave the process no memory, or no thread.
bool is_out_of_memory(const isolate::Ended& ended);

// "its process was ended by signal 11 (Segmentation fault)", "its process ended with exit status 3", and the like.
std::string words_of(const isolate::Ended& ended);

}  // namespace muster
