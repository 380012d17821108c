// muster.http/1 over a fake transport.
#include <doctest/doctest.h>

#include <thread>

#include "service_world.h"

using namespace muster;
using namespace muster::testing;

namespace {

// A world whose transport plays this script.
struct Net {
  explicit Net(std::vector<Answer> script, int64_t time_ns = 20 * kSecond)
      : transport(std::move(script)),
        world(Session::live(lines.log(), std::make_shared<Secrets>()), transport.library(),
              time_ns) {}
  Lines lines;
  FakeTransport transport;
  World world;
};

using Headers = std::vector<std::pair<std::string, std::string>>;

}  // namespace

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

TEST_CASE("a GET is sent again after each status that passes, until it is answered") {
  for (const int64_t status : {408, 429, 500, 502, 503, 504}) {
    CAPTURE(status);
    Net net({Answer::of(status), Answer::of(200, {}, "ok")});
    Get get("http://api.test/x");
    CHECK(get.send(net.world) == MUSTER_OK);
    CHECK(get.text() == "ok");
    CHECK(net.transport.seen.size() == 2);
    const std::vector<RequestRecord> records = net.world.inside().requests();
    REQUIRE(records.size() == 2);
    CHECK(records[0].status == status);
    CHECK(records[1].attempt == 2);
  }
}

TEST_CASE("after six attempts the last answer is given back as it is") {
  Net net({Answer::of(503, {{"Retry-After", "0"}}, "busy")});
  Get get("http://api.test/x");
  CHECK(get.send(net.world) == MUSTER_OK);
  CHECK(get.response.status == 503);
  CHECK(get.text() == "busy");
  CHECK(net.transport.seen.size() == 6);
  CHECK(net.transport.living == 1);  // the earlier ones are freed
}

TEST_CASE("other statuses are answers, sent for once") {
  for (const int64_t status : {200, 204, 400, 401, 403, 404, 410, 501}) {
    Net net({Answer::of(status)});
    Get get("http://h/");
    CHECK(get.send(net.world) == MUSTER_OK);
    CHECK(get.response.status == status);
    CHECK(net.transport.seen.size() == 1);
  }
}

TEST_CASE("a POST is not sent again when it may have arrived, unless it is said to be safe") {
  {
    Net net({Answer::of(503), Answer::of(200)});
    Get post("http://h/", "POST");
    CHECK(post.send(net.world) == MUSTER_OK);
    CHECK(post.response.status == 503);
  }
  {
    Net net({Answer::broken(), Answer::of(200)});
    Get post("http://h/", "POST");
    CHECK(post.send(net.world) == MUSTER_E_UNAVAILABLE);
    CHECK(net.transport.seen.size() == 1);
  }
  {
    Net net({Answer::refused(), Answer::of(200)});
    Get post("http://h/", "POST");
    CHECK(post.send(net.world) == MUSTER_OK);
    CHECK(net.transport.seen.size() == 2);
  }
  {
    Net net({Answer::of(503), Answer::broken(), Answer::of(200)});
    Get post("http://h/", "POST");
    CHECK(post.flags(MUSTER_HTTP_IDEMPOTENT).body("q").send(net.world) == MUSTER_OK);
    REQUIRE(net.transport.seen.size() == 3);
    CHECK(net.transport.seen[2].body == "q");
  }
}

TEST_CASE("NO_RETRY is one attempt") {
  Net net({Answer::of(503), Answer::of(200)});
  Get get("http://h/");
  CHECK(get.flags(MUSTER_HTTP_NO_RETRY).send(net.world) == MUSTER_OK);
  CHECK(get.response.status == 503);
}

TEST_CASE("Retry-After is waited for, and the progress says so") {
  std::string progress;
  Net net({Answer::of(429, {{"Retry-After", "1"}}), Answer::of(200)});
  net.world.inside().set_progress("listing pods");
  std::thread watcher([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    progress = net.world.inside().progress();
  });
  Get get("http://api.test/x?secret=1");
  CHECK(get.send(net.world) == MUSTER_OK);
  watcher.join();
  REQUIRE(net.transport.seen.size() == 2);
  CHECK(net.transport.seen[1].at_ns - net.transport.seen[0].at_ns >= kSecond);
  CHECK(progress.find("GET api.test/x, attempt 2, waiting 1.") == 0);
  CHECK(contains(progress, " as the server asked"));
  CHECK(net.world.inside().progress() == "listing pods");
}

TEST_CASE("a Retry-After past the deadline gives the answer back at once") {
  Net net({Answer::of(429, {{"Retry-After", "3600"}}, "slow down")});
  const int64_t start = monotonic_ns();
  Get get("http://h/");
  CHECK(get.send(net.world) == MUSTER_OK);
  CHECK(get.response.status == 429);
  CHECK(get.text() == "slow down");
  CHECK(monotonic_ns() - start < kSecond);
}

TEST_CASE("a call that is over or cancelled sends nothing") {
  Net over({Answer::of(200)}, -1);
  Get late("http://h/");
  CHECK(late.send(over.world) == MUSTER_E_DEADLINE_EXCEEDED);
  CHECK(late.error.error.message != "");
  CHECK(over.transport.seen.empty());
}

TEST_CASE("a cancel ends the waiting between two attempts") {
  Net net({Answer::of(503, {{"Retry-After", "10"}})});
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    net.world.cancel.cancel();
  });
  const int64_t start = monotonic_ns();
  Get get("http://h/");
  CHECK(get.send(net.world) == MUSTER_E_CANCELLED);
  canceller.join();
  CHECK(monotonic_ns() - start < 2 * kSecond);
  CHECK(net.transport.seen.size() == 1);
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
       "raise the limit"},
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

TEST_CASE("a streamed request is sent again only while no piece was handed over") {
  Answer cut = Answer::broken();
  cut.pieces = "half";
  Net net({Answer::broken(), cut, Answer::of(200, {}, "whole")});
  Get get("http://h/");
  CHECK(get.stream().send(net.world) == MUSTER_E_UNAVAILABLE);
  CHECK(net.transport.seen.size() == 2);
  CHECK(get.streamed == "half");
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

TEST_CASE("a redirect to the same origin is followed with everything") {
  Net net({Answer::of(307, {{"Location", "/new?x=1"}}), Answer::of(200)});
  Get post("http://h:80/old", "POST");
  CHECK(post.header("Authorization", "Bearer abcdef").body("q").send(net.world) == MUSTER_OK);
  REQUIRE(net.transport.seen.size() == 2);
  CHECK(net.transport.seen[1].url == "http://h:80/new?x=1");
  CHECK(net.transport.seen[1].method == "POST");
  CHECK(net.transport.seen[1].body == "q");
  CHECK(net.transport.seen[1].headers.at("Authorization") == "Bearer abcdef");
}

TEST_CASE("after 301, 302 and 303 a POST becomes a GET without a body") {
  for (const int64_t status : {301, 302, 303}) {
    Net net({Answer::of(status, {{"location", "/new"}}), Answer::of(200)});
    Get post("http://h/old", "POST");
    CHECK(post.header("Content-Type", "text/plain").body("q").send(net.world) == MUSTER_OK);
    REQUIRE(net.transport.seen.size() == 2);
    CHECK(net.transport.seen[1].method == "GET");
    CHECK(net.transport.seen[1].body.empty());
    CHECK_FALSE(net.transport.seen[1].has("Content-Type"));
  }
}

TEST_CASE("a redirect to another origin is an answer, unless it is asked for") {
  for (const char* location : {"http://other/", "https://h/", "http://h:81/"}) {
    Net net({Answer::of(302, {{"Location", location}}), Answer::of(200)});
    Get get("http://h/");
    CHECK(get.send(net.world) == MUSTER_OK);
    CHECK(get.response.status == 302);
    CHECK(net.transport.seen.size() == 1);
    CHECK(net.lines.contain("is not followed: it leads to another server"));
  }
}

TEST_CASE("a redirect to another origin carries no credentials") {
  Net net({Answer::of(302, {{"Location", "https://other/"}}), Answer::of(200)});
  Get get("https://h/");
  get.header("Authorization", "Bearer abcdef")
      .header("Cookie", "a=b")
      .header("X-Api-Token", "t")
      .header("Accept", "x");
  get.request.client_key_pem = "KEY";
  get.request.client_key_pem_size = 3;
  CHECK(get.flags(MUSTER_HTTP_FOLLOW_REDIRECTS | MUSTER_HTTP_INSECURE).send(net.world) ==
        MUSTER_OK);
  REQUIRE(net.transport.seen.size() == 2);
  CHECK(net.transport.seen[0].client_key == "KEY");
  const Exchange& second = net.transport.seen[1];
  CHECK(second.headers == std::map<std::string, std::string>{{"Accept", "x"}});
  CHECK(second.client_key.empty());
  CHECK((second.flags & MUSTER_HTTP_INSECURE) == 0);
}

TEST_CASE("no redirect leads from https to http, nor carries a secret body away") {
  Net down({Answer::of(302, {{"Location", "http://h/"}}), Answer::of(200)});
  Get get("https://h/");
  CHECK(get.flags(MUSTER_HTTP_FOLLOW_REDIRECTS).send(down.world) == MUSTER_OK);
  CHECK(get.response.status == 302);
  Net away({Answer::of(307, {{"Location", "https://other/"}}), Answer::of(200)});
  Get post("https://h/", "POST");
  CHECK(post.flags(MUSTER_HTTP_FOLLOW_REDIRECTS | MUSTER_HTTP_SECRET_BODY)
            .body("assertion")
            .send(away.world) == MUSTER_OK);
  CHECK(post.response.status == 307);
}

TEST_CASE("a circle of redirects ends after five") {
  Net net({Answer::of(302, {{"Location", "/again"}})});
  Get get("http://h/again");
  CHECK(get.send(net.world) == MUSTER_E_UNAVAILABLE);
  CHECK(net.transport.seen.size() == 6);
  CHECK(contains(get.error.error.message, "redirected more than 5 times"));
}

TEST_CASE(
    "the proxy comes from the environment, the request's own goes first, and NO_PROXY is none") {
  const Variable variable("HTTP_PROXY", "http://ann:hunter22@proxy:3128");
  Net net({Answer::of(200)});
  Get plain("http://h/");
  plain.send(net.world);
  Get own("http://h/");
  own.request.proxy_url = "http://mine:1";
  own.send(net.world);
  Get none("http://h/");
  none.flags(MUSTER_HTTP_NO_PROXY).send(net.world);
  Get local("http://127.0.0.1/");
  local.send(net.world);
  REQUIRE(net.transport.seen.size() == 4);
  CHECK(net.transport.seen[0].proxy == "http://ann:hunter22@proxy:3128");
  CHECK(net.transport.seen[1].proxy == "http://mine:1");
  CHECK(net.transport.seen[2].proxy.empty());
  CHECK(net.transport.seen[3].proxy.empty());
  CHECK(net.world.session().secrets().redact("hunter22") == "REDACTED");
}

TEST_CASE("a failure behind a proxy names the proxy and where it is set") {
  const Variable variable("HTTPS_PROXY", "http://ann:hunter22@proxy:3128");
  Answer answer = Answer::refused();
  answer.phase = "proxy";
  Net net({answer});
  Get get("https://h/");
  CHECK(get.flags(MUSTER_HTTP_NO_RETRY).send(net.world) == MUSTER_E_UNAVAILABLE);
  CHECK(contains(get.error.error.message, "(through the proxy http://proxy:3128 of HTTPS_PROXY)"));
  CHECK(contains(get.error.error.detail("hint"), "NO_PROXY"));
  const Variable socks("HTTPS_PROXY", "socks4://proxy:1080");
  Get other("https://h/");
  CHECK(other.send(net.world) == MUSTER_E_FAILED_PRECONDITION);
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
