// muster.http/1 over a fake transport: requests, answers, streams, errors.
#include <doctest/doctest.h>

#include "service_net.h"

using namespace muster;
using namespace muster::testing;

TEST_CASE("a request gives status, body with zeros behind it, and headers by any case") {
  Net net({Answer::of(200, {{"Content-Type", "text/plain"}}, "hello")});
  Get get("http://api.test/x");
  REQUIRE(get.send(net.world) == MUSTER_OK);
  CHECK(get.response.status == 200);
  CHECK(get.text() == "hello");
  CHECK(std::string(get.response.body + 5, 64) == std::string(64, '\0'));
  const char* value = nullptr;
  uint64_t size = 0;
  const auto* http = World::service<muster_http_v1>(MUSTER_HTTP_V1);
  CHECK(http->get_header(&get.response, "content-type", &value, &size) == MUSTER_OK);
  CHECK(std::string(value, size) == "text/plain");
  CHECK(http->get_header(&get.response, "none", &value, &size) == MUSTER_E_NOT_FOUND);
  CHECK(net.transport.seen[0].maximum == 64u << 20);
}

TEST_CASE("a response is freed when it is released, once, and else with its call") {
  FakeTransport transport({Answer::of(200, {}, "x")});
  {
    World world(Session::live(nullptr, nullptr), transport.library());
    Get first("http://h/");
    Get second("http://h/");
    first.send(world);
    second.send(world);
    CHECK(transport.living == 2);
    const auto* http = World::service<muster_http_v1>(MUSTER_HTTP_V1);
    muster_http_response_v1 copy = first.response;
    http->release(world.call(), &first.response);
    CHECK(transport.living == 1);
    CHECK(first.response.body == nullptr);
    http->release(world.call(), &first.response);
    http->release(world.call(), &copy);  // freed already: nothing happens
    CHECK(transport.living == 1);
  }
  CHECK(transport.living == 0);
}

TEST_CASE("a request that is none is refused before it is sent") {
  Net net({Answer::of(200)});
  const auto refused = [&](Get& get, const std::string& words) {
    CAPTURE(words);
    CHECK(get.send(net.world) == MUSTER_E_INVALID_ARGUMENT);
    CAPTURE(get.error.error.message);
    CHECK(contains(get.error.error.message, words));
  };
  Get url("ftp://h/");
  refused(url, "is not an absolute URL of http or https");
  Get user("http://ann:hunter2@h/");
  refused(user, "has a user or password");
  Get method("http://h/", "GET /x HTTP/1.1\r\n");
  refused(method, "the method");
  Get value("http://h/");
  value.header("X", "a\r\nY: b");
  refused(value, "a control character (0x0d)");
  Get name("http://h/");
  name.header("X Y", "a");
  refused(name, "a header's name 'X Y'");
  Get host("http://h/");
  host.header("Host", "other");
  refused(host, "is the core's to set");
  Get size("http://h/");
  size.request.struct_size = 8;
  refused(size, "struct_size");
  CHECK(net.transport.seen.empty());
}

TEST_CASE("an older plugin's shorter request is read by its size") {
  Net net({Answer::of(200)});
  Get get("http://h/");
  get.request.struct_size = offsetof(muster_http_request_v1, proxy_url);
  get.request.proxy_url = "http://garbage:1";
  CHECK(get.send(net.world) == MUSTER_OK);
  CHECK(net.transport.seen[0].proxy.empty());
}

TEST_CASE("an error names the request, the server, the attempts and what to do") {
  Net net({Answer::refused()}, 10 * kSecond);
  Get get("https://api.test/x?access_token=hunter2");
  CHECK(get.send(net.world) == MUSTER_E_UNAVAILABLE);
  CHECK(get.error.error.message ==
        "GET https://api.test/x?access_token=REDACTED: connecting to 'api.test:443': connection "
        "refused; tried 6 times");
  CHECK(get.error.error.detail("endpoint") == "api.test:443");
  CHECK(get.error.error.detail("hint") ==
        "check that the server is up, and that the host and port are right");
  CHECK(net.world.inside().requests()[0].error ==
        "GET https://api.test/x?access_token=REDACTED: connecting to 'api.test:443': connection "
        "refused");
}

TEST_CASE("each kind of failure has its words and its hint") {
  struct Case {
    int32_t code;
    const char* phase;
    const char* message;
    const char* words;
    const char* hint;
  };
  const Case cases[] = {
      {MUSTER_E_UNAVAILABLE, "resolve", "no such name",
       "looking up the name of 'api.test:443': no such name", "getent hosts"},
      {MUSTER_E_FAILED_PRECONDITION, "tls", "certificate has expired",
       "agreeing on TLS with 'api.test:443': certificate has expired", "certificate authority"},
      {MUSTER_E_DEADLINE_EXCEEDED, "wait", "", "the time was over after", "--timeout"},
      {MUSTER_E_DEADLINE_EXCEEDED, "connect", "", "while connecting to 'api.test:443'", "firewall"},
      {MUSTER_E_RESOURCE_EXHAUSTED, "receive", "larger than 5 bytes", "larger than 5 bytes",
       "no option raises it"},
      {MUSTER_E_CANCELLED, "receive", "", "cancelled while receiving the answer of 'api.test:443'",
       ""},
  };
  for (const Case& one : cases) {
    CAPTURE(one.phase);
    Answer answer;
    answer.code = one.code;
    answer.phase = one.phase;
    answer.message = one.message;
    Net net({answer});
    Get get("https://api.test/x");
    CHECK(get.flags(MUSTER_HTTP_NO_RETRY).send(net.world) == one.code);
    CAPTURE(get.error.error.message);
    CHECK(contains(get.error.error.message, one.words));
    CHECK(contains(get.error.error.detail("hint"), one.hint));
    CHECK(get.error.error.detail("phase") == one.phase);
  }
}

TEST_CASE("the deadline does not hide what went wrong before it") {
  Answer timeout;
  timeout.code = MUSTER_E_DEADLINE_EXCEEDED;
  timeout.phase = "connect";
  Net net({Answer::of(502), timeout});
  Get get("http://h/");
  CHECK(get.send(net.world) == MUSTER_E_DEADLINE_EXCEEDED);
  CHECK(contains(get.error.error.message, "before that: status 502"));
}

TEST_CASE("the transport's own words for what it waited for stand in the error") {
  Answer timeout;
  timeout.code = MUSTER_E_DEADLINE_EXCEEDED;
  timeout.phase = "wait";
  timeout.message = "waited 2.5 s for an answer of 'api.test:443'";
  Net net({timeout});
  Get get("https://api.test/x");
  CHECK(get.send(net.world) == MUSTER_E_DEADLINE_EXCEEDED);
  CHECK(get.error.error.message ==
        "GET https://api.test/x: the time was over: waited 2.5 s for an answer of 'api.test:443'");
}

TEST_CASE("an answer larger than the maximum is refused") {
  Net net({Answer::of(200, {}, "123456")});
  Get get("http://h/");
  get.request.maximum_body_size = 5;
  CHECK(get.send(net.world) == MUSTER_E_RESOURCE_EXHAUSTED);
  CHECK(net.transport.living == 0);
  Get streamed("http://h/");
  streamed.request.maximum_body_size = 5;
  CHECK(streamed.stream().send(net.world) == MUSTER_E_RESOURCE_EXHAUSTED);
  CHECK(streamed.streamed.size() <= 5);
}

TEST_CASE("a streamed body comes in pieces, and other statuses whole") {
  Net net({Answer::of(200, {}, "0123456789")});
  Get get("http://h/");
  CHECK(get.stream().send(net.world) == MUSTER_OK);
  CHECK(get.streamed == "0123456789");
  CHECK(get.text().empty());
  CHECK(get.response.body != nullptr);
  CHECK(net.world.inside().requests()[0].bytes == 10);
  Net refused({Answer::of(404, {}, "no")});
  Get other("http://h/");
  CHECK(other.stream().send(refused.world) == MUSTER_OK);
  CHECK(other.streamed.empty());
  CHECK(other.text() == "no");
}

TEST_CASE("a request has a time of its own, which never goes past the call's") {
  Net net({Answer::of(200, {}, "0123")});
  Get bounded("http://h/");
  bounded.request.timeout_ns = kSecond;
  CHECK(bounded.send(net.world) == MUSTER_OK);
  Get generous("http://h/");
  generous.request.timeout_ns = INT64_MAX;
  CHECK(generous.send(net.world) == MUSTER_OK);
  CHECK(net.transport.seen[0].time_ns <= kSecond);
  CHECK(net.transport.seen[0].time_ns > kSecond / 2);
  CHECK(net.transport.seen[1].time_ns > 2 * kSecond);
  CHECK(net.transport.seen[1].time_ns <= 20 * kSecond);
}

TEST_CASE("each piece of a stream gives it its idle time again, and no more") {
  Net net({Answer::of(200, {}, "0123")});
  Get get("http://h/");
  get.request.timeout_ns = kSecond / 10;
  get.request.idle_timeout_ns = 2 * kSecond;
  CHECK(get.stream().send(net.world) == MUSTER_OK);
  CHECK(net.transport.seen[0].time_ns <= kSecond / 10);
  CHECK(net.transport.seen[0].time_after_pieces_ns > kSecond);
  CHECK(net.transport.seen[0].time_after_pieces_ns <= 2 * kSecond);
}

TEST_CASE("a stream that falls silent is a broken one") {
  Answer silent;
  silent.code = MUSTER_E_DEADLINE_EXCEEDED;
  silent.message = "waited 2.0 s for the rest of the body";
  silent.phase = "receive";
  silent.pieces = "half";
  Net net({silent});
  Get get("http://h/");
  get.request.idle_timeout_ns = kSecond;
  CHECK(get.stream().send(net.world) == MUSTER_E_UNAVAILABLE);
  CHECK(net.transport.seen.size() == 1);
}

TEST_CASE("what the plugin's on_body says is what send returns, and its error stays its own") {
  Net net({Answer::of(200, {}, "0123456789")});
  Get get("http://h/");
  CHECK(get.stream(4, MUSTER_E_DATA_LOSS).send(net.world) == MUSTER_E_DATA_LOSS);
  CHECK(get.streamed == "0123");
  CHECK(get.error.error.message.empty());
  CHECK(net.transport.seen.size() == 1);
}

TEST_CASE("a token in a header is known as a secret from then on") {
  Answer answer = Answer::broken();
  answer.message = "the server said: bad token abcdef123456";
  Net net({answer});
  Get get("http://h/");
  CHECK(get.header("Authorization", "Bearer abcdef123456")
            .flags(MUSTER_HTTP_NO_RETRY)
            .send(net.world) == MUSTER_E_UNAVAILABLE);
  CHECK(contains(get.error.error.message, "bad token REDACTED"));
}

TEST_CASE("a library that cannot be found or loaded is told in the request's error") {
  World missing(
      Session::live(nullptr, nullptr), make_http_library([]() -> Result<std::string> {
        return Error{Code::kNotFound, "libmuster-http.so is nowhere: looked in /a and /b", {}};
      }));
  Get get("http://h/");
  CHECK(get.send(missing) == MUSTER_E_NOT_FOUND);
  CHECK(contains(get.error.error.message, "looked in /a and /b"));

  const Folder folder;
  const std::string file = folder.write("libmuster-http.so", "this is no shared object");
  World broken(Session::live(nullptr, nullptr),
               make_http_library([&]() -> Result<std::string> { return file; }));
  Get other("http://h/");
  CHECK(other.send(broken) == MUSTER_E_INTERNAL);
  CHECK(contains(other.error.error.message, file));
  CHECK(contains(other.error.error.message, "invalid ELF header") +
            contains(other.error.error.message, "file too short") ==
        1);

  World none(Session::live(nullptr, nullptr), nullptr);
  CHECK(Get("http://h/").send(none) == MUSTER_E_INTERNAL);
}

TEST_CASE("a transport of another major, or without its functions, is refused") {
  muster_transport_v1 table{};
  table.struct_size = sizeof(table);
  table.abi_major = 2;
  World major(Session::live(nullptr, nullptr), make_http_library(&table));
  Get get("http://h/");
  CHECK(get.send(major) == MUSTER_E_INTERNAL);
  CHECK(contains(get.error.error.message, "it is of ABI 2, this muster of 1"));
  table.abi_major = 1;
  World empty(Session::live(nullptr, nullptr), make_http_library(&table));
  CHECK(get.send(empty) == MUSTER_E_INTERNAL);
  CHECK(contains(get.error.error.message, "lacks exchange or release"));
}

TEST_CASE("of very many requests the last ones are kept") {
  World world;
  for (int n = 0; n < 50'000; ++n) {
    RequestRecord record;
    record.url = std::to_string(n);
    world.inside().add_request(std::move(record));
  }
  const auto kept = world.inside().requests();
  CHECK(kept.size() >= 10'000);
  CHECK(kept.size() <= 20'000);
  CHECK(kept.back().url == "49999");
}
