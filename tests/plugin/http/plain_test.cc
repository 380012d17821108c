// HTTP in the clear: what is sent, and each kind of response.
#include <doctest/doctest.h>

#include <cstdio>

#include "client.h"
#include "server.h"

using namespace muster::test;

TEST_CASE(
    "a GET over IPv4 gets its status, headers in order, and a body followed by 64 zero bytes") {
  Server server(always(ok("hello", "X-B: 2\r\nX-a: a%2Fb\r\nX-B: 1\r\nX-Empty:\r\n")));

  const Answer answer = get(server.url("/x?y=z"));

  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(answer.status == 200);
  CHECK(answer.body == "hello");
  CHECK(answer.zeros_behind);
  const std::vector<std::pair<std::string, std::string>> expected{
      {"Content-Length", "5"}, {"X-B", "2"}, {"X-a", "a%2Fb"}, {"X-B", "1"}, {"X-Empty", ""}};
  CHECK(answer.headers == expected);
}

TEST_CASE("a GET over IPv6 works and names its host in brackets") {
  std::string seen;
  {
    Server server(
        [&](Peer &peer) {
          seen = peer.request();
          peer.write(ok("six"));
        },
        "::1");

    const Answer answer = get(server.url("/p"));

    REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
    CHECK(answer.body == "six");
    CHECK(seen.find("\r\nHost: [::1]:" + std::to_string(server.port()) + "\r\n") !=
          std::string::npos);
  }
  CHECK(seen.find("GET /p HTTP/1.1\r\n") == 0);
}

TEST_CASE("a POST sends its headers and body, and no header twice") {
  std::string seen;
  {
    Server server([&](Peer &peer) {
      seen = peer.request();
      peer.write(ok(""));
    });
    Ask wanted;
    wanted.url = server.url("/token?a=%20b");
    wanted.method = "POST";
    wanted.headers = {
        {"Content-Type", "application/json"}, {"Authorization", "Bearer x"}, {"user-agent", "t"}};
    wanted.body = "{\"a\": 1}";
    const Answer answer = ask(wanted);
    REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
    CHECK(answer.body.empty());
    CHECK(answer.zeros_behind);
  }
  CHECK(seen.find("POST /token?a=%20b HTTP/1.1\r\n") == 0);
  CHECK(seen.find("\r\nContent-Type: application/json\r\n") != std::string::npos);
  CHECK(seen.find("\r\nContent-Length: 8\r\n") != std::string::npos);
  CHECK(seen.find("\r\nAuthorization: Bearer x\r\n") != std::string::npos);
  CHECK(seen.find("\r\nAccept-Encoding: gzip\r\n") != std::string::npos);
  CHECK(seen.find("User-Agent: muster") == std::string::npos);
  CHECK(seen.ends_with("\r\n\r\n{\"a\": 1}"));
}

TEST_CASE("a request body of some megabytes arrives whole") {
  std::string seen;
  const std::string body(5'000'000, 'b');
  {
    Server server([&](Peer &peer) {
      seen = peer.request();
      peer.write(ok(""));
    });
    Ask wanted;
    wanted.url = server.url();
    wanted.method = "PUT";
    wanted.body = body;
    REQUIRE(ask(wanted).code == MUSTER_OK);
  }
  CHECK(seen.ends_with("\r\n\r\n" + body));
}

TEST_CASE("a chunked body is put together, with extensions and a trailer passed over") {
  Server server(
      always("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n"
             "5;a=b\r\nhello\r\n1\r\n \r\n00A\r\nworld12345\r\n0\r\nX-Sum: 1\r\n\r\n"));

  const Answer answer = get(server.url());

  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(answer.body == "hello world12345");
  CHECK(get(server.url()).code == MUSTER_OK);
  CHECK(server.connections() == 1);
}

TEST_CASE("a chunked body in chunks of every size and split at every byte is the same body") {
  std::string body, chunks;
  for (int size = 1; size < 400; ++size) {
    const std::string piece(static_cast<size_t>(size), static_cast<char>('a' + size % 26));
    char head[16];
    std::snprintf(head, sizeof head, "%x\r\n", size);
    body += piece;
    chunks += head + piece + "\r\n";
  }
  chunks += "0\r\n\r\n";
  Server server([&](Peer &peer) {
    while (!peer.request().empty()) {
      peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      for (size_t at = 0; at < chunks.size(); at += 777) peer.write(chunks.substr(at, 777));
    }
  });
  const Answer answer = get(server.url());
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(answer.body == body);
}

TEST_CASE("responses that never have a body end with their header and keep the connection") {
  for (const char *head : {"HTTP/1.1 204 No Content\r\n\r\n",
                           "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"}) {
    CAPTURE(head);
    Server server(always(head));
    REQUIRE(get(server.url()).code == MUSTER_OK);
    const Answer answer = get(server.url());
    REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
    CHECK(answer.body.empty());
    CHECK(server.connections() == 1);
  }
}

TEST_CASE("a HEAD has no body whatever its length says") {
  Server server(always("HTTP/1.1 200 OK\r\nContent-Length: 900\r\nContent-Encoding: gzip\r\n\r\n"));
  Ask wanted;
  wanted.url = server.url();
  wanted.method = "HEAD";
  const Answer answer = ask(wanted);
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(answer.body.empty());
  CHECK(answer.header("Content-Length") == "900");
}

TEST_CASE("interim answers are passed over") {
  Server server(always("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" +
                       ok("late")));
  const Answer answer = get(server.url());
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(answer.body == "late");
  CHECK(answer.header("Link") == "(none)");
}

TEST_CASE("a redirect and an error are responses") {
  Server server([](Peer &peer) {
    peer.request();
    peer.write(
        "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/a%2Fb\r\nContent-Length: 0\r\n\r\n");
    peer.request();
    peer.write("HTTP/1.1 503\r\nContent-Length: 4\r\n\r\nbusy");
    peer.hold();
  });
  const Answer redirect = get(server.url());
  CHECK(redirect.status == 302);
  CHECK(redirect.header("Location") == "http://127.0.0.1:1/a%2Fb");
  const Answer error = get(server.url());
  CHECK(error.status == 503);
  CHECK(error.body == "busy");
}

TEST_CASE("a body without length ends with its connection, which is not kept") {
  Server server([](Peer &peer) {
    peer.request();
    peer.write("HTTP/1.0 200 OK\r\n\r\nold style");
  });
  const Answer answer = get(server.url());
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(answer.body == "old style");
}

TEST_CASE("lines that end without CR are read") {
  Server server(always("HTTP/1.1 200 OK\nContent-Length: 2\nX: y\n\nok"));
  const Answer answer = get(server.url());
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(answer.body == "ok");
  CHECK(answer.header("X") == "y");
}

TEST_CASE("a URL that cannot be asked is refused without showing what may be secret in it") {
  const char *urls[]{"",
                     "127.0.0.1",
                     "ftp://127.0.0.1/",
                     "http://",
                     "http://:80/",
                     "http://user:hunter2@127.0.0.1/",
                     "http://127.0.0.1:0/",
                     "http://127.0.0.1:65536/",
                     "http://127.0.0.1:8x/",
                     "http://[::1/",
                     "http://[::1]x/",
                     "http://[nonsense]/",
                     "http://::1/",
                     "http://a b/",
                     "http://127.0.0.1/a b?hunter2",
                     "http://127.0.0.1/\r\nX: hunter2",
                     "http://127.0.0.1/?q=hunter2#x",
                     "http://%31/"};
  for (const char *url : urls) {
    const Answer answer = get(url);
    CAPTURE(url);
    CAPTURE(answer.message);
    CHECK(answer.code == MUSTER_E_INVALID_ARGUMENT);
    CHECK_FALSE(answer.says("hunter2"));
    CHECK(answer.details.at("sent") == "0");
  }
}

TEST_CASE("a header that would break the request apart is refused without showing its value") {
  Ask wanted;
  wanted.url = "http://127.0.0.1:1/";
  const std::pair<std::string, std::string> headers[]{{"X", "a\r\nY: hunter2"},
                                                      {"X", std::string("a\0hunter2", 9)},
                                                      {"X:", "hunter2"},
                                                      {"", "hunter2"},
                                                      {"Content-Length", "hunter2"},
                                                      {"transfer-encoding", "hunter2"}};
  for (const auto &header : headers) {
    wanted.headers = {header};
    const Answer answer = ask(wanted);
    CAPTURE(answer.message);
    CHECK(answer.code == MUSTER_E_INVALID_ARGUMENT);
    CHECK_FALSE(answer.says("hunter2"));
  }
}

TEST_CASE("a streamed body comes in pieces, in order, as they arrive") {
  std::string came;
  int pieces = 0;
  Server server([](Peer &peer) {
    peer.request();
    peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (const char *piece : {"3\r\none\r\n", "3\r\ntwo\r\n", "5\r\nthree\r\n"}) {
      peer.write(piece);
      peer.pause(60);
    }
    peer.write("0\r\n\r\n");
  });
  Ask wanted;
  wanted.url = server.url();
  wanted.on_body = [&](const char *data, uint64_t size) {
    came.append(data, size);
    ++pieces;
    return MUSTER_OK;
  };
  const Answer answer = ask(wanted);
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(came == "onetwothree");
  CHECK(pieces == 3);
  CHECK(answer.body.empty());
}

TEST_CASE("what on_body answers stops the exchange and is its code") {
  Server server(always(ok(std::string(1'000'000, 'x'))));
  Ask wanted;
  wanted.url = server.url();
  int pieces = 0;
  wanted.on_body = [&](const char *, uint64_t) { return ++pieces, MUSTER_E_OUT_OF_RANGE; };
  const Answer answer = ask(wanted);
  CHECK(answer.code == MUSTER_E_OUT_OF_RANGE);
  CHECK(pieces == 1);
}

TEST_CASE("of a streamed request an error's body is kept whole and not handed over") {
  Server server(always("HTTP/1.1 410 Gone\r\nContent-Length: 7\r\n\r\ntoo old"));
  Ask wanted;
  wanted.url = server.url();
  bool called = false;
  wanted.on_body = [&](const char *, uint64_t) { return called = true, MUSTER_OK; };
  const Answer answer = ask(wanted);
  CHECK(answer.code == MUSTER_OK);
  CHECK(answer.status == 410);
  CHECK(answer.body == "too old");
  CHECK_FALSE(called);
}

TEST_CASE("a large body is the same, kept or streamed, however it is framed") {
  std::string text;
  for (int n = 0; text.size() < 3'000'000; ++n) text += std::to_string(n) + ' ';
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", text.size());
  const std::string head = "HTTP/1.1 200 OK\r\n";
  for (const std::string &response :
       {ok(text), head + "Connection: close\r\n\r\n" + text,
        head + "Transfer-Encoding: chunked\r\n\r\n" + size + text + "\r\n0\r\n\r\n"}) {
    Server server([&](Peer &peer) {
      peer.request();
      peer.write(response);
    });
    const Answer kept = get(server.url());
    REQUIRE_MESSAGE(kept.code == MUSTER_OK, kept.message);
    CHECK((kept.body == text));
    CHECK(kept.zeros_behind);
    Ask wanted;
    wanted.url = server.url();
    std::string came;
    wanted.on_body = [&](const char *data, uint64_t count) {
      return came.append(data, count), MUSTER_OK;
    };
    REQUIRE(ask(wanted).code == MUSTER_OK);
    CHECK((came == text));
  }
}
