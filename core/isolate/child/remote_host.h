// What a plugin that is loaded in the child gets of the core: the same tables, over the frames.
#pragma once

#include <muster/http.h>
#include <muster/http_streams.h>
#include <muster/plugin.h>
#include <muster/process.h>

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/isolate/child/link.h"
#include "core/service/call_strings.h"
#include "core/service/host.h"

namespace muster::isolate {

// The process has one resolver and one running call at a time, so the tables stand on these alone.
class RemoteHost {
 public:
  RemoteHost(Link& link, std::string name, const frames::v1::Create& create);

  Link& link() { return link_; }
  const muster_host_v1* host() const { return &host_table_; }
  // The table of one call; what the one before kept alive is let go.
  const muster_call_v1* begin_call(const frames::v1::Run& run);
  frames::v1::Function function() const { return function_; }
  bool on_call_thread() const { return std::this_thread::get_id() == thread_; }

  // Tells the core of a broken duty; the code for the plugin to return.
  int32_t misbehaved(const char* duty, const std::string& what);

  // Keeps a text until the call ends, followed by 64 readable zero bytes, and the same one only once.
  const std::string& keep(std::string text) { return texts_.keep(std::move(text)); }

  // A response that was handed out, until release or the end of the call.
  struct Response {
    std::string body;
    std::vector<std::pair<std::string, std::string>> texts;
    std::vector<muster_http_header_v1> headers;
  };
  void hand(frames::v1::Answer& answer, muster_http_response_v1* response);
  void release(const void* response) { responses_.erase(response); }

  // The stream with this number, and who takes its pieces.
  struct Stream {
    int32_t (*on_body)(void* ctx, const char* data, uint64_t size) = nullptr;
    void* ctx = nullptr;
  };
  std::map<uint64_t, Stream>& streams() { return streams_; }
  std::string& words() { return words_; }

  // The one of this process.
  static RemoteHost& the();

 private:
  Link& link_;
  Host host_;  // log aside, what of the core needs no frame: errors, options
  muster_host_v1 host_table_{};
  muster_call_v1 call_table_{};
  std::thread::id thread_;
  frames::v1::Function function_ = frames::v1::FUNCTION_UNSPECIFIED;
  CallStrings texts_;
  std::map<const void*, std::unique_ptr<Response>> responses_;
  std::map<uint64_t, Stream> streams_;
  std::string words_;
};

// Fills the plugin's error with what an answer says, and returns its code.
int32_t give_answer(const frames::v1::Answer& answer, muster_error* error);

// The functions of muster_call_v1, but its ctx and deadline.
muster_call_v1 remote_call_table();
const muster_clock_v1* remote_clock_table();
const muster_environment_v1* remote_environment_table();
const muster_process_v1* remote_process_table();
const muster_http_v1* remote_http_table();
const muster_http_streams_v1* remote_http_streams_table();

}  // namespace muster::isolate
