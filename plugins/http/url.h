// The URLs of a request and of a proxy, taken apart. The only place here that looks for colons.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plugins/http/failure.h"

namespace muster::http {

// A host and its port.
struct Endpoint {
  std::string host;  // a name, or an IP literal without brackets; a zone follows '%'
  uint16_t port = 0;
  bool v6_literal = false;

  // "host:port", "[v6]:port".
  std::string text() const;
  // The host as TLS and the header Host write it: without zone and without a final dot.
  std::string plain_host() const;
  bool is_ip_literal() const;
};

// An absolute http or https URL.
struct Url {
  bool https = false;
  Endpoint endpoint;
  std::string target;  // path and query, begins with '/'

  // The header Host: no port where it is the scheme's own.
  std::string host_header() const;
};

// Messages name no user info and no query. INVALID_ARGUMENT on failure.
Failed parse_url(std::string_view text, Url &url);

// "SCHEME://[user[:password]@]host[:port][/]", with http, https or socks5; without a scheme it is read as http.
struct Proxy {
  enum class Kind { http, https, socks5 };
  Kind kind = Kind::http;
  Endpoint endpoint;
  std::string user, password;  // decoded; secrets

  // For the header Proxy-Authorization: "Basic ...", or empty.
  std::string authorization() const;
};

// INVALID_ARGUMENT, also for other kinds of proxies.
Failed parse_proxy(std::string_view text, Proxy &proxy);

}  // namespace muster::http
