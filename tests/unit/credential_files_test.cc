// What gives credentials: read in one way only, and told of without a word of it.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "plugins/kubernetes/exec_credential.h"
#include "plugins/kubernetes/kubeconfig.h"
#include "plugins/support/google/credential_file.h"
#include "plugins/support/google/token.h"
#include "plugins/support/quote_answer.h"
#include "plugins/support/unique_keys.h"

namespace {

using namespace muster;
using kubernetes::parse_kubeconfig;
using kubernetes::read_exec_credential;
using support::google::read_credential_file;
using support::google::read_token;

constexpr const char* kV1 = "client.authentication.k8s.io/v1";

std::string padded(const std::string& text) { return text + std::string(64, '\0'); }

std::string repeated(const std::string& json) {
  simdjson::dom::parser parser;
  return support::repeated_key(parser.parse(json).value_unsafe());
}

template <typename Read>
std::string refusal(const std::string& text, const Read& read) {
  std::string room = padded(text);
  const auto result = read(std::string_view(room).substr(0, text.size()));
  return result ? std::string() : result.failure().message;
}

std::string wrong_file(const std::string& json) {
  return refusal(json, [](std::string_view text) { return read_credential_file(text, "/k"); });
}
std::string wrong_token(const std::string& json) {
  return refusal(json, [](std::string_view text) { return read_token(text, 1000); });
}
std::string wrong_output(const std::string& printed) {
  return refusal(printed, [](std::string_view text) { return read_exec_credential(text, kV1); });
}
std::string wrong_kubeconfig(const std::string& yaml) {
  return refusal(yaml, [](std::string_view text) { return parse_kubeconfig(text, "/k"); });
}

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("a key that stands twice in a map is found wherever the map is") {
  CHECK(repeated(R"({"a": 1, "b": {"a": 1}, "c": [{"a": 1}, {"a": 2}]})") == "");
  CHECK(repeated("[]") == "");
  CHECK(repeated("7") == "");
  CHECK(repeated(R"({"a": 1, "b": 2, "a": 3})") == "a");
  CHECK(repeated(R"({"a": 1, "\u0061": 3})") == "a");
  CHECK(repeated(R"({"x": {"y": [0, {"a": 1, "a": 1}]}})") == "x.y[1].a");
}

TEST_CASE("what gives credentials and has a key twice is refused, by the key and no value") {
  CHECK(wrong_file(R"({"type": "authorized_user", "client_id": "i", "client_secret": "canary",
                       "refresh_token": "canary-1", "refresh_token": "canary-2"})") ==
        "the credential file '/k': its key 'refresh_token' stands there twice");
  CHECK(
      wrong_file(
          R"({"type": "external_account", "credential_source": {"url": "canary", "headers": {"X": "canary", "X": "b"}}})") ==
      "the credential file '/k': its key 'credential_source.headers.X' stands there twice");
  CHECK(wrong_token(R"({"access_token": "canary-1", "access_token": "canary-2"})") ==
        "answers with a token whose key 'access_token' stands there twice");
  CHECK(wrong_token(R"({"access_token": "good", "expires_in": 1, "expires_in": 2})") ==
        "answers with a token whose key 'expires_in' stands there twice");
  const std::string head =
      std::string(R"({"kind": "ExecCredential", "apiVersion": ")") + kV1 + "\", ";
  CHECK(wrong_output(head + R"("status": {"token": "canary-1", "token": "canary-2"}})") ==
        "printed the key 'status.token' twice");
  CHECK(
      wrong_output(head + R"("status": {"token": "canary-1"}, "status": {"token": "canary-2"}})") ==
      "printed the key 'status' twice");
  CHECK(wrong_output("kind: ExecCredential\napiVersion: " + std::string(kV1) +
                     "\nstatus:\n  token: canary-1\n  token: canary-2\n") ==
        "printed the key 'status.token' twice");
  CHECK(
      wrong_kubeconfig("users:\n- name: u\n  user:\n    token: canary-1\n    token: canary-2\n") ==
      "/k:5:5: the key 'token' stands there twice");
  CHECK(wrong_kubeconfig(
            R"({"users": [{"name": "u", "user": {"token": "canary-1", "token": "canary-2"}}]})") ==
        "/k:1:56: the key 'token' stands there twice");
  CHECK(wrong_kubeconfig("a: &a [x, x]\nb: {c: *a, d: *a}\n? [x]\n: y\n") == "");
}

TEST_CASE("a thousand aliases of aliases in a kubeconfig are no work") {
  std::string yaml = "a0: &a0 [x]\n";
  for (int n = 1; n < 60; ++n) {
    const std::string before = "*a" + std::to_string(n - 1);
    yaml += "a" + std::to_string(n) + ": &a" + std::to_string(n) + " [" + before + ", " + before +
            "]\n";
  }
  CHECK(wrong_kubeconfig(yaml) == "");
}

TEST_CASE("what a credential program or a kubeconfig says wrongly is not quoted") {
  const std::string head = R"({"kind": "ExecCredential", "apiVersion": ")";
  for (const std::string& printed :
       {head + R"(canary", "status": {"token": "t"}})",
        head + kV1 + R"(", "status": {"token": "t", "expirationTimestamp": "canary"}})",
        head + kV1 + R"(", "status": {"token": ["canary"]}})", std::string("canary"),
        std::string("*canary"), std::string("\"\\canary\"")}) {
    CAPTURE(printed);
    CHECK_FALSE(wrong_output(printed).empty());
    CHECK_FALSE(has(wrong_output(printed), "canary"));
  }
  for (const std::string yaml :
       {"users: canary", "users: [canary]", "users: [{name: u, user: canary}]",
        "users: [{name: u, user: {token: [canary]}}]", "users: [{name: u, user: {token: *canary}}]",
        "users: [{name: u, user: {token: \"\\canary\"}}]",
        "users: [{name: u, user: {token: 'canary}}]",
        "users: [{name: u, user: {token: a: canary}}]",
        "users:\n- name: u\n  user:\n    password: @canary\n",
        "users:\n- name: u\n  user:\n    password: %canary\n",
        "users: [{name: u, user: {exec: {env: {TOKEN: canary}}}}]",
        "users: [{name: u, user: {exec: {env: [canary]}}}]",
        "users: [{name: u, user: {exec: {args: canary}}}]",
        "users: [{name: u, user: {exec: {args: [[canary]]}}}]",
        "users: [{name: u, user: {exec: canary}}]", "canary"}) {
    CAPTURE(yaml);
    CHECK_FALSE(wrong_kubeconfig(yaml).empty());
    CHECK_FALSE(has(wrong_kubeconfig(yaml), "canary"));
  }
}

TEST_CASE("the secrets of a kubeconfig are those that its users and URLs have") {
  const auto config = parse_kubeconfig(R"(
clusters:
- {name: a, cluster: {server: 'https://u:in-the-server@h', proxy-url: 'http://u:in/the@proxy@h'}}
- {name: b, cluster: {server: 'https://token-alone@h', proxy-url: 'http://p:3128'}}
users:
- name: u
  user:
    exec:
      command: p
      args: [get, --client-secret, behind-a-flag, --password=behind-equals, --token-file, a-file-of-it, -v, plain-word]
      env:
      - {name: MY_TOKEN, value: short}
      - {name: PLAIN, value: sixteen-and-more-bytes}
      - {name: REGION, value: us-east-1}
      - {name: URL, value: 'http://p:3128'}
)",
                                       "/k");
  REQUIRE(config);
  const auto secret = [&](const char* text) {
    return std::find(config->secrets.begin(), config->secrets.end(), text) != config->secrets.end();
  };
  for (const char* text : {"in-the-server", "in/the@proxy", "token-alone", "behind-a-flag",
                           "behind-equals", "short", "sixteen-and-more-bytes"}) {
    CAPTURE(text);
    CHECK(secret(text));
  }
  for (const char* text :
       {"u", "get", "a-file-of-it", "plain-word", "us-east-1", "http://p:3128"}) {
    CAPTURE(text);
    CHECK_FALSE(secret(text));
  }
}

TEST_CASE("what is secret in a URL: its password, its token, and parameters that say so") {
  using Texts = std::vector<std::string>;
  const auto of = [](const char* url) { return support::secrets_of_url(url); };
  CHECK(of("https://h:443/p?Action=Get&Version=1") == Texts{});
  CHECK(of("no URL: a@b") == Texts{});
  CHECK(of("https://u:p@h/") == Texts{"p"});
  CHECK(of("https://t@h/") == Texts{"t"});
  CHECK(of("http://u:p/q@r@h/?a=1&Access_Token=x&sig=y=z#f") == Texts{"p/q@r", "x", "y=z"});
  CHECK(of("https://h?token") == Texts{});
  for (const char* host : {"h", "127.0.0.1:3128", "[::1]:443", "[::1]", ""})
    CHECK(of(("https://" + std::string(host) + "/serviceAccounts/a@b:get").c_str()) == Texts{});
  CHECK(support::quote_url("https://h:443/serviceAccounts/a@b:get?x") ==
        "'https://h:443/serviceAccounts/a@b:get'");
  CHECK(support::quote_url("http://u:p/q@r@h/") == "'http://REDACTED@h/'");
  std::string file = padded(
      R"({"type": "external_account", "audience": "a", "subject_token_type": "t", "token_url": "https://u:one@h",
          "credential_source": {"url": "https://h?key=two", "region_url": "http://three@h"}})");
  const auto read = read_credential_file(std::string_view(file).substr(0, file.size() - 64), "/k");
  REQUIRE(read);
  CHECK(read->secrets == Texts{"one", "two", "three"});
}

TEST_CASE("a file that a kubeconfig names is the one that the system finds for the words") {
  const auto config = parse_kubeconfig(
      "users: [{name: u, user: {tokenFile: link/../t, client-key: ./k, client-certificate: "
      "/a/../c, "
      "exec: {command: ../p}}}]",
      "/home/u/.kube/config");
  REQUIRE(config);
  const kubernetes::KubeUser& user = config->users.at("u");
  CHECK(user.token_file == "/home/u/.kube/link/../t");
  CHECK(user.key_file == "/home/u/.kube/./k");
  CHECK(user.certificate_file == "/a/../c");
  CHECK(user.exec->command == "/home/u/.kube/../p");
}
