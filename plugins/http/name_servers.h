// A seam for tests: name servers other than those of /etc/resolv.conf.
#pragma once

#include <muster/plugin.h>

#include <cstdint>

namespace muster::http {

// A host may have this service; a core does not.
#define MUSTER_NAME_SERVERS_V1 "muster.http.name-servers/1"
struct muster_name_servers_v1 {
  uint64_t struct_size;
  const char *servers;  // "127.0.0.1:5353,[::1]:53"; lives as long as the host
};

// NULL: those of this machine.
inline const char *given_name_servers(const muster_host_v1 *host) {
  if (!host->get_service) return nullptr;
  const auto *given =
      static_cast<const muster_name_servers_v1 *>(host->get_service(host, MUSTER_NAME_SERVERS_V1));
  return given ? given->servers : nullptr;
}

}  // namespace muster::http
