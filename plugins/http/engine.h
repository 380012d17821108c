// One request and its response over an open connection: cpp-httplib's client on a stream of ours.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/http/body.h"
#include "plugins/http/connection.h"
#include "plugins/http/head.h"

namespace muster::http {

struct EngineRequest {
  std::string method;
  std::string target;  // the request line's: a path, or a whole URL for a proxy
  std::vector<std::pair<std::string, std::string>> headers;  // with Host
  std::string_view body;
  bool secret = false;  // no failure quotes a word of the response
  uint64_t limit = 0;   // of the response's body, after gzip
  int32_t (*on_body)(void *, const char *, uint64_t) = nullptr;  // for 2xx
  void *on_body_ctx = nullptr;
};

struct EngineResult {
  Failed failed;
  Head head;
  bool sent = false;      // a byte of the request may have reached the server
  bool answered = false;  // a byte of a response came
  bool reusable = false;  // the connection is fit for another request
};

// Sends `request` and receives its response into `body`, which is closed when nothing failed.
EngineResult run_exchange(Connection &connection, const EngineRequest &request,
                          const Patience &patience, Body &body);

}  // namespace muster::http
