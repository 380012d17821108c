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
  for (const char* proxy : {"https://u:hunter2@127.0.0.1:1", "socks5://127.0.0.1:1", "http://",
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
