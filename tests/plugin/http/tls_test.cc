// HTTP over TLS: whom the client trusts, and what it says when it does not.
#include <doctest/doctest.h>

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

// The TLS failure of asking a server that shows `pair`.
Answer refused(const Pair& pair, const Ask& like = {}) {
  Server server(TlsServer{.pair = pair}, always(ok("never")));
  Ask wanted = like;
  wanted.url = server.url("/?token=hunter2");
  wanted.headers = {{"Authorization", "Bearer hunter2"}};
  if (wanted.ca.empty()) wanted.ca = authority().certificate;
  Answer answer = ask(wanted);
  CAPTURE(answer.message);
  CHECK(answer.code == MUSTER_E_FAILED_PRECONDITION);
  CHECK(answer.details.at("phase") == "tls");
  CHECK(answer.details.at("sent") == "0");
  CHECK_FALSE(answer.says("hunter2"));
  return answer;
}

}  // namespace

TEST_CASE("a GET over TLS to an IP address is verified against the IP subject alternative name") {
  for (const char* address : {"127.0.0.1", "::1"}) {
    Server server(TlsServer{.pair = loopback_pair()}, always(ok("safe")), address);
    const Answer answer = ask(trusting(server.url()));
    REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
    CHECK(answer.body == "safe");
  }
}

TEST_CASE("a certificate for other names is refused with both sides of the story") {
  const Answer answer =
      refused(make_pair({.names = "DNS:a.example,DNS:*.b.example,IP:10.0.0.1"}, &authority()));
  CHECK(answer.says("is for 'a.example', '*.b.example', '10.0.0.1', not for '127.0.0.1'"));
}

TEST_CASE("the common name of a certificate is no name of the server") {
  CHECK(refused(make_pair({.common_name = "127.0.0.1"}, &authority()))
            .says("names no DNS name and no IP address"));
}

TEST_CASE("an authority that is not known is named") {
  const Pair other = make_pair({.common_name = "somebody else", .authority = true}, nullptr);
  const Answer answer = refused(make_pair({.names = "IP:127.0.0.1"}, &other));
  CHECK(answer.says(
      "was issued by 'somebody else', which is not among the given certificate authority"));
  CHECK(answer.details.at("hint").find("give the certificate authority") == 0);
}

TEST_CASE(
    "without an authority given the system's are asked, and a self-signed certificate is not among "
    "them") {
  Server server(TlsServer{.pair = make_pair({.names = "IP:127.0.0.1"}, nullptr)},
                always(ok("never")));
  const Answer answer = get(server.url());
  CAPTURE(answer.message);
  CHECK(answer.code == MUSTER_E_FAILED_PRECONDITION);
  CHECK((answer.says("is self-signed and not among the authorities") ||
         answer.says("has no certificate authorities")));
}

TEST_CASE("a server's own certificate may be given as the authority") {
  const Pair own = make_pair({.names = "IP:127.0.0.1"}, nullptr);
  Server server(TlsServer{.pair = own}, always(ok("own")));
  Ask wanted = trusting(server.url());
  wanted.ca = own.certificate;
  const Answer answer = ask(wanted);
  CHECK_MESSAGE(answer.code == MUSTER_OK, answer.message);
}

TEST_CASE("an expired certificate and one of the future are refused with their date") {
  CHECK(refused(make_pair({.names = "IP:127.0.0.1", .from_seconds = -7200, .until_seconds = -3600},
                          &authority()))
            .says("expired on 20"));
  CHECK(refused(make_pair({.names = "IP:127.0.0.1", .from_seconds = 3600, .until_seconds = 7200},
                          &authority()))
            .says("is valid only from 20"));
}

TEST_CASE("tls_server_name is asked for and verified instead of the URL's host") {
  const Pair pair = make_pair({.names = "DNS:api.example"}, &authority());
  Server server(TlsServer{.pair = pair}, always(ok("by name")));
  Ask wanted = trusting(server.url());
  wanted.server_name = "api.example";
  const Answer answer = ask(wanted);
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);

  Ask other;
  other.server_name = "other.example";
  CHECK(refused(pair, other).says("is for 'api.example', not for 'other.example'"));
}

TEST_CASE(
    "MUSTER_HTTP_INSECURE takes any certificate, and does not lend its connection to others") {
  Server server(TlsServer{.pair = make_pair({.names = "DNS:a.example"}, nullptr)},
                always(ok("any")));
  Ask wanted;
  wanted.url = server.url();
  wanted.flags = MUSTER_HTTP_INSECURE;
  const Answer answer = ask(wanted);
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(get(server.url()).code == MUSTER_E_FAILED_PRECONDITION);
}

TEST_CASE("a client certificate is shown where it is required") {
  const Pair client = make_pair({.common_name = "client"}, &authority());
  Server server(TlsServer{.pair = loopback_pair(), .client_ca = authority().certificate},
                always(ok("known")));
  Ask wanted = trusting(server.url());
  wanted.certificate = client.certificate;
  wanted.key = client.key;
  const Answer answer = ask(wanted);
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);

  const Answer without = ask(trusting(server.url()));
  CAPTURE(without.message);
  CHECK(without.code == MUSTER_E_FAILED_PRECONDITION);
  CHECK(without.says("requires a client certificate"));
  CHECK(without.details.at("phase") == "tls");

  const Pair stranger = make_pair({.common_name = "stranger"}, nullptr);
  wanted.certificate = stranger.certificate;
  wanted.key = stranger.key;
  const Answer unknown = ask(wanted);
  CHECK_MESSAGE(unknown.code == MUSTER_E_FAILED_PRECONDITION, unknown.message);
}

TEST_CASE("material that cannot be used is refused with the reason and without its text") {
  const Pair a = make_pair({.common_name = "a"}, &authority());
  const Pair b = make_pair({.common_name = "b"}, &authority());
  const std::string encrypted =
      "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIGjMF8GCSqGSIb3DQEFDTBS\n-----END ENCRYPTED PRIVATE "
      "KEY-----\n";
  struct Case {
    std::string ca, certificate, key;
    const char* says;
  };
  const Case cases[]{
      {"no PEM at all", "", "", "holds no PEM certificate"},
      {"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "", "", "is broken"},
      {authority().certificate, a.certificate, "", "key is not given"},
      {authority().certificate, "", a.key, "certificate is not given"},
      {authority().certificate, a.certificate, b.key, "does not belong to the client certificate"},
      {authority().certificate, a.certificate, "rubbish", "not a private key in PEM"},
      {authority().certificate, a.certificate, encrypted, "is encrypted"},
  };
  for (const Case& one : cases) {
    Ask wanted;
    wanted.url = "https://127.0.0.1:1/";
    wanted.ca = one.ca;
    wanted.certificate = one.certificate;
    wanted.key = one.key;
    const Answer answer = ask(wanted);
    CAPTURE(answer.message);
    CHECK(answer.code == MUSTER_E_INVALID_ARGUMENT);
    CHECK(answer.says(one.says));
  }
}

TEST_CASE("a server that has only TLS 1.1 is refused") {
  Server server(TlsServer{.pair = loopback_pair(), .highest_version = TLS1_1_VERSION},
                always(ok("never")));
  const Answer answer = ask(trusting(server.url()));
  CAPTURE(answer.message);
  CHECK(answer.code == MUSTER_E_FAILED_PRECONDITION);
  CHECK(answer.says("offers no version of TLS that is still safe"));
}

TEST_CASE("TLS 1.2 is spoken") {
  Server server(TlsServer{.pair = loopback_pair(), .highest_version = TLS1_2_VERSION},
                always(ok("older")));
  const Answer answer = ask(trusting(server.url()));
  CHECK_MESSAGE(answer.code == MUSTER_OK, answer.message);
}

TEST_CASE("https to a port that speaks http is told so") {
  Server server([](Peer& peer) {
    peer.pause(20);
    peer.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    peer.hold();
  });
  const Answer answer = get("https://127.0.0.1:" + std::to_string(server.port()) + "/");
  CAPTURE(answer.message);
  CHECK(answer.code == MUSTER_E_FAILED_PRECONDITION);
  CHECK(answer.says("does not speak TLS"));
}

TEST_CASE("a server that closes during the handshake is unavailable") {
  Server server([](Peer&) {});
  const Answer answer = get("https://127.0.0.1:" + std::to_string(server.port()) + "/");
  CAPTURE(answer.message);
  CHECK(answer.code == MUSTER_E_UNAVAILABLE);
  CHECK(answer.details.at("phase") == "tls");
}

TEST_CASE("a body without length that ends without a TLS goodbye is cut off") {
  Server server(TlsServer{.pair = loopback_pair()}, [](Peer& peer) {
    peer.request();
    peer.write("HTTP/1.1 200 OK\r\n\r\nhalf a li");
    peer.vanish();
  });
  const Answer answer = ask(trusting(server.url()));
  CAPTURE(answer.message);
  CHECK(answer.code == MUSTER_E_UNAVAILABLE);
  CHECK(answer.says("cut off after 9"));
}

TEST_CASE("a new connection resumes the TLS session of an earlier one") {
  Server server(TlsServer{.pair = loopback_pair()}, [](Peer& peer) {
    peer.request();
    peer.write(ok("bye", "Connection: close\r\n"));
  });
  for (int i = 0; i < 3; ++i) REQUIRE(ask(trusting(server.url())).code == MUSTER_OK);
  CHECK(server.connections() == 3);
  CHECK(server.resumed() == 2);
}

TEST_CASE("a large body over TLS arrives whole") {
  std::string body(8'000'000, '\0');
  for (size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 31 >> 3);
  Server server(TlsServer{.pair = loopback_pair()}, always(ok(body)));
  const Answer answer = ask(trusting(server.url()));
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK((answer.body == body));
}
