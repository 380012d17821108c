// What a server may not do: too much, too little, and what is not HTTP.
#include <doctest/doctest.h>
#include <zlib.h>

#include <fstream>
#include <string>

#include "client.h"
#include "server.h"

using namespace muster::test;

namespace {

std::string gzip(const std::string &text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// One response, then the connection ends.
Server::Behaviour once(std::string response) {
  return [response = std::move(response)](Peer &peer) {
    peer.request();
    peer.write(response);
  };
}

#ifndef SANITIZED
// A line of /proc/self/status, in bytes.
uint64_t of_status(const std::string &key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(key + ":", 0) == 0) return std::stoull(line.substr(key.size() + 1)) * 1024;
  FAIL("there is no " << key);
  return 0;
}

// The most memory that this process had at a time, since the last peak_memory_anew().
uint64_t peak_memory() { return of_status("VmHWM"); }

// What it has now; from here on the most is measured.
uint64_t peak_memory_anew() {
  std::ofstream("/proc/self/clear_refs") << "5" << std::flush;
  return of_status("VmRSS");
}
#endif

Ask limited(const Server &server, uint64_t limit) {
  Ask wanted;
  wanted.url = server.url();
  wanted.limit = limit;
  return wanted;
}

}  // namespace

TEST_CASE("gzip is undone, and the headers that told of it are gone") {
  const std::string text(300'000, 'g');
  Server server(always(ok(gzip(text), "Content-Encoding: gzip\r\nX: y\r\n")));
  const Answer answer = get(server.url());
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(answer.body == text);
  CHECK(answer.zeros_behind);
  CHECK(answer.header("Content-Encoding") == "(none)");
  CHECK(answer.header("Content-Length") == "(none)");
  CHECK(answer.header("X") == "y");
}

TEST_CASE("gzip in several members, chunked and streamed, is one text") {
  const std::string whole = gzip("first ") + gzip("second");
  std::string response =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n";
  for (char c : whole) response += "1\r\n" + std::string(1, c) + "\r\n";
  Server server(always(response + "0\r\n\r\n"));
  CHECK(get(server.url()).body == "first second");
  Ask wanted;
  wanted.url = server.url();
  std::string came;
  wanted.on_body = [&](const char *data, uint64_t size) {
    return came.append(data, size), MUSTER_OK;
  };
  CHECK(ask(wanted).code == MUSTER_OK);
  CHECK(came == "first second");
}

TEST_CASE("an empty body that says it is gzip is empty") {
  Server server(always(ok("", "Content-Encoding: gzip\r\n")));
  const Answer answer = get(server.url());
  CHECK(answer.code == MUSTER_OK);
  CHECK(answer.body.empty());
}

TEST_CASE("a gzip bomb stops at the limit") {
  std::string bomb;
  bomb.resize(30'000'000);
  Server server(always(ok(gzip(bomb), "Content-Encoding: gzip\r\n")));
  const Answer answer = ask(limited(server, 1'000'000));
  CHECK(answer.code == MUSTER_E_RESOURCE_EXHAUSTED);
  CHECK(answer.says("longer than the limit of 1000000 bytes after gzip"));
}

TEST_CASE("a body of exactly the limit passes, one byte more does not") {
  const std::string text(100'000, 'x');
  Server plain(always(ok(text)));
  Server packed(always(ok(gzip(text), "Content-Encoding: gzip\r\n")));
  Server chunked(always("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n" + text +
                        "\r\n0\r\n\r\n"));
  for (const Server *server : {&plain, &packed, &chunked}) {
    const Answer fits = ask(limited(*server, 100'000));
    CHECK_MESSAGE(fits.code == MUSTER_OK, fits.message);
    CHECK(fits.body == text);
    CHECK(ask(limited(*server, 99'999)).code == MUSTER_E_RESOURCE_EXHAUSTED);
  }
}

#ifndef SANITIZED
TEST_CASE("a body without an end takes the memory of its limit, and not a multiple of it") {
  constexpr uint64_t kLimit = uint64_t{192} << 20;
  std::string zeros;
  zeros.resize(size_t{1} << 20);
  const std::string packed = gzip(zeros);
  const auto endless = [](const std::string &headers, const std::string &piece) {
    return [=](Peer &peer) {
      peer.request();
      peer.write("HTTP/1.1 200 OK\r\n" + headers + "\r\n");
      while (peer.write(piece)) {
      }
    };
  };
  Server plain(endless("", zeros));
  Server chunked(endless("Transfer-Encoding: chunked\r\n", "100000\r\n" + zeros + "\r\n"));
  Server bomb(endless("Content-Encoding: gzip\r\n", packed));  // its members are one text
  Server lying(endless("Content-Length: " + std::to_string(kLimit) + "\r\n", zeros.substr(0, 9)));
  for (const Server *server : {&plain, &chunked, &bomb, &lying}) {
    CAPTURE(server->port());
    Ask wanted = limited(*server, kLimit);
    wanted.timeout = server == &lying ? std::chrono::milliseconds(300) : std::chrono::seconds(30);
    const uint64_t before = peak_memory_anew();
    const Answer answer = ask(wanted);
    const uint64_t peak = peak_memory();
    CHECK(answer.code ==
          (server == &lying ? MUSTER_E_DEADLINE_EXCEEDED : MUSTER_E_RESOURCE_EXHAUSTED));
    // What is between the limit and this are the allocator's and the kernel's roundings.
    CHECK(peak - before < kLimit + kLimit / 8);
    // And it was the body that took it: the measuring sees what it is for.
    if (server != &lying) CHECK(peak - before > kLimit / 2);
  }
}
#endif

TEST_CASE("a length beyond the limit fails before the body is waited for") {
  Server server([](Peer &peer) {
    peer.request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 67108865\r\n\r\n");
    peer.hold();
  });
  const Answer answer = get(server.url());
  CHECK(answer.code == MUSTER_E_RESOURCE_EXHAUSTED);
  CHECK(answer.says("67108865 bytes long, more than the limit of 67108864"));
  CHECK(answer.took < std::chrono::seconds(1));
}

TEST_CASE("gzip that is broken is data loss, gzip that is cut off is unavailable") {
  const std::string packed = gzip(std::string(1000, 'x') + "end");
  Server broken(always(ok("this is no gzip", "Content-Encoding: gzip\r\n")));
  CHECK(get(broken.url()).code == MUSTER_E_DATA_LOSS);
  Server cut(always(ok(packed.substr(0, packed.size() - 5), "Content-Encoding: gzip\r\n")));
  const Answer answer = get(cut.url());
  CHECK(answer.code == MUSTER_E_UNAVAILABLE);
  CHECK(answer.says("cut off"));
}

TEST_CASE("a body that is shorter than its length is cut off, never taken as whole") {
  Server server(once("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n[1, 2]"));
  const Answer answer = get(server.url());
  CHECK(answer.code == MUSTER_E_UNAVAILABLE);
  CHECK(answer.says("cut off after 6 of 20 bytes"));
  CHECK(answer.details.at("phase") == "receive");
  CHECK(answer.details.at("sent") == "1");
  CHECK(answer.details.at("endpoint") == "127.0.0.1:" + std::to_string(server.port()));
}

TEST_CASE("a body that ends by a reset is cut off") {
  Server server([](Peer &peer) {
    peer.request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n[1, 2]");
    peer.pause(50);
    peer.reset();
  });
  const Answer answer = get(server.url());
  CHECK(answer.code == MUSTER_E_UNAVAILABLE);
  CHECK(answer.says("cut off after 6 of 20 bytes"));
}

TEST_CASE("a chunked body without its end is cut off wherever it breaks") {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char *body : {"", "5", "5\r\n", "5\r\nhel", "5\r\nhello", "5\r\nhello\r\n",
                           "5\r\nhello\r\n0\r\n", "5\r\nhello\r\n0\r\nX: y\r\n"}) {
    CAPTURE(body);
    Server server(once(head + body));
    const Answer answer = get(server.url());
    CHECK(answer.code == MUSTER_E_UNAVAILABLE);
    CHECK(answer.says("cut off after"));
  }
}

TEST_CASE("chunks that are broken are data loss") {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char *body : {"hello\r\n", "-5\r\nhello\r\n0\r\n\r\n", "0x5\r\nhello\r\n0\r\n\r\n",
                           "\r\n", "5\r\nhelloXX\r\n0\r\n\r\n", "fffffffffffffffff\r\nx"}) {
    CAPTURE(body);
    Server server(once(head + body));
    const Answer answer = get(server.url());
    CHECK_MESSAGE(answer.code == MUSTER_E_DATA_LOSS, answer.message);
  }
}

TEST_CASE("a header of more than 64 KiB or 1000 lines is refused") {
  Server wide(once("HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x')));
  const Answer answer = get(wide.url());
  CHECK(answer.code == MUSTER_E_RESOURCE_EXHAUSTED);
  CHECK(answer.says("longer than 65536 bytes"));

  std::string many = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 1001; ++i) many += "X: y\r\n";
  Server tall(once(many + "\r\n"));
  CHECK(get(tall.url()).code == MUSTER_E_RESOURCE_EXHAUSTED);

  Server endless([](Peer &peer) {
    peer.request();
    while (peer.write("HTTP/1.1 100 Continue\r\n\r\n")) {
    }
  });
  CHECK(get(endless.url()).code == MUSTER_E_DATA_LOSS);
}

TEST_CASE("what is not HTTP is said to be so at once") {
  for (const char *response :
       {"SSH-2.0-OpenSSH_9.2\r\n", "<html>", "HTTP/2 200\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/1.1 200OK\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX y: z\r\n\r\n", "HTTP/1.1 200 OK\r\n: z\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5x\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: rot13, chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\nxx",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n"}) {
    CAPTURE(response);
    Server server([&](Peer &peer) {
      peer.request();
      peer.write(response);
      peer.hold();
    });
    const Answer answer = get(server.url());
    CHECK_MESSAGE(answer.code == MUSTER_E_DATA_LOSS, answer.message);
    CHECK(answer.took < std::chrono::seconds(1));
  }
}

TEST_CASE("of an answer that is a secret no failure has a word") {
  for (const char *head :
       {"c4n4ry\r\n\r\n", "HTTP/1.1 2x0 c4n4ry\r\n\r\n", "HTTP/1.1 200 OK\r\nc4n4ry\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: c4n4ry\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: c4n4ry\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: c4n4ry\r\nContent-Length: 2\r\n\r\nxx",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc4n4ry\r\n"}) {
    CAPTURE(head);
    Server server([&](Peer &peer) {
      peer.request();
      peer.write(head);
      peer.hold();
    });
    Ask wanted;
    wanted.url = server.url();
    wanted.flags = MUSTER_HTTP_SECRET_BODY;
    const Answer answer = ask(wanted);
    CHECK(answer.code == MUSTER_E_DATA_LOSS);
    CHECK_MESSAGE(!answer.says("c4n4ry"), answer.message);
    for (const auto &detail : answer.details)
      CHECK_MESSAGE(detail.second.find("c4n4ry") == std::string::npos, detail.second);
  }
}

TEST_CASE(
    "a connection that closes without an answer is unavailable, and the request may have arrived") {
  Server server([](Peer &peer) { peer.request(); });
  const Answer answer = get(server.url());
  CHECK(answer.code == MUSTER_E_UNAVAILABLE);
  CHECK(answer.says("closed the connection without an answer"));
  CHECK(answer.details.at("phase") == "wait");
  CHECK(answer.details.at("sent") == "1");

  Server half([](Peer &peer) {
    peer.request();
    peer.write("HTTP/1.1 200 OK\r\nContent-");
  });
  CHECK(get(half.url()).says("in the middle of the answer's header"));
}

TEST_CASE("an answer that comes before the request was read is an answer") {
  Server server([](Peer &peer) {
    peer.write("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig");
    peer.pause(50);
  });
  Ask wanted;
  wanted.url = server.url();
  wanted.method = "POST";
  wanted.body.assign(20'000'000, 'x');
  const Answer answer = ask(wanted);
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(answer.status == 413);
  CHECK(answer.body == "big");
}
