// A server on loopback.
#include "server.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace muster::test {

Peer::~Peer() {
  if (ssl_) {
    SSL_shutdown(ssl_);
    SSL_free(ssl_);
  }
  if (fd_ >= 0) close(fd_);
}

long Peer::read_some(char *data, size_t size) {
  while (!stopping_) {
    if (!ssl_ || SSL_pending(ssl_) == 0) {
      pollfd fd{fd_, POLLIN, 0};
      if (poll(&fd, 1, 20) <= 0) continue;
    }
    if (!ssl_) return recv(fd_, data, size, 0);
    return SSL_read(ssl_, data, static_cast<int>(size));
  }
  return -1;
}

std::string Peer::request() {
  std::string text = std::exchange(left_, {});
  size_t whole = std::string::npos;
  for (;;) {
    if (whole == std::string::npos) {
      if (const size_t end = text.find("\r\n\r\n"); end != std::string::npos) {
        const size_t length = text.find("Content-Length: ");
        whole =
            end + 4 + (length < end ? std::strtoul(text.c_str() + length + 16, nullptr, 10) : 0);
      }
    }
    if (whole <= text.size()) break;
    char buffer[65536];
    const long got = read_some(buffer, sizeof buffer);
    if (got <= 0) return {};
    text.append(buffer, static_cast<size_t>(got));
  }
  left_ = text.substr(whole);
  text.resize(whole);
  return text;
}

std::string Peer::exactly(size_t size) {
  while (left_.size() < size) {
    char buffer[4096];
    const long got = read_some(buffer, sizeof buffer);
    if (got <= 0) return {};
    left_.append(buffer, static_cast<size_t>(got));
  }
  std::string text = left_.substr(0, size);
  left_.erase(0, size);
  return text;
}

bool Peer::write(std::string_view data) {
  while (!data.empty() && !stopping_) {
    const long sent = ssl_ ? SSL_write(ssl_, data.data(), static_cast<int>(data.size()))
                           : send(fd_, data.data(), data.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    data.remove_prefix(static_cast<size_t>(sent));
  }
  return data.empty();
}

void Peer::hold() {
  char buffer[4096];
  while (read_some(buffer, sizeof buffer) > 0) {
  }
}

void Peer::pause(int milliseconds) {
  for (int i = 0; i < milliseconds && !stopping_; i += 5) usleep(5000);
}

bool Peer::shake_hands(SSL_CTX *context) {
  ssl_ = SSL_new(context);
  SSL_set_fd(ssl_, fd_);
  pollfd fd{fd_, POLLIN, 0};
  while (!stopping_ && poll(&fd, 1, 20) == 0) {
  }
  if (stopping_ || SSL_accept(ssl_) != 1) {
    ERR_clear_error();
    SSL_free(ssl_);
    ssl_ = nullptr;
    return false;
  }
  return true;
}

void Peer::reset() {
  const linger now{1, 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close(fd_);
  fd_ = -1;
}

void Peer::vanish() {
  SSL_free(std::exchange(ssl_, nullptr));
  close(std::exchange(fd_, -1));
}

bool Peer::resumed() const { return ssl_ && SSL_session_reused(ssl_) == 1; }

void Peer::relay_to(int port) {
  const int other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(other, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0) {
    bool open = true;
    while (open && !stopping_) {
      pollfd fds[2]{{fd_, POLLIN, 0}, {other, POLLIN, 0}};
      if (poll(fds, 2, 20) <= 0) continue;
      for (int i = 0; i < 2 && open; ++i) {
        if (fds[i].revents == 0) continue;
        char buffer[16384];  // a whole record of TLS
        const ssize_t got =
            i == 0 ? read_some(buffer, sizeof buffer) : recv(other, buffer, sizeof buffer, 0);
        const auto size = static_cast<size_t>(std::max<ssize_t>(got, 0));
        open = got > 0 &&
               (i == 0 ? send(other, buffer, size, MSG_NOSIGNAL) == got : write({buffer, size}));
      }
    }
  }
  close(other);
}

Server::Server(Behaviour behaviour, const std::string &address) : behaviour_(std::move(behaviour)) {
  start(address);
}

Server::Server(const TlsServer &tls, Behaviour behaviour, const std::string &address)
    : behaviour_(std::move(behaviour)) {
  tls_.reset(SSL_CTX_new(TLS_server_method()));
  use_pair(tls_.get(), tls.pair);
  if (!tls.client_ca.empty()) require_client(tls_.get(), tls.client_ca);
  if (tls.highest_version != 0) {
    // Debian's OpenSSL offers what is older than 1.2 at security level 0 only.
    SSL_CTX_set_security_level(tls_.get(), 0);
    SSL_CTX_set_min_proto_version(tls_.get(), TLS1_VERSION);
    SSL_CTX_set_max_proto_version(tls_.get(), tls.highest_version);
  }
  start(address);
}

void Server::start(const std::string &address) {
  address_ = address;
  const bool v6 = address.find(':') != std::string::npos;
  sockaddr_storage place{};
  socklen_t size = 0;
  if (v6) {
    auto &in6 = reinterpret_cast<sockaddr_in6 &>(place);
    in6.sin6_family = AF_INET6;
    inet_pton(AF_INET6, address.c_str(), &in6.sin6_addr);
    size = sizeof in6;
  } else {
    auto &in4 = reinterpret_cast<sockaddr_in &>(place);
    in4.sin_family = AF_INET;
    inet_pton(AF_INET, address.c_str(), &in4.sin_addr);
    size = sizeof in4;
  }
  listener_ = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(listener_, reinterpret_cast<sockaddr *>(&place), size) != 0 ||
      listen(listener_, 128) != 0)
    std::abort();
  getsockname(listener_, reinterpret_cast<sockaddr *>(&place), &size);
  port_ = ntohs(v6 ? reinterpret_cast<sockaddr_in6 &>(place).sin6_port
                   : reinterpret_cast<sockaddr_in &>(place).sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

void Server::accept_all() {
  while (!stopping_) {
    pollfd fd{listener_, POLLIN, 0};
    if (poll(&fd, 1, 10) <= 0) continue;
    const int accepted = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (accepted < 0) continue;
    ++connections_;
    threads_.emplace_back([this, accepted] {
      Peer peer(accepted, stopping_);
      if (tls_ && !peer.shake_hands(tls_.get())) return;
      resumed_ += peer.resumed() ? 1 : 0;
      behaviour_(peer);
    });
  }
}

Server::~Server() {
  stopping_ = true;
  acceptor_.join();
  for (std::thread &thread : threads_) thread.join();
  close(listener_);
}

std::string Server::url(const std::string &path) const {
  const std::string host =
      address_.find(':') != std::string::npos ? '[' + address_ + ']' : address_;
  return (tls_ ? "https://" : "http://") + host + ':' + std::to_string(port_) + path;
}

std::string ok(const std::string &body, const std::string &headers) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers +
         "\r\n" + body;
}

Server::Behaviour always(std::string response) {
  return [response = std::move(response)](Peer &peer) {
    while (!peer.request().empty() && peer.write(response)) {
    }
  };
}

}  // namespace muster::test
