#include "plugins/support/ip.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <string>

namespace muster::support {

bool is_ip(std::string_view text, Ip which) {
  const std::string ended(text);
  if (ended.find('\0') != std::string::npos) return false;
  std::array<unsigned char, 16> bytes{};
  const bool read = (which != Ip::kIpv6 && inet_pton(AF_INET, ended.c_str(), bytes.data()) == 1) ||
                    (which != Ip::kIpv4 && inet_pton(AF_INET6, ended.c_str(), bytes.data()) == 1);
  return read && std::any_of(bytes.begin(), bytes.end(), [](auto byte) { return byte != 0; });
}

std::string_view in_words(Ip which) {
  return which == Ip::kIpv4   ? "an IPv4 address"
         : which == Ip::kIpv6 ? "an IPv6 address"
                              : "an IP address";
}

}  // namespace muster::support
