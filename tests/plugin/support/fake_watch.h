// A watch in a world whose time is a number: streams that say what a test has them say, when it has them say it.
#pragma once

#include <muster/http_streams.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/plugin/support/fake_core.h"

namespace fake {

// What a stream does, in seconds after it was begun.
struct StreamText {
  struct Piece {
    double at_s = 0;
    std::string bytes;
  };
  std::vector<Piece> pieces = {};
  double ends_s = -1;  // less than 0: not by itself
  Response end = {};   // how: its status, or its code
};

// What happens and what is told, in the order of the time that it owns. Nothing sleeps.
struct Watched {
  double until_s = 60;                               // the watch is cancelled then
  std::function<StreamText(const Request&)> stream;  // what answers a request that streams
  int64_t requests_maximum = 5'000;                  // more are a loop, which ends the watch

  struct Told {
    double at_s = 0;
    std::string
        kind;  // "list", "get", "watch" (the URL), "progress", "answer" (the cluster), "failure" (code and words)
    std::string text;
  };
  std::vector<Told> told = {};

  double now_s() const { return static_cast<double>(now_ns) / 1e9; }
  // The times of what was told of a kind with such a part, from `from_s` on.
  std::vector<double> times(std::string_view kind, std::string_view part = "",
                            double from_s = 0) const;
  // The last of that kind; "" for none.
  std::string last(std::string_view kind) const;

  // ---- For the fake core ----
  struct Next {
    uint64_t ended = 0;
    int32_t code = MUSTER_OK;
    Response response = {};
  };
  bool over() const;
  void tell(const std::string& kind, const std::string& text);
  void serve(const Request& request, Response& response);
  uint64_t begin(const Request& request, const muster_http_request_v1& raw);
  Next next(int64_t timeout_ns);
  void end(uint64_t number) { streams.erase(number); }
  // The watch has failed, and is begun again as the core does it: after a second, twice that, ... 8 s.
  void failed(int32_t code, const std::string& words);

  struct Live {
    StreamText text;
    int64_t began_ns = 0;
    int64_t word_ns = 0;
    size_t piece = 0;
    int32_t (*on_body)(void*, const char*, uint64_t) = nullptr;
    void* on_body_ctx = nullptr;
    int64_t timeout_ns = 0, idle_ns = 0;
    int64_t due_ns() const;
  };
  std::map<uint64_t, Live> streams = {};
  uint64_t number = 0;
  int64_t requests = 0;
  int64_t now_ns = 1'000'000'000;  // some time after the machine was started
  int64_t begun_ns = 1'000'000'000;
  int64_t backoff_ns = 0;
};

// Creates a resolver of the plugin, and watches it until `watched` is over, again after each failure.
void ask_watch(const std::string& plugin, const std::string& options, Watched& watched,
               World world);

}  // namespace fake
