// What of a request and of an answer shows up nowhere.
#include "core/service/http_secret.h"

#include <algorithm>
#include <array>

#include "core/service/text.h"

namespace muster {
namespace {

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// The names under which APIs take secrets in a query. "pageToken" and "continue" are none.
bool is_secret_parameter(std::string_view name) {
  constexpr std::array<std::string_view, 14> names = {
      "access_token", "id_token", "refresh_token", "token",    "oauth_token", "key",
      "api_key",      "apikey",   "client_secret", "password", "secret",      "signature",
      "assertion",    "sig"};
  const std::string lowered = lower_case(name);
  return std::find(names.begin(), names.end(), lowered) != names.end() ||
         ends_with(lowered, "-signature") || ends_with(lowered, "-security-token");
}

}  // namespace

bool is_secret_header(std::string_view name) {
  const std::string lowered = lower_case(name);
  for (const std::string_view known :
       {"authorization", "proxy-authorization", "cookie", "set-cookie", "set-cookie2"}) {
    if (lowered == known) return true;
  }
  for (const std::string_view end : {"-token", "-secret", "-password", "-api-key", "-apikey"}) {
    if (ends_with(lowered, end)) return true;
  }
  return false;
}

void learn_secret_header(std::string_view name, std::string_view value, Secrets& secrets) {
  if (!is_secret_header(name)) return;
  const size_t blank = value.find(' ');
  if (blank == std::string_view::npos) {
    secrets.add(value);
  } else {
    secrets.add(value.substr(blank + 1));  // the scheme before it is a word of everyday texts
  }
}

std::string shown_url(std::string_view url, const Secrets& secrets) {
  const size_t query = url.find('?');
  if (query == std::string_view::npos) return secrets.redact(url);
  std::string shown(url.substr(0, query));
  char separator = '?';
  std::string_view rest = url.substr(query + 1);
  for (bool more = true; more;) {
    const size_t end = rest.find('&');
    const std::string_view parameter = rest.substr(0, end);
    const size_t equals = parameter.find('=');
    shown += separator;
    if (equals != std::string_view::npos && is_secret_parameter(parameter.substr(0, equals))) {
      shown.append(parameter.substr(0, equals + 1)).append("REDACTED");
    } else {
      shown.append(parameter);
    }
    separator = '&';
    more = end != std::string_view::npos;
    if (more) rest.remove_prefix(end + 1);
  }
  return secrets.redact(shown);
}

std::string shown_url(const HttpRequest& request, const Secrets& secrets) {
  return request.shown_origin.empty() ? shown_url(request.url.text(), secrets)
                                      : request.shown_origin + "/REDACTED";
}

std::string shown_host_and_path(const HttpRequest& request) {
  return request.shown_origin.empty() ? request.url.host_and_path()
                                      : request.shown_origin + "/REDACTED";
}

std::optional<std::string> kept_header(const HttpRequest& request, std::string_view name,
                                       std::string_view value) {
  if (is_secret_header(name)) return std::nullopt;
  if (!request.has(MUSTER_HTTP_SECRET_BODY)) return std::string(value);
  const std::string lowered = lower_case(name);
  if (lowered == "location") {
    if (trim(value).empty()) return "";
    const Result<Url> target = request.url.resolve(trim(value));
    return target ? request.shown_origin_at(*target) + "/REDACTED" : "REDACTED:";  // no URL either
  }
  constexpr std::array<std::string_view, 6> plain = {"content-length", "transfer-encoding",
                                                     "content-type",   "date",
                                                     "retry-after",    "metadata-flavor"};
  if (std::find(plain.begin(), plain.end(), lowered) == plain.end() || value.size() > 64)
    return std::nullopt;
  return std::string(value);
}

}  // namespace muster
