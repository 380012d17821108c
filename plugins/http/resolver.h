// Host names to addresses, within a call's patience.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "plugins/http/patience.h"
#include "plugins/http/url.h"

namespace muster::http {

struct Address {
  sockaddr_storage socket_address{};
  socklen_t size = 0;

  std::string text() const;  // "10.0.0.1", "[fe80::1%eth0]"
};

// The addresses of `endpoint`, best first (RFC 6724). IP literals need no lookup.
//
// Names are looked up with c-ares, because getaddrinfo can neither be given a deadline nor be cancelled.
// It reads /etc/hosts and /etc/resolv.conf (nameserver, search, domain, options ndots, rotate) and the
// order of "files" and "dns" in /etc/nsswitch.conf. Other modules of nsswitch.conf are not asked: no
// mdns (.local), myhostname, nis, ldap, sss or libvirt; systemd-resolved and nscd only as far as
// resolv.conf points at them.
//
// `name_servers`: "address[:port],..." instead of those of resolv.conf; NULL for those.
// Fails with UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED; INVALID_ARGUMENT for what no name can be.
Failed resolve(const Endpoint &endpoint, const char *name_servers, const Patience &patience,
               std::vector<Address> &addresses);

}  // namespace muster::http
