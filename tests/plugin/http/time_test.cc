// The deadline and a cancel hold in every phase.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"
#include "server.h"

using namespace muster::test;
using namespace std::chrono_literals;

namespace {

// Ends by its deadline, not much later, and says so with `phase`.
void check_deadline(const Answer &answer, std::chrono::milliseconds deadline, const char *phase) {
  CAPTURE(answer.message);
  CHECK(answer.code == MUSTER_E_DEADLINE_EXCEEDED);
  CHECK(answer.took >= deadline - 10ms);
  CHECK(answer.took < deadline + 250ms);
  CHECK(answer.details.at("phase") == phase);
}

// A listening socket whose queue is full: connecting to it hangs.
class BlackHole {
 public:
  BlackHole() {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(bind(listener_, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0);
    listen(listener_, 0);
    socklen_t size = sizeof address;
    getsockname(listener_, reinterpret_cast<sockaddr *>(&address), &size);
    port_ = ntohs(address.sin_port);
    for (int &fd : fillers_) {
      fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
      (void)connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof address);
    }
    usleep(20'000);
  }
  ~BlackHole() {
    for (int fd : fillers_) close(fd);
    close(listener_);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/"; }

 private:
  int listener_;
  int port_;
  int fillers_[4];
};

Ask patient(const std::string &url, std::chrono::milliseconds timeout) {
  Ask wanted;
  wanted.url = url;
  wanted.timeout = timeout;
  return wanted;
}

void drip(Peer &peer, const std::string &text) {
  for (char c : text) {
    if (!peer.write(std::string(1, c))) return;
    peer.pause(20);
  }
}

}  // namespace

TEST_CASE("a server that drips its header, one byte at a time, is waited for until the deadline") {
  Server server([](Peer &peer) {
    peer.request();
    drip(peer, "HTTP/1.1 200 OK\r\nX-Slow: " + std::string(1000, 'x'));
  });
  check_deadline(ask(patient(server.url(), 300ms)), 300ms, "wait");
}

TEST_CASE(
    "a server that drips its body is waited for until the deadline, and the message tells how far "
    "it came") {
  Server server([](Peer &peer) {
    peer.request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
    drip(peer, std::string(1000, 'x'));
  });
  const Answer answer = ask(patient(server.url(), 300ms));
  check_deadline(answer, 300ms, "receive");
  CHECK(answer.says(" of 1000 bytes came"));

  Server chunked([](Peer &peer) {
    peer.request();
    peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    drip(peer, "ffff;" + std::string(1000, 'x'));
  });
  check_deadline(ask(patient(chunked.url(), 200ms)), 200ms, "receive");
}

TEST_CASE("a server that pours without end is stopped by the deadline") {
  Server server([](Peer &peer) {
    peer.request();
    peer.write("HTTP/1.1 200 OK\r\n\r\n");
    while (peer.write(std::string(1000, 'x'))) peer.pause(1);
  });
  check_deadline(ask(patient(server.url(), 200ms)), 200ms, "receive");
}

TEST_CASE("a server that never answers is waited for until the deadline") {
  Server server([](Peer &peer) { peer.hold(); });
  const Answer answer = ask(patient(server.url("/slow?token=hunter2"), 250ms));
  check_deadline(answer, 250ms, "wait");
  CHECK(answer.says(" ms for the answer of '127.0.0.1:" + std::to_string(server.port()) + "'"));
  CHECK_FALSE(answer.says("hunter2"));
  CHECK(answer.details.at("sent") == "1");
}

TEST_CASE("a server that does not take the request is waited for until the deadline") {
  Server server([](Peer &peer) { peer.pause(5000); });
  Ask wanted = patient(server.url(), 250ms);
  wanted.method = "POST";
  wanted.body.assign(16'000'000, 'x');
  check_deadline(ask(wanted), 250ms, "send");
}

TEST_CASE("a cancel ends a wait within 100 ms") {
  Server silent([](Peer &peer) { peer.hold(); });
  Server stalled([](Peer &peer) { peer.hold(); });
  BlackHole hole;
  const std::pair<std::string, const char *> places[]{
      {silent.url(), "wait"},
      {"https://127.0.0.1:" + std::to_string(stalled.port()) + "/", "tls"},
      {hole.url(), "connect"}};
  for (const auto &[url, phase] : places) {
    Ask wanted = patient(url, 4000ms);
    wanted.cancel_after = 200ms;
    const Answer answer = ask(wanted);
    CAPTURE(answer.message);
    CHECK(answer.code == MUSTER_E_CANCELLED);
    CHECK(answer.details.at("phase") == phase);
    CHECK(answer.took < 300ms);
  }
}

TEST_CASE("a deadline that has passed asks nobody") {
  Server server(always(ok("x")));
  const Answer answer = ask(patient(server.url(), -5ms));
  CHECK(answer.code == MUSTER_E_DEADLINE_EXCEEDED);
  CHECK(answer.details.at("sent") == "0");
  usleep(30'000);
  CHECK(server.connections() == 0);
}

TEST_CASE("a connection that is not accepted is waited for until the deadline") {
  BlackHole hole;
  const Answer answer = ask(patient(hole.url(), 300ms));
  check_deadline(answer, 300ms, "connect");
  CHECK(answer.details.at("sent") == "0");
}

TEST_CASE("a port where nobody listens refuses at once") {
  std::string url;
  {
    Server server(always(""));
    url = server.url();
  }
  const Answer answer = get(url);
  CHECK(answer.code == MUSTER_E_UNAVAILABLE);
  CHECK(answer.says("127.0.0.1: connection refused"));
  CHECK(answer.details.at("phase") == "connect");
  CHECK(answer.details.at("sent") == "0");
}

TEST_CASE("a TLS handshake that stalls ends by the deadline") {
  Server silent([](Peer &peer) { peer.hold(); });
  check_deadline(ask(patient("https://127.0.0.1:" + std::to_string(silent.port()) + "/", 250ms)),
                 250ms, "tls");
}

TEST_CASE("a proxy that never answers ends by the deadline") {
  Server proxy([](Peer &peer) { peer.hold(); });
  Ask wanted = patient("https://127.0.0.1:1/", 250ms);
  wanted.proxy = proxy.proxy_url();
  check_deadline(ask(wanted), 250ms, "proxy");
}
