// HttpRequest: what a plugin asked for, checked. Borrows everything from the plugin until send returns.
#pragma once

#include <muster/http.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/service/url.h"

namespace muster {

struct HttpRequest {
  // Reads the plugin's struct by its size, and checks everything but the proxy. kInvalidArgument says what is wrong.
  static Result<HttpRequest> read(const muster_http_request_v1* request);

  muster_http_request_v1 raw{};  // what an older plugin does not have is zero
  std::string method;
  Url url;
  std::vector<muster_http_header_v1> headers;
  std::string_view body;
  std::string purpose;
  uint64_t maximum_body_size = 0;
  // Of a request that an answer which is a secret has redirected: its URL is a word of that answer, so this and "/REDACTED" are shown.
  std::string shown_origin;

  bool has(uint64_t flag) const { return (raw.flags & flag) != 0; }

  // Goes to where an answer of this status redirects, changing the method and body as RFC 9110 15.4 allows; to another origin without
  // credentials. False, with the reason, when it may not be followed.
  bool follow(int64_t status, std::string_view location, std::string* reason);
  // The shown_origin after a redirect to `target`.
  std::string shown_origin_at(const Url& target) const;
};

}  // namespace muster
