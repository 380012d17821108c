// Which proxy a request goes through, by HTTPS_PROXY, HTTP_PROXY and NO_PROXY.
#include "core/service/proxy.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "core/service/text.h"
#include "core/spec/quote.h"

namespace muster {
namespace {

// An IP address as 16 bytes, IPv4 as the IPv4-mapped IPv6 address: one way to compare.
using Ip = std::array<uint8_t, 16>;
constexpr size_t kMappedBits = 96;

std::optional<Ip> parse_ip(std::string_view text, bool* is_v4 = nullptr) {
  const std::string host(text.substr(0, text.find('%')));
  Ip ip{};
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) {
    ip[10] = ip[11] = 0xFF;
    std::memcpy(ip.data() + 12, &v4, sizeof(v4));
    if (is_v4 != nullptr) *is_v4 = true;
    return ip;
  }
  if (is_v4 != nullptr) *is_v4 = false;
  if (inet_pton(AF_INET6, host.c_str(), ip.data()) == 1) return ip;
  return std::nullopt;
}

bool is_v4(const Ip& ip) {
  static constexpr Ip mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  return std::equal(ip.begin(), ip.begin() + 12, mapped.begin());
}

bool is_loopback(const Ip& ip) {
  if (is_v4(ip)) return ip[12] == 127;
  static constexpr Ip loopback = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  return ip == loopback;
}

bool same_bits(const Ip& a, const Ip& b, size_t bits) {
  for (size_t i = 0; i < bits; ++i) {
    const auto mask = static_cast<uint8_t>(0x80U >> (i % 8));
    if (((a[i / 8] ^ b[i / 8]) & mask) != 0) return false;
  }
  return true;
}

bool matches_block(std::string_view entry, const std::optional<Ip>& ip) {
  const size_t slash = entry.find('/');
  bool v4 = false;
  const std::optional<Ip> block = parse_ip(entry.substr(0, slash), &v4);
  if (!block || !ip || v4 != is_v4(*ip)) return false;
  const std::string_view text = entry.substr(slash + 1);
  size_t bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits);
  if (error != std::errc() || end != text.data() + text.size() || bits > (v4 ? 32U : 128U))
    return false;
  return same_bits(*block, *ip, bits + (v4 ? kMappedBits : 0));
}

std::string_view without_final_dot(std::string_view host) {
  if (!host.empty() && host.back() == '.') host.remove_suffix(1);
  return host;
}

// Whether one entry of NO_PROXY names the server. `host` is in lower case.
bool matches(std::string_view entry, std::string_view host, uint16_t port,
             const std::optional<Ip>& ip) {
  if (entry == "*") return true;
  if (entry.find('/') != std::string_view::npos) return matches_block(entry, ip);
  bool subdomains_only = false;
  if (entry.substr(0, 2) == "*.") entry.remove_prefix(1);
  if (entry.substr(0, 1) == ".") {
    subdomains_only = true;
    entry.remove_prefix(1);
  }
  std::string name(entry);
  if (const Result<Address> with_port = Address::parse(entry)) {
    if (with_port->port() != port) return false;
    name = with_port->host();
  } else if (name.size() > 2 && name.front() == '[' && name.back() == ']') {
    name = name.substr(1, name.size() - 2);
  }
  if (name.empty()) return false;
  if (const std::optional<Ip> listed = parse_ip(name)) return ip && *ip == *listed;
  const std::string_view domain = without_final_dot(name);
  if (host == domain) return !subdomains_only;
  return host.size() > domain.size() && host.substr(host.size() - domain.size()) == domain &&
         host[host.size() - domain.size() - 1] == '.';
}

struct Found {
  std::string name;
  std::string value;
};

// The first of the variables that is set and not blank.
std::optional<Found> first_of(const Variables& variables,
                              std::initializer_list<const char*> names) {
  for (const char* name : names) {
    std::optional<std::string> value = variables(name);
    if (value && !trim(*value).empty()) return Found{name, std::string(trim(*value))};
  }
  return std::nullopt;
}

}  // namespace

Result<Proxy> parse_proxy(const std::string& text, const std::string& source) {
  const auto refuse = [&](const std::string& reason) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("the proxy of {} cannot be used: {}", source, reason),
                 {}}
        .with("hint",
              fmt::format("set {} to 'http://host:port', or name the server in NO_PROXY", source));
  };
  Proxy proxy;
  proxy.source = source;
  std::string_view rest = text;
  std::string scheme = "http";
  if (const size_t end = rest.find("://"); end != std::string_view::npos) {
    scheme = lower_case(rest.substr(0, end));
    rest.remove_prefix(end + 3);
  }
  const int64_t port = scheme == "http"     ? 80
                       : scheme == "https"  ? 443
                       : scheme == "socks5" ? 1080
                                            : 0;
  if (port == 0)
    return refuse(fmt::format("its scheme is {}, and only http, https and socks5 are there",
                              quote(scheme, 20)));
  rest = rest.substr(0, rest.find_first_of("/?#"));
  if (const size_t at = rest.rfind('@'); at != std::string_view::npos) {
    proxy.user_info = rest.substr(0, at);
    const size_t colon = proxy.user_info.find(':');  // of user:password, not of an address
    if (colon != std::string::npos) proxy.password = proxy.user_info.substr(colon + 1);
    for (const char c : proxy.user_info) {
      if (c <= ' ' || c >= 0x7f)
        return refuse("its user or password has a byte in it that must be percent-encoded");
    }
    rest.remove_prefix(at + 1);
  }
  Result<Address> address = Address::parse(rest);
  if (!address) {
    Result<Address> without_port = Address::from_host(rest, port);
    if (!without_port || (without_port->is_ipv6() && rest.front() != '['))
      return refuse(address.error().message);
    address = std::move(without_port);
  }
  proxy.shown = fmt::format("{}://{}", scheme, address->to_string());
  proxy.url = fmt::format("{}://{}{}{}", scheme, proxy.user_info,
                          proxy.user_info.empty() ? "" : "@", address->to_string());
  return proxy;
}

Result<Proxy> choose_proxy(const Url& url, const Variables& variables) {
  const std::string host = lower_case(without_final_dot(url.address().host()));
  const std::optional<Ip> ip = parse_ip(host);
  if (host == "localhost" || (ip && is_loopback(*ip))) return Proxy{};

  std::optional<Found> found;
  if (url.https()) {
    found = first_of(variables, {"HTTPS_PROXY", "https_proxy"});
  } else if (variables("REQUEST_METHOD")) {
    found = first_of(variables, {"http_proxy"});
  } else {
    found = first_of(variables, {"HTTP_PROXY", "http_proxy"});
  }
  if (!found) return Proxy{};

  if (const std::optional<Found> exceptions = first_of(variables, {"NO_PROXY", "no_proxy"})) {
    const std::string list = lower_case(exceptions->value);
    std::string_view rest = list;
    while (!rest.empty()) {
      const size_t comma = rest.find(',');
      if (matches(trim(rest.substr(0, comma)), host, url.address().port(), ip)) return Proxy{};
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
  }
  return parse_proxy(found->value, found->name);
}

}  // namespace muster
