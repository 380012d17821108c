#include "plugins/support/google/aws_signature.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <utility>
#include <vector>

#include "plugins/support/google/hash.h"
#include "plugins/support/text.h"

namespace muster::support::google {
namespace {

constexpr const char* kAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::string_view kHttps = "https://";

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool encoded = text[at] == '%' && at + 2 < text.size() && digit_of(text[at + 1]) >= 0 &&
                         digit_of(text[at + 2]) >= 0;
    out += encoded ? static_cast<char>(digit_of(text[at + 1]) * 16 + digit_of(text[at + 2]))
                   : text[at];
    if (encoded) at += 2;
  }
  return out;
}

// Each name and value encoded anew, in order.
std::string canonical_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> fields;
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view field = query.substr(0, end);
    const size_t equals = std::min(field.find('='), field.size());
    if (!field.empty())
      fields.emplace_back(
          percent_encoded(percent_decoded(field.substr(0, equals))),
          percent_encoded(percent_decoded(field.substr(std::min(equals + 1, field.size())))));
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  std::sort(fields.begin(), fields.end());
  std::string out;
  for (const auto& [name, value] : fields)
    out += fmt::format("{}{}={}", out.empty() ? "" : "&", name, value);
  return out;
}

}  // namespace

std::string_view https_host(std::string_view url) {
  if (url.substr(0, kHttps.size()) != kHttps) return {};
  url.remove_prefix(kHttps.size());
  return url.substr(0, url.find_first_of(":/?#"));
}

std::map<std::string, std::string> sign_for_aws(const AwsRequest& request, const AwsKeys& keys,
                                                std::string_view region, std::string_view service,
                                                int64_t now) {
  const std::string_view url = request.url;
  const size_t path_at = std::min(url.find_first_of("/?", kHttps.size()), url.size());
  const size_t query_at = std::min(url.find('?', path_at), url.size());
  const std::string_view path = url.substr(path_at, query_at - path_at);
  const std::string_view query = url.substr(std::min(query_at + 1, url.size()));

  const std::tm time = fmt::gmtime(static_cast<std::time_t>(now));
  const std::string date = fmt::format("{:%Y%m%d}", time);
  std::map<std::string, std::string> headers = request.headers;
  headers["host"] = https_host(url);
  headers["x-amz-date"] = fmt::format("{}T{:%H%M%S}Z", date, time);
  if (!keys.session_token.empty()) headers["x-amz-security-token"] = keys.session_token;
  std::string lines, names;
  for (const auto& [name, value] : headers) {
    lines += fmt::format("{}:{}\n", name, trimmed(value));
    names += (names.empty() ? "" : ";") + name;
  }
  const std::string canonical =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, path.empty() ? "/" : path,
                  canonical_query(query), lines, names, hexadecimal(sha256("")));
  const std::string scope = fmt::format("{}/{}/{}/aws4_request", date, region, service);
  const std::string to_sign = fmt::format("{}\n{}\n{}\n{}", kAlgorithm, headers["x-amz-date"],
                                          scope, hexadecimal(sha256(canonical)));
  std::string key = "AWS4" + keys.secret_access_key;
  for (const std::string_view part :
       {std::string_view(date), region, service, std::string_view("aws4_request")})
    key = hmac_sha256(key, part);
  headers["Authorization"] =
      fmt::format("{} Credential={}/{}, SignedHeaders={}, Signature={}", kAlgorithm,
                  keys.access_key_id, scope, names, hexadecimal(hmac_sha256(key, to_sign)));
  return headers;
}

}  // namespace muster::support::google
