// One connection.
#include "plugins/http/connection.h"

#include <openssl/err.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "plugins/http/words.h"

namespace muster::http {

Connection::~Connection() {
  if (ssl_) {
    // One try to say goodbye; nobody waits for it.
    if (!forgotten_ && !tls_dead_ && !broke_ && SSL_is_init_finished(ssl_)) {
      SSL_shutdown(ssl_);
    } else if (to_proxy_) {
      SSL_set_quiet_shutdown(to_proxy_, 1);
    }
    SSL_free(ssl_);
    ERR_clear_error();
  }
  close(fd_);
}

Failed Connection::wait_for(short events, const Patience &patience, Phase phase,
                            std::string_view waited_for) {
  pollfd fd{fd_, events, 0};
  const Patience::Woke woke = patience.wait({&fd, 1});
  if (woke == Patience::Woke::ready) return {};
  return patience.ended(woke, phase, waited_for);
}

Failed Connection::after_ssl(int result, int saved_errno, const Patience &patience, Phase phase,
                             std::string_view waited_for, bool &closed) {
  closed = false;
  const int kind = SSL_get_error(ssl_, result);
  if (kind == SSL_ERROR_WANT_READ) return wait_for(POLLIN, patience, phase, waited_for);
  if (kind == SSL_ERROR_WANT_WRITE) return wait_for(POLLOUT, patience, phase, waited_for);
  if (kind == SSL_ERROR_ZERO_RETURN && phase != Phase::tls && phase != Phase::send) {
    closed = true;
    return {};
  }
  TlsTrouble trouble = tls_trouble(ssl_, result, saved_errno, layers_.back()->findings);
  tls_dead_ = true;
  broke_ = trouble.closed;
  if (phase == Phase::tls) {
    return failure(trouble.code, phase,
                   "TLS with " + quote(endpoint_) + ": " + trouble.words +
                       (trouble.closed ? " during the handshake" : ""),
                   trouble.hint);
  }
  // TLS 1.3 tells only now what it thinks of the client's certificate.
  const Phase told = trouble.closed ? phase : Phase::tls;
  return failure(trouble.code, told,
                 trouble.closed ? trouble.words + " while waiting for " + std::string(waited_for)
                                : "TLS with " + quote(endpoint_) + ": " + trouble.words,
                 trouble.hint);
}

Failed Connection::start_tls(std::shared_ptr<TlsIdentity> identity, const std::string &name,
                             const std::string &endpoint, const Patience &patience) {
  endpoint_ = endpoint;
  Layer &layer = *layers_.emplace_back(std::make_unique<Layer>());
  layer.identity = std::move(identity);
  layer.findings.name = name;
  layer.findings.endpoint = endpoint;
  SSL *ssl = make_ssl(*layer.identity, fd_, layer.findings);
  BIO *through = ssl && ssl_ ? BIO_new(BIO_f_ssl()) : nullptr;
  if (!ssl || (ssl_ && !through)) {
    SSL_free(ssl);
    layers_.pop_back();
    ERR_clear_error();
    return failure(MUSTER_E_INVALID_ARGUMENT, Phase::tls,
                   "TLS cannot ask for the name " + quote(name));
  }
  if (through) {
    to_proxy_ = ssl_;
    BIO_set_ssl(through, ssl_, BIO_CLOSE);
    SSL_set_bio(ssl, through, through);
  }
  ssl_ = ssl;
  const std::string waited_for = "the TLS handshake with " + quote(endpoint_);
  for (;;) {
    ERR_clear_error();
    errno = 0;
    const int result = SSL_do_handshake(ssl_);
    if (result == 1) return {};
    bool closed = false;
    if (Failed failed = after_ssl(result, errno, patience, Phase::tls, waited_for, closed))
      return failed;
  }
}

Failed Connection::write(std::string_view data, const Patience &patience) {
  const std::string waited_for = quote(endpoint_) + " to take the request";
  while (!data.empty()) {
    if (const Patience::Woke over = patience.check(); over != Patience::Woke::ready) {
      return patience.ended(over, Phase::send, waited_for);
    }
    if (ssl_) {
      ERR_clear_error();
      errno = 0;
      size_t sent = 0;
      const int result = SSL_write_ex(ssl_, data.data(), data.size(), &sent);
      if (result == 1) {
        data.remove_prefix(sent);
        continue;
      }
      bool closed = false;
      if (Failed failed = after_ssl(result, errno, patience, Phase::send, waited_for, closed))
        return failed;
      continue;
    }
    const ssize_t sent = send(fd_, data.data(), data.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      data.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      if (Failed failed = wait_for(POLLOUT, patience, Phase::send, waited_for)) return failed;
    } else if (errno != EINTR) {
      broke_ = true;
      return failure(MUSTER_E_UNAVAILABLE, Phase::send,
                     "the connection to " + quote(endpoint_) +
                         " broke while the request was sent: " + errno_words(errno));
    }
  }
  return {};
}

Failed Connection::read(char *data, size_t size, size_t &got, const Patience &patience, Phase phase,
                        std::string_view waited_for) {
  got = 0;
  for (;;) {
    if (const Patience::Woke over = patience.check(); over != Patience::Woke::ready) {
      return patience.ended(over, phase, waited_for);
    }
    if (ssl_) {
      ERR_clear_error();
      errno = 0;
      const int result = SSL_read_ex(ssl_, data, size, &got);
      if (result == 1) return {};
      got = 0;
      bool closed = false;
      if (Failed failed = after_ssl(result, errno, patience, phase, waited_for, closed))
        return failed;
      if (closed) return {};
      continue;
    }
    const ssize_t received = recv(fd_, data, size, MSG_DONTWAIT);
    if (received >= 0) {
      got = static_cast<size_t>(received);
      return {};
    }
    if (errno == EAGAIN) {
      if (Failed failed = wait_for(POLLIN, patience, phase, waited_for)) return failed;
    } else if (errno != EINTR) {
      broke_ = true;
      return failure(MUSTER_E_UNAVAILABLE, phase,
                     errno_words(errno) + " while waiting for " + std::string(waited_for));
    }
  }
}

bool Connection::is_quiet() {
  char byte;
  if (ssl_) {
    // Session tickets may be waiting: they are taken in and are no reason to close.
    ERR_clear_error();
    size_t got = 0;
    const int result = SSL_peek_ex(ssl_, &byte, 1, &got);
    const bool quiet = result != 1 && SSL_get_error(ssl_, result) == SSL_ERROR_WANT_READ;
    ERR_clear_error();
    if (!quiet) tls_dead_ = true;
    return quiet;
  }
  const ssize_t got = recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 && (errno == EAGAIN || errno == EINTR);
}

}  // namespace muster::http
