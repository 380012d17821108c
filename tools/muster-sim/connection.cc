// Cutting connections. The HTTP library keeps the socket to itself, so it is found by its ports.
#include "connection.h"

#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>

namespace muster::sim {
namespace {

int port_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET)
    return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  if (address.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return -1;
}

bool connects(int socket, int local_port, int remote_port) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return false;
  if (port_of(address) != remote_port) return false;
  size = sizeof address;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return false;
  return port_of(address) == local_port;
}

}  // namespace

void cut_connection(int local_port, int remote_port, bool reset) {
  DIR* directory = opendir("/proc/self/fd");
  if (directory == nullptr) return;
  while (const dirent* entry = readdir(directory)) {
    const int socket = std::atoi(entry->d_name);
    if (socket < 3 || !connects(socket, local_port, remote_port)) continue;
    if (reset) {
      // Connecting to nowhere is how Linux is asked to reset a connection.
      sockaddr nowhere{};
      nowhere.sa_family = AF_UNSPEC;
      (void)connect(socket, &nowhere, sizeof nowhere);
    } else {
      shutdown(socket, SHUT_RDWR);
    }
    break;
  }
  closedir(directory);
}

}  // namespace muster::sim
