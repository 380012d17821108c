// HttpStreams: the exchanges of one call that go on beside one another.
#pragma once

#include <muster/http_streams.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/result.h"
#include "core/service/call.h"
#include "core/service/http_request.h"
#include "core/service/http_send.h"

namespace muster {

// Each exchange is sent by a thread of its own, as a call that is cancelled with the plugin's; what it receives is kept until the
// plugin asks for it, and one that is not asked for is not received further. Used on the plugin's thread alone.
class HttpStreams {
 public:
  explicit HttpStreams(Call& call);
  ~HttpStreams();  // ends them all
  HttpStreams(const HttpStreams&) = delete;
  HttpStreams& operator=(const HttpStreams&) = delete;

  // Copies what the request borrows, but on_body_ctx. The number is never 0. kResourceExhausted: no thread is left.
  Result<uint64_t> begin(const HttpRequest& request);

  struct Told {
    uint64_t ended = 0;                // which
    std::optional<Result<Sent>> sent;  // of one that has ended
    int32_t code = MUSTER_OK;          // of none: as muster_http_v1::next
  };
  // Pieces go to on_body.
  Told next(int64_t timeout_ns);

  void end(uint64_t number);

  // Keeps a text until the next is kept.
  const char* keep(std::string text) { return (kept_ = std::move(text)).c_str(); }

 private:
  class Stream;
  // What the threads and the plugin's share.
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
  };

  void leave(std::map<uint64_t, std::unique_ptr<Stream>>::iterator at);

  Call& call_;
  Shared shared_;
  std::map<uint64_t, std::unique_ptr<Stream>> streams_;
  uint64_t last_ = 0;  // the number given last
  uint64_t turn_ = 0;  // the one that was told of last: the others come first
  std::string kept_;
};

const muster_http_streams_v1* http_streams_table();

}  // namespace muster
