// TLS: whom to trust, who we are, and what went wrong.
#pragma once

#include <openssl/ssl.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "plugins/http/failure.h"
#include "plugins/http/url.h"

namespace muster::http {

// What a request says about TLS. Borrowed.
struct TlsMaterial {
  std::string_view ca_pem;  // empty: the system's certificate authorities
  std::string_view certificate_pem;
  std::string_view key_pem;
  std::string_view server_name;  // empty: the URL's host
  bool insecure = false;

  // Equal for equal material; tells nothing of it (SHA-256).
  std::string hash() const;
};

// Material made ready: one SSL_CTX, shared by all connections of equal material, with the TLS sessions
// to resume. [thread-safe]
class TlsIdentity {
 public:
  // The identity of `material` out of the process's cache, or made anew.
  // INVALID_ARGUMENT for PEM that cannot be used, FAILED_PRECONDITION when this machine has no authorities.
  static Failed get(const TlsMaterial &material, std::shared_ptr<TlsIdentity> &identity);

  // Takes ownership of `context`.
  TlsIdentity(SSL_CTX *context, bool verifies) : context_(context), verifies_(verifies) {}
  TlsIdentity(const TlsIdentity &) = delete;
  TlsIdentity &operator=(const TlsIdentity &) = delete;
  ~TlsIdentity();

  SSL_CTX *context() const { return context_; }
  bool verifies() const { return verifies_; }
  // In words, for messages: "the authorities of this machine (/etc/ssl/certs)".
  const std::string &trusted() const { return trusted_; }

  // A session of an earlier connection to `endpoint` to resume, or NULL; the caller frees it.
  SSL_SESSION *take_session(const std::string &endpoint);
  // Takes ownership of `session`.
  void keep_session(const std::string &endpoint, SSL_SESSION *session);

 private:
  SSL_CTX *context_;
  bool verifies_;
  std::string trusted_;
  std::mutex mutex_;
  std::map<std::string, SSL_SESSION *> sessions_;
};

// What the verification of a connection found, kept for the message.
struct TlsFindings {
  std::string name;      // whom the certificate must be for
  std::string endpoint;  // key of sessions
  TlsIdentity *identity = nullptr;
  std::string problem;  // in words; empty: nothing wrong with the certificate
  std::string hint;     // what to do about it
};

// A connection's SSL over `fd` (which stays the caller's), ready to shake hands; `findings` outlives it.
// NULL when memory is short.
SSL *make_ssl(TlsIdentity &identity, int fd, TlsFindings &findings);

// Why an SSL function failed, from OpenSSL's queue of this thread, which it empties.
// `closed`: the other side closed the connection.
struct TlsTrouble {
  int32_t code;
  std::string words;
  std::string hint{};
  bool closed = false;
};
TlsTrouble tls_trouble(SSL *ssl, int result, int saved_errno, const TlsFindings &findings);

}  // namespace muster::http
