// Names: looked up within the deadline, with each failure in words.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "client.h"
#include "server.h"

using namespace muster::test;
using namespace std::chrono_literals;

namespace {

// A name server on loopback that says one thing.
class NameServer {
 public:
  enum class Says { nothing, no_such_name, failure, loopback };

  explicit NameServer(Says says) : says_(says), fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(bind(fd_, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0);
    socklen_t size = sizeof address;
    getsockname(fd_, reinterpret_cast<sockaddr *>(&address), &size);
    place_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { serve(); });
  }
  ~NameServer() {
    stopping_ = true;
    thread_.join();
    close(fd_);
  }
  const std::string &place() const { return place_; }

 private:
  void serve() {
    while (!stopping_) {
      pollfd fd{fd_, POLLIN, 0};
      if (poll(&fd, 1, 10) <= 0) continue;
      char query[512];
      sockaddr_storage from{};
      socklen_t size = sizeof from;
      const ssize_t got =
          recvfrom(fd_, query, sizeof query, 0, reinterpret_cast<sockaddr *>(&from), &size);
      if (got < 17 || says_ == Says::nothing) continue;
      std::string answer(query, static_cast<size_t>(got));
      const bool for_v4 = answer[static_cast<size_t>(got) - 3] == 1;  // the type of the question: A
      answer[2] = static_cast<char>(0x81);
      answer[3] = static_cast<char>(says_ == Says::no_such_name ? 0x83
                                    : says_ == Says::failure    ? 0x82
                                                                : 0x80);
      if (says_ == Says::loopback && for_v4) {
        answer[7] = 1;
        answer +=
            std::string("\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x01\x00\x04\x7f\x00\x00\x01", 16);
      }
      sendto(fd_, answer.data(), answer.size(), 0, reinterpret_cast<sockaddr *>(&from), size);
    }
  }

  Says says_;
  int fd_;
  std::string place_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

Ask named(const std::string &url, const std::string &name_servers) {
  Ask wanted;
  wanted.url = url;
  wanted.name_servers = name_servers;
  wanted.timeout = 3000ms;
  return wanted;
}

}  // namespace

TEST_CASE("a name that the name server knows is connected to, and is the header Host") {
  std::string seen;
  {
    NameServer names(NameServer::Says::loopback);
    Server server([&](Peer &peer) {
      seen = peer.request();
      peer.write(ok("named"));
    });
    const std::string host = "server.example.invalid:" + std::to_string(server.port());
    const Answer answer = ask(named("http://" + host + "/", names.place()));
    REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
    CHECK(answer.body == "named");
    CHECK(seen.find("\r\nHost: " + host + "\r\n") != std::string::npos);
  }
}

TEST_CASE("localhost is found in /etc/hosts without a name server") {
  Server server(always(ok("local")));
  const Answer answer =
      ask(named("http://localhost:" + std::to_string(server.port()) + "/", "127.0.0.1:9"));
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(answer.body == "local");
}

TEST_CASE("a name that does not exist is unavailable, with the name and who was asked") {
  NameServer names(NameServer::Says::no_such_name);
  const Answer answer = ask(named("http://missing.invalid./", names.place()));
  CAPTURE(answer.message);
  CHECK(answer.code == MUSTER_E_UNAVAILABLE);
  CHECK(answer.says("cannot find the address of 'missing.invalid.': no such name"));
  CHECK(answer.says("127.0.0.1"));
  CHECK(answer.details.at("phase") == "resolve");
  CHECK(answer.details.at("sent") == "0");
}

TEST_CASE("a name server that fails is told from a name that does not exist") {
  NameServer names(NameServer::Says::failure);
  const Answer answer = ask(named("http://some.invalid./", names.place()));
  CHECK(answer.code == MUSTER_E_UNAVAILABLE);
  CAPTURE(answer.message);
  CHECK(answer.says("no name server gave an answer"));
}

TEST_CASE("a name server that is not there is said to be so") {
  const Answer answer = ask(named("http://some.invalid./", "127.0.0.1:9"));
  CAPTURE(answer.message);
  CHECK(answer.code == MUSTER_E_UNAVAILABLE);
  CHECK(answer.says("no name server gave an answer"));
}

TEST_CASE("a name server that never answers is waited for until the deadline or a cancel") {
  NameServer names(NameServer::Says::nothing);
  Ask wanted = named("http://slow.invalid./", names.place());
  wanted.timeout = 250ms;
  const Answer answer = ask(wanted);
  CAPTURE(answer.message);
  CHECK(answer.code == MUSTER_E_DEADLINE_EXCEEDED);
  CHECK(answer.details.at("phase") == "resolve");
  CHECK(answer.took < 400ms);

  wanted.timeout = 3000ms;
  wanted.cancel_after = 150ms;
  const Answer cancelled = ask(wanted);
  CHECK(cancelled.code == MUSTER_E_CANCELLED);
  CHECK(cancelled.took < 250ms);
}

TEST_CASE("a dead name server beside a living one costs some time and not the answer") {
  NameServer dead(NameServer::Says::nothing);
  NameServer living(NameServer::Says::loopback);
  Server server(always(ok("found")));
  const Answer answer = ask(named("http://slow.invalid.:" + std::to_string(server.port()) + "/",
                                  dead.place() + "," + living.place()));
  CHECK_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(answer.took < 2500ms);
}

TEST_CASE("what can be no host name is refused") {
  for (const char *url : {"http://a..b/", "http://[fe80::1%25nosuchif]/"}) {
    const Answer answer = ask(named(url, "127.0.0.1:9"));
    CAPTURE(answer.message);
    CHECK(answer.code == MUSTER_E_INVALID_ARGUMENT);
  }
}
