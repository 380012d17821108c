// A request, read and checked.
#include <algorithm>
#include <cstring>

#include "plugins/http/exchange.h"
#include "plugins/http/words.h"

namespace muster::http {

namespace {

Failure invalid(std::string message) {
  return failure(MUSTER_E_INVALID_ARGUMENT, Phase::none, std::move(message));
}

std::string_view text(const char *data, uint64_t size) {
  if (!data) return {};
  return size == MUSTER_NUL_TERMINATED ? std::string_view(data) : std::string_view(data, size);
}

std::string_view text(const char *data) { return text(data, MUSTER_NUL_TERMINATED); }

bool is_token(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

// Those that frame the message or the connection are the transport's.
bool is_ours(std::string_view name) {
  for (const char *ours : {"Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive",
                           "Upgrade", "TE", "Trailer", "Proxy-Connection", "Expect"}) {
    if (equal_ignoring_case(name, ours)) return true;
  }
  return false;
}

Failed read_headers(const muster_http_request_v1 &given, Request &request) {
  bool has_agent = false;
  bool has_encoding = false;
  bool has_host = false;
  for (uint64_t i = 0; i < given.header_count; ++i) {
    const std::string_view name = text(given.headers[i].name);
    const std::string_view value = text(given.headers[i].value, given.headers[i].value_size);
    if (!is_token(name))
      return invalid("header " + std::to_string(i + 1) +
                     " of the request has no valid name: " + quote(name, 60));
    if (is_ours(name))
      return invalid("the header " + quote(name, 60) +
                     " of the request is set by the transport and cannot be given");
    const bool sound = std::none_of(value.begin(), value.end(), [](char c) {
      return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
    });
    if (!sound)
      return invalid("the value of the request's header " + quote(name, 60) +
                     " holds a line break or another control character");
    has_agent |= equal_ignoring_case(name, "User-Agent");
    has_encoding |= equal_ignoring_case(name, "Accept-Encoding");
    has_host |= equal_ignoring_case(name, "Host");
    request.headers.emplace_back(name, value);
  }
  if (!has_host) request.headers.emplace_back("Host", request.url.host_header());
  // Google's servers compress only for agents that say gzip.
  if (!has_agent) request.headers.emplace_back("User-Agent", "muster (gzip)");
  if (!has_encoding) request.headers.emplace_back("Accept-Encoding", "gzip");
  return {};
}

}  // namespace

bool Request::is_safe() const {
  return method == "GET" || method == "HEAD" || method == "OPTIONS" ||
         (flags & MUSTER_HTTP_IDEMPOTENT) != 0;
}

Failed read_request(const muster_http_request_v1 &given, Request &request) {
  constexpr uint64_t kDefaultLimit = UINT64_C(64) * 1024 * 1024;
  request.flags = given.flags;
  request.method = text(given.method);
  if (!is_token(request.method) || request.method == "CONNECT") {
    return invalid("the request's method " + quote(request.method, 60) +
                   " is not one that can be sent");
  }
  if (Failed failed = parse_url(text(given.url, given.url_size), request.url)) return failed;
  if (given.header_count != 0 && !given.headers)
    return invalid("the request says it has headers and gives none");
  if (Failed failed = read_headers(given, request)) return failed;
  request.body = text(given.body, given.body_size);
  request.limit = given.maximum_body_size == 0 ? kDefaultLimit : given.maximum_body_size;
  request.on_body = given.on_body;
  request.on_body_ctx = given.on_body_ctx;

  request.tls.ca_pem = text(given.ca_pem, given.ca_pem_size);
  request.tls.certificate_pem =
      text(given.client_certificate_pem, given.client_certificate_pem_size);
  request.tls.key_pem = text(given.client_key_pem, given.client_key_pem_size);
  request.tls.server_name = text(given.tls_server_name);
  request.tls.insecure = (given.flags & MUSTER_HTTP_INSECURE) != 0;

  const std::string_view proxy = text(given.proxy_url);
  request.through_proxy = !proxy.empty() && (given.flags & MUSTER_HTTP_NO_PROXY) == 0;
  if (request.through_proxy) {
    if (Failed failed = parse_proxy(proxy, request.proxy)) return failed;
  }
  return {};
}

}  // namespace muster::http
