// One connection to a server or proxy: bytes in and out, in the clear or over TLS.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <vector>

#include "plugins/http/patience.h"
#include "plugins/http/tls.h"

namespace muster::http {

// Not for two threads at once.
class Connection {
 public:
  // Takes ownership of `fd`, a connected socket that does not block. `endpoint` is for messages.
  Connection(int fd, std::string endpoint) : fd_(fd), endpoint_(std::move(endpoint)) {}
  Connection(const Connection &) = delete;
  Connection &operator=(const Connection &) = delete;
  ~Connection();

  // Shakes hands, through the TLS that there may be already (to a proxy), and verifies that the server is `name` (a DNS name or an IP address).
  Failed start_tls(std::shared_ptr<TlsIdentity> identity, const std::string &name,
                   const std::string &endpoint, const Patience &patience);

  // Writes all of it.
  Failed write(std::string_view data, const Patience &patience);

  // What came, at least one byte; `got` 0: the other side closed, cleanly over TLS.
  // `phase` and `waited_for` are for the failure.
  Failed read(char *data, size_t size, size_t &got, const Patience &patience, Phase phase,
              std::string_view waited_for);

  // Nothing came since the last answer, and the other side has not closed: fit for another request.
  bool is_quiet();

  // After a failed read or write: the other side went away (and neither the time was over nor TLS failed).
  bool broke() const { return broke_; }

  // In a forked child: only the child's file descriptor is given back, nothing is told to the server.
  void forget() { forgotten_ = true; }

  const std::string &endpoint() const { return endpoint_; }

 private:
  // Waits for what SSL wants; `result` of the SSL function that has just failed.
  // Empty: to be called again. `broke_` is set where the other side went away.
  Failed after_ssl(int result, int saved_errno, const Patience &patience, Phase phase,
                   std::string_view waited_for, bool &closed);
  Failed wait_for(short events, const Patience &patience, Phase phase, std::string_view waited_for);

  int fd_;
  std::string endpoint_;
  // What one TLS stands on. OpenSSL keeps the address of the findings.
  struct Layer {
    std::shared_ptr<TlsIdentity> identity;
    TlsFindings findings;
  };
  SSL *ssl_ = nullptr;       // the innermost, which owns
  SSL *to_proxy_ = nullptr;  // that around it
  std::vector<std::unique_ptr<Layer>> layers_;
  bool broke_ = false;
  bool forgotten_ = false;
  bool tls_dead_ = false;  // after a fatal error nothing may be sent, not even close_notify
};

}  // namespace muster::http
