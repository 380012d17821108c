// The addresses of this machine, as Linux tells them.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include <muster/plugin.hpp>

namespace muster::gce {

// Addresses as their 4 or 16 bytes.
using Addresses = std::set<std::string>;

// Those of /proc/net/fib_trie (IPv4) and /proc/net/if_inet6 that other machines may know: none of the loopback or of a link alone. What cannot
// be read has none.
Addresses own_addresses(const sdk::Call& call);

// Of the two files' texts. Any text is taken.
Addresses read_fib_trie(std::string_view text);
Addresses read_if_inet6(std::string_view text);

// The bytes of an address as a text; "" when it is a name.
std::string address_bytes(const std::string& text);

}  // namespace muster::gce
