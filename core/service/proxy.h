// Which proxy a request goes through, by HTTPS_PROXY, HTTP_PROXY and NO_PROXY.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/result.h"
#include "core/service/url.h"

namespace muster {

struct Proxy {
  std::string url;        // "http://[user:password@]host:port", or https or socks5; "" for none
  std::string shown;      // the same without user and password
  std::string source;     // "HTTPS_PROXY": where it comes from
  std::string password;   // as written, and
  std::string user_info;  // the whole of it: both are secrets
};

// A variable's value; nullopt when it is unset.
using Variables = std::function<std::optional<std::string>(const std::string& name)>;

// The rules are those of Go's net/http, which most tools of a cluster follow:
//  - https: HTTPS_PROXY, https_proxy; http: HTTP_PROXY, http_proxy, of which the first does not count while REQUEST_METHOD is set (in a
//    CGI program a client could set it: "httpoxy"). A blank value is none. Without a scheme it is http://.
//  - NO_PROXY, no_proxy: a list with commas of '*', IP addresses, CIDR blocks, names ('example.com' means its subdomains too,
//    '.example.com' and '*.example.com' only those), each with an optional port.
//  - 'localhost' and loopback addresses are asked directly always.
// kFailedPrecondition when the proxy that applies is none that can be used (socks4://).
Result<Proxy> choose_proxy(const Url& url, const Variables& variables);

// Checks a proxy's URL; `source` says where it was written.
Result<Proxy> parse_proxy(const std::string& text, const std::string& source);

}  // namespace muster
