// Connections are kept and used again, and never in a way that is seen.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "client.h"
#include "server.h"

using namespace muster::test;

namespace {
Ask trusting(const std::string& url) {
  Ask wanted;
  wanted.url = url;
  wanted.ca = authority().certificate;
  return wanted;
}
}  // namespace

TEST_CASE("requests to one server share a connection, in the clear and over TLS") {
  Server plain(always(ok("x")));
  Server secure(TlsServer{.pair = loopback_pair()}, always(ok("x")));
  for (int i = 0; i < 5; ++i) {
    CHECK(get(plain.url("/" + std::to_string(i))).code == MUSTER_OK);
    CHECK(ask(trusting(secure.url())).code == MUSTER_OK);
  }
  CHECK(plain.connections() == 1);
  CHECK(secure.connections() == 1);
}

TEST_CASE("close_idle closes what is kept") {
  Server server(always(ok("x")));
  get(server.url());
  transport().close_idle();
  get(server.url());
  CHECK(server.connections() == 2);
}

TEST_CASE("a connection whose server says close is not kept") {
  Server server(always(ok("x", "Connection: keep-alive, Close\r\n")));
  get(server.url());
  get(server.url());
  CHECK(server.connections() == 2);
}

TEST_CASE("a connection on which something came behind the answer is not kept") {
  Server server(always(ok("x") + "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"));
  CHECK(get(server.url()).body == "x");
  CHECK(get(server.url()).body == "x");
  CHECK(server.connections() == 2);
}

TEST_CASE("a connection whose caller stopped its stream is not kept") {
  Server server(always(ok("xyz")));
  Ask wanted;
  wanted.url = server.url();
  wanted.on_body = [](const char*, uint64_t) { return MUSTER_E_ABORTED; };
  ask(wanted);
  CHECK(get(server.url()).body == "xyz");
  CHECK(server.connections() == 2);
}

TEST_CASE("TLS material of another kind does not share a connection") {
  Server server(TlsServer{.pair = loopback_pair()}, always(ok("x")));
  const Pair client = make_pair({.common_name = "client"}, &authority());
  Ask wanted = trusting(server.url());
  ask(wanted);
  wanted.certificate = client.certificate;
  wanted.key = client.key;
  ask(wanted);
  wanted.server_name = "localhost";
  ask(wanted);
  CHECK(server.connections() == 3);
}

TEST_CASE(
    "a kept connection that has died is replaced unseen, also when it dies under the request") {
  std::atomic<int> requests = 0;
  Server server([&](Peer& peer) {
    for (int i = 0; i < 2; ++i) {
      if (peer.request().empty()) return;
      ++requests;
      if (i == 1) return peer.reset();  // takes the second request, and dies of it
      peer.write(ok("x"));
    }
  });
  CHECK(get(server.url()).code == MUSTER_OK);
  const Answer second = get(server.url());
  CHECK_MESSAGE(second.code == MUSTER_OK, second.message);
  CHECK(requests == 3);
  CHECK(server.connections() == 2);
}

TEST_CASE("a request that may not be sent twice takes a connection of its own") {
  std::atomic<int> posts = 0;
  Server server([&](Peer& peer) {
    for (std::string request = peer.request(); !request.empty(); request = peer.request()) {
      if (request.starts_with("POST")) ++posts;
      peer.write(ok("x"));
    }
  });
  get(server.url());
  Ask wanted;
  wanted.url = server.url();
  wanted.method = "POST";
  CHECK(ask(wanted).code == MUSTER_OK);
  CHECK(server.connections() == 2);
  wanted.flags = MUSTER_HTTP_IDEMPOTENT;
  CHECK(ask(wanted).code == MUSTER_OK);
  CHECK(server.connections() == 2);
  CHECK(posts == 2);
}

TEST_CASE("at most eight connections to one server are kept") {
  // Answers only when twelve requests are there, so that each has a connection of its own.
  std::atomic<int> arrived = 0;
  Server server([&](Peer& peer) {
    while (!peer.request().empty()) {
      const int all = arrived++ / 12 * 12 + 12;
      for (int i = 0; i < 400 && arrived < all; ++i) peer.pause(5);
      peer.write(ok("x"));
    }
  });
  const auto twelve = [&] {
    std::vector<std::thread> threads;
    threads.reserve(12);
    for (int i = 0; i < 12; ++i) threads.emplace_back([&] { get(server.url()); });
    for (std::thread& thread : threads) thread.join();
  };
  twelve();
  CHECK(server.connections() == 12);
  twelve();
  CHECK(server.connections() == 16);
}

TEST_CASE("many threads ask at once and each gets its own answer") {
  const auto echo = [](Peer& peer) {
    for (std::string request = peer.request(); !request.empty(); request = peer.request()) {
      peer.write(ok(request.substr(4, request.find(' ', 4) - 4)));
    }
  };
  Server plain(echo);
  Server secure(TlsServer{.pair = loopback_pair()}, echo);
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  threads.reserve(16);
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const std::string path = "/" + std::to_string(t) + "/" + std::to_string(i);
        const Answer answer = ask(trusting(t % 2 ? plain.url(path) : secure.url(path)));
        right += answer.code == MUSTER_OK && answer.body == path;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 320);
}

TEST_CASE("a forked child does not use its parent's connections, nor end them") {
  Server server(TlsServer{.pair = loopback_pair()}, always(ok("x")));
  REQUIRE(ask(trusting(server.url())).code == MUSTER_OK);
  const pid_t child = fork();
  if (child == 0) {
    const bool fine = ask(trusting(server.url())).code == MUSTER_OK;
    _exit(fine ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(server.connections() == 2);
  CHECK(ask(trusting(server.url())).code == MUSTER_OK);
  CHECK(server.connections() == 2);
}
