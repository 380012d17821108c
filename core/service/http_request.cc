// HttpRequest: what a plugin asked for, checked.
#include "core/service/http_request.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/service/http_secret.h"
#include "core/service/text.h"
#include "core/spec/quote.h"

namespace muster {
namespace {

constexpr uint64_t kUsualMaximum = uint64_t{64} << 20;
constexpr uint64_t kMostHeaders = 1000;
constexpr size_t kLongestUrl = 64 * 1024;

Error refuse(std::string message) { return {Code::kInvalidArgument, std::move(message), {}}; }

// RFC 9110 5.6.2.
bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

Status check_header(const muster_http_header_v1& header) {
  const std::string_view name = view_of(header.name, MUSTER_NUL_TERMINATED);
  if (!is_token(name)) return refuse(fmt::format("a header's name {} is not one", quote(name, 60)));
  const std::string_view value = view_of(header.value, header.value_size);
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t') || byte == 0x7f) {
      return refuse(
          fmt::format("the value of the header '{}' has a control character (0x{:02x}) in it; is "
                      "there a newline at its end?",
                      name, byte));
    }
  }
  for (const std::string_view ours :
       {"host", "content-length", "transfer-encoding", "connection"}) {
    if (equal_without_case(name, ours))
      return refuse(fmt::format("the header '{}' is the core's to set", name));
  }
  return {};
}

}  // namespace

Result<HttpRequest> HttpRequest::read(const muster_http_request_v1* request) {
  if (request == nullptr) return refuse("the request is NULL");
  if (request->struct_size < offsetof(muster_http_request_v1, headers))
    return refuse("the request's struct_size is not set");
  HttpRequest read;
  std::memcpy(&read.raw, request, std::min<uint64_t>(request->struct_size, sizeof(read.raw)));
  const muster_http_request_v1& raw = read.raw;

  const std::string_view method = view_of(raw.method, MUSTER_NUL_TERMINATED);
  if (!is_token(method) || method.size() > 32 || method == "CONNECT") {
    return refuse(fmt::format("the method {} of the request is not one", quote(method, 40)));
  }
  read.method = method;
  const std::string_view text = view_of(raw.url, raw.url_size);
  if (text.size() > kLongestUrl)
    return refuse(fmt::format("the URL has {} bytes; at most {} can be", text.size(), kLongestUrl));
  Result<Url> url = Url::parse(text);
  if (!url) return std::move(url).error();
  read.url = std::move(url).value();

  if (raw.header_count > kMostHeaders || (raw.header_count > 0 && raw.headers == nullptr)) {
    return refuse(fmt::format("the request has {} headers; at most {} can be", raw.header_count,
                              kMostHeaders));
  }
  for (uint64_t i = 0; i < raw.header_count; ++i) {
    if (Status checked = check_header(raw.headers[i]); !checked) return std::move(checked).error();
    muster_http_header_v1 header = raw.headers[i];
    header.value_size = view_of(header.value, header.value_size).size();
    if (header.value == nullptr) header.value = "";
    read.headers.push_back(header);
  }
  // A bound that is longer than a year is none; so sums of times do not overflow.
  constexpr int64_t kYear_ns = int64_t{366} * 24 * 3600 * 1'000'000'000;
  read.raw.timeout_ns = std::min(raw.timeout_ns, kYear_ns);
  read.raw.idle_timeout_ns = std::min(raw.idle_timeout_ns, kYear_ns);
  read.body = view_of(raw.body, raw.body_size);
  read.purpose = clean_text(view_of(raw.purpose, MUSTER_NUL_TERMINATED), false);
  read.maximum_body_size = raw.maximum_body_size == 0 ? kUsualMaximum : raw.maximum_body_size;
  return read;
}

std::string HttpRequest::shown_origin_at(const Url& target) const {
  if (url.same_origin(target)) return shown_origin.empty() ? url.origin() : shown_origin;
  return target.https() ? "https://redacted.invalid:443" : "http://redacted.invalid:80";
}

bool HttpRequest::follow(int64_t status, std::string_view location, std::string* reason) {
  const bool secret = has(MUSTER_HTTP_SECRET_BODY);
  Result<Url> target = url.resolve(trim(location));
  if (!target) {
    *reason = secret ? "its Location cannot be used"
                     : "its Location cannot be used: " + target.error().message;
    return false;
  }
  const bool same_origin = url.same_origin(*target);
  if (!same_origin && !has(MUSTER_HTTP_FOLLOW_REDIRECTS)) {
    *reason = secret ? "it leads to another server"
                     : fmt::format("it leads to another server, {}", target->endpoint());
    return false;
  }
  if (url.https() && !target->https()) {
    *reason = "it leads from https to http";
    return false;
  }
  const bool becomes_get =
      method != "HEAD" && (status == 303 || ((status == 301 || status == 302) && method == "POST"));
  if (!same_origin && !becomes_get && secret && !body.empty()) {
    *reason = "it would carry a secret body to another server";
    return false;
  }

  if (secret) shown_origin = shown_origin_at(*target);
  url = std::move(target).value();
  const auto drop = [&](auto&& unwanted) {
    headers.erase(std::remove_if(headers.begin(), headers.end(), unwanted), headers.end());
  };
  if (becomes_get) {
    method = "GET";
    body = {};
    drop([](const muster_http_header_v1& header) {
      return lower_case(header.name).rfind("content-", 0) == 0;
    });
  }
  if (!same_origin) {
    drop([](const muster_http_header_v1& header) { return is_secret_header(header.name); });
    raw.client_certificate_pem = raw.client_key_pem = nullptr;
    raw.client_certificate_pem_size = raw.client_key_pem_size = 0;
    raw.tls_server_name = nullptr;  // these two were said of the first server
    raw.flags &= ~MUSTER_HTTP_INSECURE;
  }
  return true;
}

}  // namespace muster
