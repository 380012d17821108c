// URLs, the choice of a proxy, and how long a retry waits.
#include <doctest/doctest.h>

#include <map>

#include "core/service/http_secret.h"
#include "core/service/proxy.h"
#include "core/service/retry.h"
#include "core/service/url.h"

using namespace muster;

namespace {

std::string endpoint(const std::string& text) {
  const Result<Url> url = Url::parse(text);
  return url ? url->endpoint() : "refused";
}

std::string resolved(const std::string& base, const std::string& reference) {
  const Result<Url> target = Url::parse(base)->resolve(reference);
  return target ? target->text() : "refused";
}

// The proxy of a URL in a world of these variables: "" for none, "refused".
std::string proxy(const std::string& url, const std::map<std::string, std::string>& variables) {
  const Result<Proxy> chosen = choose_proxy(*Url::parse(url), [&](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
  });
  return chosen ? chosen->url : "refused";
}

bool direct(const std::string& url, const std::string& no_proxy) {
  return proxy(
             url,
             {{"HTTPS_PROXY", "http://p:1"}, {"HTTP_PROXY", "http://p:1"}, {"NO_PROXY", no_proxy}})
      .empty();
}

constexpr int64_t kSecond = 1'000'000'000;

}  // namespace

TEST_CASE("a URL gives host and port, with the scheme's port where none is written") {
  CHECK(endpoint("http://example.com") == "example.com:80");
  CHECK(endpoint("HTTPS://example.com/x?y") == "example.com:443");
  CHECK(endpoint("https://10.0.0.1:6443/api") == "10.0.0.1:6443");
  CHECK(endpoint("https://[fd00::1]:6443/api") == "[fd00::1]:6443");
  CHECK(endpoint("https://[fd00::1]/api") == "[fd00::1]:443");
  CHECK(Url::parse("https://[fd00::1]/api?q=1")->host_and_path() == "[fd00::1]/api");
  CHECK(Url::parse("http://h:8080")->host_and_path() == "h:8080/");
}

TEST_CASE("a URL that is not absolute, not http, or not encoded is refused") {
  for (const std::string bad :
       {"", "/api", "example.com/x", "ftp://h/", "http:/h", "http://", "http:///x",
        "https://fd00::1/", "http://h:0/", "http://h:99999/", "http://h:/", "http://a b/",
        "http://h/a b", "http://h/\n", "http://h/\xc3\xa9", "http://h/#x", "http://h/a\\b",
        "unix:///run/x"}) {
    CAPTURE(bad);
    CHECK_FALSE(Url::parse(bad).ok());
    CHECK(Url::parse(bad).error().code == Code::kInvalidArgument);
  }
  CHECK_FALSE(Url::parse(std::string("http://h/\0", 10)).ok());
}

TEST_CASE("a password or a query of a refused URL is not told") {
  CHECK(Url::parse("https://ann:hunter2@h/").error().message.find("hunter2") == std::string::npos);
  CHECK(Url::parse("https://h/a?key=hunter2\n").error().message.find("hunter2") ==
        std::string::npos);
}

TEST_CASE("a Location is resolved as RFC 3986 says") {
  const std::string base = "http://a:8/b/c/d?q";
  CHECK(resolved(base, "https://x/y") == "https://x/y");
  CHECK(resolved(base, "//x/y") == "http://x/y");
  CHECK(resolved(base, "/g#frag") == "http://a:8/g");
  CHECK(resolved(base, "g?y") == "http://a:8/b/c/g?y");
  CHECK(resolved(base, "../../../g") == "http://a:8/g");
  CHECK(resolved(base, "./g/.") == "http://a:8/b/c/g/");
  CHECK(resolved(base, "?y=1") == "http://a:8/b/c/d?y=1");
  CHECK(resolved(base, "") == "http://a:8/b/c/d?q");
  CHECK(resolved("http://[fd00::1]", "x") == "http://[fd00::1]:80/x");
  CHECK(resolved(base, "mailto:x") == "refused");
}

TEST_CASE("https asks HTTPS_PROXY and http asks HTTP_PROXY, the upper case first") {
  CHECK(proxy("https://h/", {{"HTTPS_PROXY", "http://up:1"}, {"https_proxy", "http://low:2"}}) ==
        "http://up:1");
  CHECK(proxy("https://h/", {{"HTTPS_PROXY", " "}, {"https_proxy", "low:2"}}) == "http://low:2");
  CHECK(proxy("http://h/", {{"HTTPS_PROXY", "http://up:1"}}).empty());
  CHECK(proxy("http://h/", {{"HTTP_PROXY", "http://ann:pw@up"}}) == "http://ann:pw@up:80");
  CHECK(proxy("http://h/", {{"HTTP_PROXY", "http://[fd00::9]:3128/"}}) == "http://[fd00::9]:3128");
}

TEST_CASE("a CGI program's HTTP_PROXY is not believed") {
  CHECK(proxy("http://h/", {{"HTTP_PROXY", "http://evil:1"}, {"REQUEST_METHOD", "GET"}}).empty());
  CHECK(proxy("http://h/", {{"http_proxy", "http://good:1"}, {"REQUEST_METHOD", "GET"}}) ==
        "http://good:1");
}

TEST_CASE("a proxy that cannot be used is refused in words, without its password") {
  const Result<Proxy> bad = parse_proxy("socks4://ann:hunter2@h:1080", "HTTPS_PROXY");
  REQUIRE_FALSE(bad.ok());
  CHECK(bad.error().code == Code::kFailedPrecondition);
  CHECK(bad.error().message ==
        "the proxy of HTTPS_PROXY cannot be used: its scheme is 'socks4', and only http, https and "
        "socks5 are there");
  CHECK(parse_proxy("SOCKS5://ann:hunter2@h", "X")->shown == "socks5://h:1080");
  CHECK(parse_proxy("https://ann@h", "X")->url == "https://ann@h:443");
  CHECK_FALSE(parse_proxy("http://h:1x", "X").ok());
  CHECK(parse_proxy("http://ann:hunter2@h:1", "X")->shown == "http://h:1");
}

TEST_CASE("NO_PROXY names hosts, domains, addresses, blocks and ports") {
  CHECK(direct("https://api.example.com/", "example.com"));
  CHECK(direct("https://example.com/", "other, Example.com"));
  CHECK_FALSE(direct("https://notexample.com/", "example.com"));
  CHECK_FALSE(direct("https://example.com/", ".example.com"));
  CHECK(direct("https://a.example.com/", ".example.com"));
  CHECK(direct("https://a.example.com./", "*.example.com"));
  CHECK(direct("https://example.com/", "example.com:443"));
  CHECK_FALSE(direct("https://example.com/", "example.com:80"));
  CHECK(direct("https://h/", "*"));
  CHECK(direct("https://10.1.2.3/", "10.0.0.0/8"));
  CHECK_FALSE(direct("https://11.1.2.3/", "10.0.0.0/8"));
  CHECK(direct("https://10.1.2.3:6443/", "10.1.2.3"));
  CHECK_FALSE(direct("https://10.1.2.3:6443/", "10.1.2.3:443"));
  CHECK(direct("https://[fd00::1]/", "fd00::/16"));
  CHECK(direct("https://[fd00::1]/", "fd00:0::1"));
  CHECK(direct("https://[fd00::1]:6443/", "[fd00::1]:6443"));
  CHECK_FALSE(direct("https://10.1.2.3/", "::/0"));
  CHECK_FALSE(direct("https://h/", ",,/8,10.0.0.0/99,[]:1,.,*."));
}

TEST_CASE("localhost and loopback addresses are asked directly always") {
  for (const char* url : {"http://localhost/", "http://LOCALHOST./", "http://127.0.0.1:8080/",
                          "http://127.3.2.1/", "http://[::1]/"}) {
    CHECK(proxy(url, {{"HTTP_PROXY", "http://p:1"}}).empty());
  }
}

TEST_CASE("Retry-After is read in seconds and in all three forms of a date") {
  CHECK(retry_after_ns("120", "", 0) == 120 * kSecond);
  CHECK(retry_after_ns(" 0 ", "", 0) == 0);
  CHECK(*retry_after_ns("99999999999999999999999", "", 0) > 1000000 * kSecond);
  const int64_t then = 784111777;
  CHECK(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT") == then);
  CHECK(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT") == then);
  CHECK(parse_http_date("Sun Nov  6 08:49:37 1994") == then);
  CHECK(retry_after_ns("Sun, 06 Nov 1994 08:49:37 GMT", "", then - 5) == 5 * kSecond);
  CHECK(retry_after_ns("Sun, 06 Nov 1994 08:49:37 GMT", "", then + 5) == 0);
  // The server's own clock counts, not ours.
  CHECK(retry_after_ns("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:30 GMT", 0) ==
        7 * kSecond);
  for (const char* bad : {"", "-1", "1.5", "soon", "Sun, 06 Nov 1994 08:49:37 CET",
                          "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT"}) {
    CHECK_FALSE(retry_after_ns(bad, "", 0).has_value());
  }
}

TEST_CASE("backoff doubles from 100 ms to 10 s, with full jitter") {
  int64_t most = 0;
  for (int i = 0; i < 200; ++i) {
    CHECK(backoff_ns(1) <= kSecond / 10);
    CHECK(backoff_ns(100) <= 10 * kSecond);
    CHECK(backoff_ns(3) >= 0);
    most = std::max(most, backoff_ns(100));
  }
  CHECK(most > 5 * kSecond);
}

TEST_CASE("secret parameters of a query are not shown, page tokens are") {
  const Secrets secrets;
  CHECK(shown_url("https://h/x?access_token=abc&pageToken=p1&continue=c&key=k&X-Goog-Signature=s",
                  secrets) ==
        "https://h/"
        "x?access_token=REDACTED&pageToken=p1&continue=c&key=REDACTED&X-Goog-Signature=REDACTED");
  CHECK(shown_url("https://h/x?", secrets) == "https://h/x?");
}
