// muster.http/1 over a fake transport: redirects and proxies, and what goes along.
#include <doctest/doctest.h>

#include "service_net.h"

using namespace muster;
using namespace muster::testing;

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

namespace {

constexpr const char* kHidden = "c4n4ry";

// All that a person could read of what this call asked.
std::string shown(Net& net, const Get& get) {
  std::string out = get.error.error.message;
  for (const Detail& detail : get.error.error.details) out += "\n" + detail.value;
  for (const std::string& line : net.lines.lines) out += "\n" + line;
  for (const RequestRecord& record : net.world.inside().requests())
    out += "\n" + record.url + " " + record.error;
  return out;
}

}  // namespace

TEST_CASE("where the answer is a secret, where it redirects to is not shown") {
  for (const char* location : {"/c4n4ry", "/x?token=c4n4ry", "http://h/c4n4ry", "https://c4n4ry/",
                               "c4n4ry:c4n4ry", "http://[::c4n4ry", "//c4n4ry@h/", ""}) {
    CAPTURE(location);
    const std::vector<Answer> script = {Answer::of(302, {{"Location", location}}, kHidden),
                                        Answer::of(500, {}, kHidden)};
    Net net(script);
    Get get("http://h/token");
    get.flags(MUSTER_HTTP_SECRET_BODY | MUSTER_HTTP_NO_RETRY).send(net.world);
    CHECK_MESSAGE(!contains(shown(net, get), kHidden), shown(net, get));
    Net circle({Answer::of(302, {{"Location", location}}, kHidden)});
    Get again("http://h/token");
    again.flags(MUSTER_HTTP_SECRET_BODY).send(circle.world);
    CHECK_MESSAGE(!contains(shown(circle, again), kHidden), shown(circle, again));
  }
}

TEST_CASE("a secret answer's redirect is in no recording, and its replay goes the same way") {
  for (const char* location : {"/c4n4ry", "http://h/x?c4n4ry", "https://c4n4ry/", "c4n4ry:", ""}) {
    CAPTURE(location);
    const Folder folder;
    const std::string path = folder.path("r.yaml");
    int64_t status = 0;
    {
      FakeTransport transport({Answer::of(302, {{"Location", location}, {"X-Odd", kHidden}}),
                               Answer::of(200, {{"X-Odd", kHidden}}, kHidden)});
      auto session = Session::record(nullptr, nullptr);
      World world(session, transport.library());
      Get get("http://h/token");
      REQUIRE(get.flags(MUSTER_HTTP_SECRET_BODY).send(world) == MUSTER_OK);
      status = get.response.status;
      REQUIRE(session->write(path).ok());
    }
    CHECK_MESSAGE(!contains(read_whole(path), kHidden), read_whole(path));
    auto replay = Session::replay(path, nullptr, std::make_shared<Secrets>());
    REQUIRE(replay.ok());
    World world(*replay, nullptr);
    Get get("http://h/token");
    REQUIRE_MESSAGE(get.flags(MUSTER_HTTP_SECRET_BODY).send(world) == MUSTER_OK,
                    get.error.error.message);
    CHECK(get.response.status == status);
  }
}
