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
