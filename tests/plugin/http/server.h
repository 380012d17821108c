// A server on loopback whose behaviour a test writes down byte by byte.
#pragma once

#include <openssl/ssl.h>

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "certificates.h"

namespace muster::test {

// One accepted connection, on its own thread.
class Peer {
 public:
  Peer(int fd, std::atomic<bool> &stopping) : fd_(fd), stopping_(stopping) {}
  ~Peer();
  Peer(const Peer &) = delete;

  // A request's head with its body (by Content-Length); "" when the other side is gone or the server stops.
  std::string request();
  // So many bytes; fewer when the other side is gone or the server stops.
  std::string exactly(size_t size);
  bool write(std::string_view data);
  // Until the other side closes or the server stops.
  void hold();
  // Waits, unless the server stops before.
  void pause(int milliseconds);
  bool shake_hands(SSL_CTX *context);
  // With a reset instead of a proper end.
  void reset();
  // Over TLS: closes without saying so.
  void vanish();
  bool resumed() const;
  // Copies bytes both ways between this and a port on loopback, until one side closes.
  void relay_to(int port);

 private:
  long read_some(char *data, size_t size);

  int fd_;
  std::atomic<bool> &stopping_;
  SSL *ssl_ = nullptr;
  std::string left_;
};

struct TlsServer {
  Pair pair;                // what the server shows
  std::string client_ca{};  // demanded of clients when not empty
  int highest_version = 0;  // TLS1_1_VERSION ...; 0: the newest
};

class Server {
 public:
  using Behaviour = std::function<void(Peer &)>;

  explicit Server(Behaviour behaviour, const std::string &address = "127.0.0.1");
  Server(const TlsServer &tls, Behaviour behaviour, const std::string &address = "127.0.0.1");
  ~Server();
  Server(const Server &) = delete;

  int port() const { return port_; }
  std::string url(const std::string &path = "/") const;  // http or https, at the address
  std::string proxy_url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  int connections() const { return connections_; }
  int resumed() const { return resumed_; }  // TLS sessions

 private:
  void start(const std::string &address);
  void accept_all();

  Behaviour behaviour_;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> tls_{nullptr, SSL_CTX_free};
  std::string address_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> connections_ = 0;
  std::atomic<int> resumed_ = 0;
  std::mutex mutex_;
  std::list<std::thread> threads_;
  std::thread acceptor_;
};

// "HTTP/1.1 200 OK" with a length and the body.
std::string ok(const std::string &body, const std::string &headers = "");
// Answers each request of a connection with `response`.
Server::Behaviour always(std::string response);

}  // namespace muster::test
