// URLs, taken apart.
#include "plugins/http/url.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include "plugins/http/words.h"

namespace muster::http {

namespace {

Failure bad_url(std::string_view which, std::string_view shown, std::string_view why) {
  return failure(MUSTER_E_INVALID_ARGUMENT, Phase::none,
                 std::string(which) + " " + quote(shown) + ": " + std::string(why));
}

bool is_v6(const std::string &host) {
  in6_addr address{};
  return inet_pton(AF_INET6, host.substr(0, host.find('%')).c_str(), &address) == 1;
}

bool is_v4(const std::string &host) {
  in_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1;
}

bool name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_';
}

// "host", "host:port", "[v6]", "[v6%25zone]:port". Returns why not, or nothing.
std::string parse_endpoint(std::string_view text, uint16_t default_port, Endpoint &endpoint) {
  std::string_view port;
  bool has_port = false;
  if (text.starts_with('[')) {
    const size_t close = text.find(']');
    if (close == std::string_view::npos) return "the bracket of the IPv6 address is not closed";
    endpoint.host = text.substr(1, close - 1);
    endpoint.v6_literal = true;
    // RFC 6874 writes the zone's '%' as "%25"; many write it as it is.
    if (const size_t zone = endpoint.host.find("%25"); zone != std::string::npos)
      endpoint.host.erase(zone + 1, 2);
    if (!is_v6(endpoint.host)) return "what is in brackets is not an IPv6 address";
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty()) {
      if (rest[0] != ':') return "after the bracket only ':PORT' may follow";
      port = rest.substr(1);
      has_port = true;
    }
  } else {
    const size_t colon = text.find(':');
    endpoint.host = text.substr(0, colon);
    if (colon != std::string_view::npos) {
      port = text.substr(colon + 1);
      has_port = true;
      if (port.find(':') != std::string_view::npos)
        return "an IPv6 address needs brackets: '[ADDRESS]:PORT'";
    }
    if (endpoint.host.empty()) return "the host is missing";
    if (!std::all_of(endpoint.host.begin(), endpoint.host.end(), name_character)) {
      return "the host has a character that no host name has";
    }
    if (endpoint.host.size() > 254) return "the host name is longer than 254 characters";
  }
  endpoint.port = default_port;
  if (has_port) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), value);
    if (error != std::errc() || end != port.data() + port.size() || value < 1 || value > 65535) {
      return "the port is not a number from 1 to 65535";
    }
    endpoint.port = static_cast<uint16_t>(value);
  }
  return {};
}

// What of a URL may be shown when it cannot be read: nothing that may be user info or a query.
std::string_view showable(std::string_view text) {
  text = text.substr(0, text.find_first_of("?# \r\n\t"));
  if (text.find('@') != std::string_view::npos) {
    const size_t scheme = text.find("://");
    return scheme == std::string_view::npos ? std::string_view("...") : text.substr(0, scheme + 3);
  }
  return text;
}

std::string percent_decoded(std::string_view text) {
  const auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 &&
        digit(text[i + 2]) >= 0) {
      result += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string base64(std::string_view text) {
  static constexpr char kAlphabet[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  for (size_t i = 0; i < text.size(); i += 3) {
    const auto byte = [&](size_t n) {
      return n < text.size() ? static_cast<unsigned char>(text[n]) : 0U;
    };
    const unsigned bits = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    result += kAlphabet[bits >> 18 & 63];
    result += kAlphabet[bits >> 12 & 63];
    result += i + 1 < text.size() ? kAlphabet[bits >> 6 & 63] : '=';
    result += i + 2 < text.size() ? kAlphabet[bits & 63] : '=';
  }
  return result;
}

}  // namespace

std::string Endpoint::text() const {
  return v6_literal ? '[' + host + "]:" + std::to_string(port) : host + ':' + std::to_string(port);
}

std::string Endpoint::plain_host() const {
  std::string result = host.substr(0, host.find('%'));
  if (result.size() > 1 && result.back() == '.') result.pop_back();
  return result;
}

bool Endpoint::is_ip_literal() const { return v6_literal || is_v4(host); }

std::string Url::host_header() const {
  const std::string plain = endpoint.plain_host();
  std::string result = endpoint.v6_literal ? '[' + plain + ']' : plain;
  if (endpoint.port != (https ? 443 : 80)) result += ':' + std::to_string(endpoint.port);
  return result;
}

Failed parse_url(std::string_view text, Url &url) {
  const std::string_view shown = showable(text);
  const auto bad = [&](std::string_view why) { return bad_url("the URL", shown, why); };

  std::string_view rest;
  if (equal_ignoring_case(text.substr(0, 7), "http://")) {
    rest = text.substr(7);
  } else if (equal_ignoring_case(text.substr(0, 8), "https://")) {
    url.https = true;
    rest = text.substr(8);
  } else {
    return bad("it begins with neither http:// nor https://");
  }
  if (text.find('#') != std::string_view::npos)
    return bad("a fragment ('#') is not part of a request");
  const size_t end = rest.find_first_of("/?");
  const std::string_view authority = rest.substr(0, end);
  if (authority.find('@') != std::string_view::npos)
    return bad("user info ('user@') is not allowed");
  if (std::string why = parse_endpoint(authority, url.https ? 443 : 80, url.endpoint); !why.empty())
    return bad(why);

  url.target = end == std::string_view::npos ? std::string() : std::string(rest.substr(end));
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  for (char c : url.target) {
    if (c <= 0x20 || c >= 0x7f) return bad("it holds a character that must be percent-encoded");
  }
  return {};
}

std::string Proxy::authorization() const {
  return user.empty() && password.empty() ? "" : "Basic " + base64(user + ':' + password);
}

Failed parse_proxy(std::string_view text, Proxy &proxy) {
  const auto bad = [&](std::string_view why) { return bad_url("the proxy", showable(text), why); };

  std::string_view rest = text;
  if (const size_t scheme = text.find("://"); scheme != std::string_view::npos) {
    const std::string_view name = text.substr(0, scheme);
    if (equal_ignoring_case(name, "https")) {
      proxy.kind = Proxy::Kind::https;
    } else if (equal_ignoring_case(name, "socks5")) {
      proxy.kind = Proxy::Kind::socks5;
    } else if (!equal_ignoring_case(name, "http")) {
      return bad("only http://, https:// and socks5:// proxies are supported");
    }
    rest = text.substr(scheme + 3);
  }
  rest = rest.substr(0, rest.find_first_of("/?#"));
  if (const size_t at = rest.rfind('@'); at != std::string_view::npos) {
    const std::string_view user_info = rest.substr(0, at);
    const size_t colon = user_info.find(':');
    const std::string_view password =
        colon == std::string_view::npos ? "" : user_info.substr(colon + 1);
    proxy.user = percent_decoded(user_info.substr(0, colon));
    proxy.password = percent_decoded(password);
    rest = rest.substr(at + 1);
  }
  const uint16_t port = proxy.kind == Proxy::Kind::http    ? 80
                        : proxy.kind == Proxy::Kind::https ? 443
                                                           : 1080;
  if (std::string why = parse_endpoint(rest, port, proxy.endpoint); !why.empty()) return bad(why);
  return {};
}

}  // namespace muster::http
