// Signature Version 4, by which a request to AWS says who sends it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace muster::support::google {

struct AwsKeys {
  std::string access_key_id, secret_access_key;
  std::string session_token;  // of temporary keys
};

struct AwsRequest {
  std::string method;
  std::string url;  // https://HOST[/PATH][?QUERY]; the path as it is signed
  std::map<std::string, std::string> headers;  // names in lower case; without host and x-amz-...
};

// The headers to send: those given, host, x-amz-date, x-amz-security-token where there is a session token, and Authorization, which signs all
// of them and an empty body. `now`: seconds since 1970. The rule: "Create a signed AWS API request" of the IAM user guide.
std::map<std::string, std::string> sign_for_aws(const AwsRequest& request, const AwsKeys& keys,
                                                std::string_view region, std::string_view service,
                                                int64_t now);

// HOST of https://HOST[:PORT][/...]; "" when the URL is none of https.
std::string_view https_host(std::string_view url);

}  // namespace muster::support::google
