// Proxies: a tunnel for https, the whole URL for http.
#include <doctest/doctest.h>

#include "client.h"
#include "server.h"

using namespace muster::test;

namespace {

// A proxy that opens the tunnel it is asked for, to a port on loopback whatever the name.
Server::Behaviour tunnel_to(int port, std::string& seen) {
  return [&seen, port](Peer& peer) {
    seen = peer.request();
    peer.write("HTTP/1.1 200 Connection established\r\n\r\n");
    peer.relay_to(port);
  };
}

}  // namespace

TEST_CASE("https goes through a CONNECT tunnel, with the server's name verified behind it") {
  std::string seen;
  {
    Server server(TlsServer{.pair = make_pair({.names = "DNS:api.example"}, &authority())},
                  always(ok("tunnelled")));
    Server proxy(tunnel_to(server.port(), seen));
    Ask wanted;
    wanted.url = "https://api.example:8443/secret";
    wanted.ca = authority().certificate;
    wanted.headers = {{"Authorization", "Bearer hunter2"}};
    wanted.proxy = "http://us%65r:pass@127.0.0.1:" + std::to_string(proxy.port());
    const Answer answer = ask(wanted);
    REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
    CHECK(answer.body == "tunnelled");
    CHECK(ask(wanted).code == MUSTER_OK);
    CHECK(proxy.connections() == 1);
    transport().close_idle();
  }
  CHECK(seen ==
        "CONNECT api.example:8443 HTTP/1.1\r\nHost: api.example:8443\r\n"
        "Proxy-Authorization: Basic dXNlcjpwYXNz\r\n\r\n");
}

TEST_CASE("http goes through a proxy with its whole URL") {
  std::string seen;
  {
    Server proxy([&](Peer& peer) {
      seen = peer.request();
      peer.write(ok("by proxy"));
      peer.hold();
    });
    Ask wanted;
    wanted.url = "http://api.example/path?q=1";
    wanted.proxy = "http://user:pass@127.0.0.1:" + std::to_string(proxy.port()) + "/";
    const Answer answer = ask(wanted);
    REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
    CHECK(answer.body == "by proxy");
    transport().close_idle();
  }
  CHECK(seen.find("GET http://api.example/path?q=1 HTTP/1.1\r\n") == 0);
  CHECK(seen.find("\r\nHost: api.example\r\n") != std::string::npos);
  CHECK(seen.find("\r\nProxy-Authorization: Basic dXNlcjpwYXNz\r\n") != std::string::npos);
}

TEST_CASE("MUSTER_HTTP_NO_PROXY asks directly") {
  Server server(always(ok("direct")));
  Ask wanted;
  wanted.url = server.url();
  wanted.proxy = "http://127.0.0.1:1";
  wanted.flags = MUSTER_HTTP_NO_PROXY;
  CHECK(ask(wanted).body == "direct");
}

TEST_CASE("a proxy that refuses the tunnel is named with its answer and without the password") {
  const std::pair<const char*, int32_t> answers[]{
      {"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n",
       MUSTER_E_FAILED_PRECONDITION},
      {"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", MUSTER_E_FAILED_PRECONDITION},
      {"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", MUSTER_E_UNAVAILABLE},
      {"SSH-2.0\r\n", MUSTER_E_DATA_LOSS},
      {"HTTP/1.1 200 OK\r\n\r\nbytes of its own", MUSTER_E_DATA_LOSS},
      {"", MUSTER_E_UNAVAILABLE}};
  for (const auto& one : answers) {
    const char* const response = one.first;
    const int32_t code = one.second;
    Server proxy(always(response));
    Server closing([](Peer& peer) { peer.request(); });
    Ask wanted;
    wanted.url = "https://api.example/?q=hunter3";
    const Server& asked = *response ? proxy : closing;
    wanted.proxy = "http://user:hunter2@127.0.0.1:" + std::to_string(asked.port());
    const Answer answer = ask(wanted);
    CAPTURE(response);
    CAPTURE(answer.message);
    CHECK(answer.code == code);
    CHECK(answer.says("proxy '127.0.0.1:" + std::to_string(asked.port()) + "'"));
    CHECK_FALSE(answer.says("hunter"));
    CHECK(answer.details.at("phase") == "proxy");
    CHECK(answer.details.at("sent") == "0");
    CHECK(answer.details.at("endpoint") == "api.example:443");
  }
}

TEST_CASE("proxies of other kinds are refused") {
  for (const char* proxy : {"socks4://u:hunter2@127.0.0.1:1", "ftp://127.0.0.1:1", "http://",
                            "http://[::1:1", "http://127.0.0.1:x"}) {
    Ask wanted;
    wanted.url = "http://127.0.0.1:1/";
    wanted.proxy = proxy;
    const Answer answer = ask(wanted);
    CAPTURE(answer.message);
    CHECK(answer.code == MUSTER_E_INVALID_ARGUMENT);
    CHECK(answer.says("the proxy"));
    CHECK_FALSE(answer.says("hunter2"));
  }
}

namespace {

// Bytes of a conversation, whatever is in them.
template <size_t n>
std::string bytes(const char (&text)[n]) {
  return std::string(text, n - 1);
}

struct Seen {
  std::string login, wish;
};

// A SOCKS 5 proxy that takes "user" with "hunter2" and connects to a port on loopback, whatever the name.
Server::Behaviour socks_to(int port, Seen& seen,
                           const std::string& reply = bytes("\5\0\0\1\0\0\0\0\0\0")) {
  return [&seen, port, reply](Peer& peer) {
    const std::string greeting = peer.exactly(2);
    if (greeting == bytes("\5\2") && peer.exactly(2) == bytes("\0\2")) {
      peer.write(bytes("\5\2"));
      seen.login = peer.exactly(14);
      peer.write(bytes("\1\0"));
    } else if (peer.exactly(1) == bytes("\0")) {
      peer.write(bytes("\5\0"));
    }
    seen.wish = peer.exactly(5);
    const auto size = static_cast<unsigned char>(seen.wish.back());
    seen.wish += peer.exactly(seen.wish[3] == 3 ? size + 2 : seen.wish[3] == 1 ? 5 : 17);
    // In two pieces: an answer need not come in one.
    peer.write(reply.substr(0, 3));
    peer.pause(20);
    peer.write(reply.substr(3));
    if (reply[1] == 0) peer.relay_to(port);
  };
}

}  // namespace

TEST_CASE(
    "a SOCKS 5 proxy is asked for the server by name, with its user, and TLS goes through it") {
  for (const bool reply_with_name : {false, true}) {
    Seen seen;
    {
      Server server(TlsServer{.pair = make_pair({.names = "DNS:api.example"}, &authority())},
                    always(ok("tunnelled")));
      Server proxy(reply_with_name ? socks_to(server.port(), seen, bytes("\5\0\0\3\4name\1\2"))
                                   : socks_to(server.port(), seen));
      Ask wanted;
      wanted.url = "https://api.example:8443/secret";
      wanted.ca = authority().certificate;
      wanted.proxy = "socks5://us%65r:hunter2@127.0.0.1:" + std::to_string(proxy.port());
      const Answer answer = ask(wanted);
      REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
      CHECK(answer.body == "tunnelled");
      CHECK(ask(wanted).code == MUSTER_OK);
      CHECK(proxy.connections() == 1);
      transport().close_idle();
    }
    CHECK(seen.login == bytes("\1\4user\7hunter2"));
    CHECK(seen.wish == bytes("\5\1\0\3\13api.example\40\373"));
  }
}

TEST_CASE(
    "plain http through a SOCKS 5 proxy is a request as without one, and addresses stay "
    "addresses") {
  std::string request;
  Seen seen;
  {
    Server server([&](Peer& peer) {
      request = peer.request();
      peer.write(ok("there"));
      peer.hold();
    });
    Server proxy(socks_to(server.port(), seen));
    Ask wanted;
    wanted.url = "http://10.1.2.3:258/path";
    wanted.proxy = "socks5://127.0.0.1:" + std::to_string(proxy.port());
    CHECK(ask(wanted).body == "there");
    CHECK(seen.wish == bytes("\5\1\0\1\12\1\2\3\1\2"));
    transport().close_idle();
    wanted.url = "http://[fd00::1]/path";
    CHECK(ask(wanted).body == "there");
    CHECK(seen.wish == bytes("\5\1\0\4\375\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\120"));
    transport().close_idle();
  }
  CHECK(request.find("GET /path HTTP/1.1\r\n") == 0);
}

TEST_CASE("a SOCKS 5 proxy that refuses is named with its reason and without the password") {
  const auto refused = [](Server::Behaviour behaviour, int32_t code, const char* words) {
    Server proxy(std::move(behaviour));
    Ask wanted;
    wanted.url = "https://api.example/";
    wanted.proxy = "socks5://user:hunter2@127.0.0.1:" + std::to_string(proxy.port());
    const Answer answer = ask(wanted);
    CAPTURE(answer.message);
    CHECK(answer.code == code);
    CHECK(answer.says(words));
    CHECK(answer.says("the proxy '127.0.0.1:" + std::to_string(proxy.port()) +
                      "', asked for a way to 'api.example:443'"));
    CHECK_FALSE(answer.says("hunter2"));
    CHECK(answer.details.at("phase") == "proxy");
    CHECK(answer.details.at("sent") == "0");
  };
  Seen seen;
  refused(socks_to(0, seen, bytes("\5\2\0\1\0\0\0\0\0\0")), MUSTER_E_FAILED_PRECONDITION,
          "its rules do not allow this server");
  refused(socks_to(0, seen, bytes("\5\4\0\1\0\0\0\0\0\0")), MUSTER_E_UNAVAILABLE,
          "it does not reach the server");
  refused(
      [](Peer& peer) {
        peer.write(bytes("\5\377"));
        peer.hold();
      },
      MUSTER_E_FAILED_PRECONDITION, "it takes neither");
  refused(
      [](Peer& peer) {
        peer.write(bytes("\5\2"));
        peer.exactly(18);
        peer.write(bytes("\1\1"));
        peer.hold();
      },
      MUSTER_E_FAILED_PRECONDITION, "does not accept the user and password");
  refused(
      [](Peer& peer) {
        peer.exactly(4);
        peer.write("HTTP/1.1 400\r\n");
        peer.hold();
      },
      MUSTER_E_DATA_LOSS, "does not speak SOCKS 5");
  refused([](Peer& peer) { peer.exactly(4); }, MUSTER_E_UNAVAILABLE, "closed the connection");
}

TEST_CASE("a proxy over TLS is verified, and the TLS with the server goes through it") {
  std::string seen;
  Server server(TlsServer{.pair = make_pair({.names = "DNS:api.example"}, &authority())},
                always(ok(std::string(300000, 'x'))));
  for (const char* name : {"IP:127.0.0.1", "DNS:other"}) {
    Server proxy(TlsServer{.pair = make_pair({.names = name}, &authority())},
                 tunnel_to(server.port(), seen));
    Ask wanted;
    wanted.url = "https://api.example:8443/secret";
    wanted.ca = authority().certificate;
    wanted.proxy = "https://user:pass@127.0.0.1:" + std::to_string(proxy.port());
    const Answer answer = ask(wanted);
    if (std::string(name) == "DNS:other") {
      CHECK(answer.code == MUSTER_E_FAILED_PRECONDITION);
      CHECK(answer.says("the proxy: TLS with"));
      CHECK(answer.says("the server's certificate is for 'other', not for '127.0.0.1'"));
      continue;
    }
    REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
    CHECK(answer.body.size() == 300000);
    CHECK(ask(wanted).code == MUSTER_OK);
    CHECK(proxy.connections() == 1);
    transport().close_idle();
  }
  CHECK(seen.find("CONNECT api.example:8443 HTTP/1.1\r\n") == 0);
}
