// One exchange: from a request to its response or failure.
#pragma once

#include <muster/http.h>

#include "plugins/http/body.h"
#include "plugins/http/head.h"
#include "plugins/http/tls.h"
#include "plugins/http/url.h"

namespace muster::http {

// A request, read and checked. Borrows from the caller's.
struct Request {
  uint64_t flags = 0;
  std::string method;
  Url url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string_view body;
  uint64_t limit = 0;
  TlsMaterial tls;
  bool through_proxy = false;
  Proxy proxy;
  const char *name_servers = nullptr;  // see resolve()
  int32_t (*on_body)(void *, const char *, uint64_t) = nullptr;
  void *on_body_ctx = nullptr;

  // Sending it twice does no harm.
  bool is_safe() const;
};

// Reads what a caller gave. INVALID_ARGUMENT tells what is wrong with it.
Failed read_request(const muster_http_request_v1 &given, Request &request);

struct Outcome {
  Failed failed;
  bool sent = false;  // a byte of the request may have reached the server
  std::string endpoint;
  Head head;
};

// Does it. `body` receives the response's body and is empty before.
Outcome exchange(const Request &request, const muster_call_v1 *call, Body &body);

}  // namespace muster::http
