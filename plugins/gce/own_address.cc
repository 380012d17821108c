#include "plugins/gce/own_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "plugins/support/text.h"

namespace muster::gce {
namespace {

constexpr uint64_t kMaximum = uint64_t{16} << 20;  // a router has long tables

std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return support::trimmed(line);
}

}  // namespace

std::string address_bytes(const std::string& text) {
  std::array<char, 16> bytes{};
  if (inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) return {bytes.data(), 4};
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return {bytes.data(), 16};
  return "";
}

// "|-- 10.0.0.2", and below it what is at that place: "/32 host LOCAL".
Addresses read_fib_trie(std::string_view text) {
  constexpr std::string_view kPlace = "|-- ";
  Addresses out;
  std::string bytes;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.substr(0, kPlace.size()) == kPlace) {
      bytes = address_bytes(std::string(line.substr(kPlace.size())));
    } else if (line == "/32 host LOCAL" && bytes.size() == 4 && bytes[0] != 127) {
      out.insert(bytes);
    }
  }
  return out;
}

// "fd20004c09a100000000000100000000 02 60 00 80 eth0": address, interface, prefix, scope (00: everywhere), flags, name.
Addresses read_if_inet6(std::string_view text) {
  constexpr size_t kDigits = 32, kScope = 39;
  Addresses out;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.size() < kScope + 2 || line.substr(kScope, 2) != "00") continue;
    std::string address;
    for (size_t at = 0; at < kDigits; at += 4)
      address += (at == 0 ? "" : ":") + std::string(line.substr(at, 4));
    if (const std::string bytes = address_bytes(address); bytes.size() == 16) out.insert(bytes);
  }
  return out;
}

Addresses own_addresses(const sdk::Call& call) {
  Addresses out;
  if (const auto text = call.file("/proc/net/fib_trie", kMaximum, 0, true))
    out = read_fib_trie(*text);
  if (const auto text = call.file("/proc/net/if_inet6", kMaximum, 0, true))
    out.merge(read_if_inet6(*text));
  return out;
}

}  // namespace muster::gce
