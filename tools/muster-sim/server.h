#pragma once

#include <memory>
#include <string>

#include "cloud.h"
#include "request_log.h"
#include "result.h"
#include "tls_material.h"

namespace muster::sim {

// The HTTP server: one port of the loopback, plain or TLS. Each connection has its own thread.
class Server {
 public:
  // material: null for plain HTTP; used while the server lives.
  explicit Server(const TlsMaterial* material);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Binds; port 0 takes a free one. Returns the port.
  Result<int> bind(const std::string& address, int port);
  // Starts answering, on threads of its own. cloud and log must outlive the process's last
  // request, which is why the program ends by _exit and not by destroying them.
  void start(Cloud& cloud, RequestLog& log);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace muster::sim
