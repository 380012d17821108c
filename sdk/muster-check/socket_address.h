// The address of a socket, in words.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <string>

namespace muster::check {

// "10.0.0.1:80", "[fd00::1]:80", a path; "" of another family. As large as its family wants it.
inline std::string text_of(const sockaddr* address) {
  if (address == nullptr) return "";
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    ::inet_ntop(AF_INET, &v4->sin_addr, text.data(), text.size());
    return std::string(text.data()) + ":" + std::to_string(ntohs(v4->sin_port));
  }
  if (address->sa_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
    ::inet_ntop(AF_INET6, &v6->sin6_addr, text.data(), text.size());
    return "[" + std::string(text.data()) + "]:" + std::to_string(ntohs(v6->sin6_port));
  }
  if (address->sa_family == AF_UNIX) {
    const auto* path = reinterpret_cast<const sockaddr_un*>(address);
    return std::string(path->sun_path, ::strnlen(path->sun_path, sizeof path->sun_path));
  }
  return "";
}

}  // namespace muster::check
