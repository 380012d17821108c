// Who the kubernetes backend is to the server: credential programs, OIDC, renewal after a 401.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>

#include "tests/plugin/kubernetes/api.h"

using fake::Answer;
using fake::ask;
using fake::ask_in_turn;
using fake::lab;
using fake::Program;
using fake::Request;
using fake::Response;
using fake::Run;
using fake::World;

namespace {

const std::string kV1 = "apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, ";

// What a program prints for this status.
std::string credential(const std::string& status, const std::string& version = "v1") {
  return R"({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/)" + version +
         R"(", "status": )" + status + "}\n";
}

// A world whose user is `user`, and whose program answers with `output`.
World with(const std::string& user, const std::string& output = "",
           const std::string& cluster = "server: 'https://k:6443'") {
  World world = lab({{"job-name=tensorflow", {{"w-0"}}}});
  world.files["/home/user/.kube/config"] =
      "current-context: c\nclusters: [{name: k, cluster: {" + cluster +
      "}}]\nusers: [{name: u, user: {" + user +
      "}}]\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n";
  world.run = [output](const Program&) { return Run{0, output, "", MUSTER_OK, ""}; };
  return world;
}

// The server takes this token alone.
World only(World world, const std::string& token) {
  world.serve = [serve = world.serve, token](const Request& request) {
    const auto sent = request.headers.find("Authorization");
    if (sent != request.headers.end() && sent->second == "Bearer " + token) return serve(request);
    return fake::status_json(401, "Unauthorized", "Unauthorized");
  };
  return world;
}

std::string sent(const Answer& answer, size_t n = 0) {
  return answer.requests.at(n).headers.at("Authorization");
}

}  // namespace

TEST_CASE("a credential program's token is sent, and is a secret") {
  const Answer answer = ask(
      "kubernetes", "{}",
      with(
          "exec: {" + kV1 +
              "command: fetch-token, args: [--cluster, orchard], env: [{name: REGION, value: eu}]}",
          credential(R"({"token": "exec-token\u003d"})")));
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(sent(answer) == "Bearer exec-token=");
  const Program& program = answer.programs.at(0);
  CHECK(program.arguments == std::vector<std::string>{"fetch-token", "--cluster", "orchard"});
  CHECK(program.environment.at("REGION") == "eu");
  CHECK(
      program.environment.at("KUBERNETES_EXEC_INFO") ==
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false}})");
  CHECK(program.flags == 0);
  const auto secret = [&](const std::string& text) {
    return std::count(answer.secrets.begin(), answer.secrets.end(), text) > 0;
  };
  CHECK(secret("exec-token="));
  CHECK(secret("exec-token\\u003d"));  // as a recording of the program would have it
}

TEST_CASE("a credential program's certificate is sent, as plain PEM, beside its token") {
  const Answer answer = ask(
      "kubernetes", "{}",
      with(
          "exec: {" + kV1 + "command: x}",
          credential(
              R"({"token": "t-1", "clientCertificateData": "-CERT-\n", "clientKeyData": "-KEY-\n"})")));
  CHECK(answer.requests.at(0).certificate_pem == "-CERT-\n");
  CHECK(answer.requests.at(0).key_pem == "-KEY-\n");
  CHECK(sent(answer) == "Bearer t-1");
}

TEST_CASE("a credential may be printed as YAML, and the secrets in it are secrets") {
  const std::string head = "apiVersion: client.authentication.k8s.io/v1\nkind: ExecCredential\n";
  const auto print = [&](const std::string& status) {
    return ask("kubernetes", "{}", with("exec: {" + kV1 + "command: x}", head + status));
  };
  const auto has = [](const Answer& answer, const std::string& secret) {
    return std::count(answer.secrets.begin(), answer.secrets.end(), secret) > 0;
  };
  const Answer plain =
      print("status:\n  token: t-1\n  expirationTimestamp: 2027-01-31T12:00:00Z\n");
  REQUIRE_MESSAGE(plain.code == MUSTER_OK, plain.message);
  CHECK(sent(plain) == "Bearer t-1");
  CHECK(has(plain, "t-1"));
  CHECK_FALSE(
      has(plain, head + "status:\n  token: t-1\n  expirationTimestamp: 2027-01-31T12:00:00Z\n"));

  const std::string piece(64, 'k');
  const Answer block = print(
      "status:\n  clientCertificateData: |\n    -----BEGIN CERTIFICATE-----\n"
      "  clientKeyData: |\n    -----BEGIN KEY-----\n    " +
      piece + "\n    -----END KEY-----\n");
  REQUIRE_MESSAGE(block.code == MUSTER_OK, block.message);
  CHECK(block.requests.at(0).key_pem == "-----BEGIN KEY-----\n" + piece + "\n-----END KEY-----\n");
  CHECK(has(block, piece));

  // The recording must not have it in the form that was printed either.
  const std::string escaped = "status: {token: \"secret-\\x41-secret-token\"}\n";
  const Answer odd = print(escaped);
  CHECK(sent(odd) == "Bearer secret-A-secret-token");
  CHECK(has(odd, head + escaped));
  CHECK(print("status: {token: 12345}\n").message ==
        "~/.kube/config:3:32: user 'u': the program 'x' printed an ExecCredential whose status has "
        "a field that is no text");
}

TEST_CASE("a program has a minute, with a terminal five, and one that takes longer is told") {
  World world = with("exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: x}",
                     credential(R"({"token": "t-1"})", "v1beta1"));
  CHECK(ask("kubernetes", "{}", world).programs.at(0).timeout_ns == 60'000'000'000);
  world.terminal = true;
  CHECK(ask("kubernetes", "{}", world).programs.at(0).timeout_ns == 300'000'000'000);
  world.run = [](const Program&) {
    return Run{0, "", "", MUSTER_E_DEADLINE_EXCEEDED, "the program 'x' was still running"};
  };
  const Answer answer = ask("kubernetes", "{}", world);
  CHECK(answer.code == MUSTER_E_DEADLINE_EXCEEDED);
  CHECK(answer.details.at("hint") ==
        "~/.kube/config:3:32: user 'u' gets its credentials from it; it has 300 seconds, and no "
        "longer than the call: run it by hand to see what it waits for");
}

TEST_CASE("with provideClusterInfo the program is told all about the cluster") {
  const Answer answer = ask(
      "kubernetes", "{}",
      with("exec: {" + kV1 + "command: x, provideClusterInfo: true}",
           credential(R"({"token": "t-1"})"),
           "server: 'https://k:6443/', tls-server-name: kube, certificate-authority-data: Q0E=, "
           "proxy-url: 'http://p:3128', disable-compression: true, extensions: [{name: other, "
           "extension: 1}, "
           "{name: client.authentication.k8s.io/exec, extension: {audience: '06f3', n: 7, on: yes, "
           "list: [a, null, 1.5]}}]"));
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(
      answer.programs.at(0).environment.at("KUBERNETES_EXEC_INFO") ==
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":)"
      R"({"server":"https://k:6443/","tls-server-name":"kube","certificate-authority-data":"Q0E=",)"
      R"("proxy-url":"http://p:3128","disable-compression":true,)"
      R"("config":{"audience":"06f3","n":7,"on":true,"list":["a",null,1.5]}},"interactive":false}})");
}

TEST_CASE("a program's path with a slash is relative to the kubeconfig, a bare name is PATH's") {
  const auto program = [](const std::string& command) {
    return ask("kubernetes", "{}",
               with("exec: {" + kV1 + "command: " + command + "}",
                    credential(R"({"token": "t-1"})")))
        .programs.at(0)
        .arguments.at(0);
  };
  CHECK(program("name") == "name");
  CHECK(program("./bin/x") == "~/.kube/./bin/x");  // as written: '..' behind a link is the system's
  CHECK(program("/opt/x") == "/opt/x");
}

TEST_CASE("a kept credential serves until it expires, and one without expiry until it is refused") {
  World first =
      with("exec: {" + kV1 + "command: x}",
           credential(R"({"token": "t-1", "expirationTimestamp": "2026-01-31T13:01:00+01:00"})"));
  World soon = first, late = first;
  soon.time_s += 49;
  late.time_s += 51;  // ten seconds before: a request takes its time
  auto answers = ask_in_turn("kubernetes", "{}", {first, soon, late});
  CHECK(answers[0].programs.size() == 1);
  CHECK(answers[1].programs.empty());
  CHECK(sent(answers[1]) == "Bearer t-1");
  CHECK(answers[1].secrets.size() > 0);
  CHECK(answers[2].programs.size() == 1);

  World no_expiry = with("exec: {" + kV1 + "command: x}", credential(R"({"token": "t-1"})"));
  World years = no_expiry;
  years.time_s += 100'000'000;
  CHECK(ask_in_turn("kubernetes", "{}", {no_expiry, years})[1].programs.empty());
  World other = with("exec: {" + kV1 + "command: x, args: [b]}", credential(R"({"token": "t-2"})"));
  CHECK(ask_in_turn("kubernetes", "{}", {no_expiry, other})[1].programs.size() == 1);
  no_expiry.keep = false;
  CHECK(ask_in_turn("kubernetes", "{}", {no_expiry, no_expiry})[1].programs.size() == 1);
}

TEST_CASE("after a 401 the program is run once more, and the request sent once more") {
  World world = only(with("exec: {" + kV1 + "command: x}"), "t-2");
  const auto runs = std::make_shared<int>(0);
  world.run = [runs](const Program&) {
    return Run{0, credential(R"({"token": "t-)" + std::to_string(++*runs) + "\"}"), "", MUSTER_OK,
               ""};
  };
  const Answer answer = ask("kubernetes", "{}", world);
  CHECK(answer.code == MUSTER_OK);
  CHECK(answer.requests.size() == 2);

  *runs = 10;
  const Answer refused = ask("kubernetes", "{}", world);
  CHECK(refused.code == MUSTER_E_UNAUTHENTICATED);
  CHECK(refused.programs.size() == 2);
  CHECK(refused.requests.size() == 2);
}

TEST_CASE(
    "after a 401 a token file that was rotated meanwhile is read again, another is not tried "
    "twice") {
  World world = with("tokenFile: token");
  world.files["/home/user/.kube/token"] = "old";
  world.rotate = [](World& now) { now.files["/home/user/.kube/token"] = "new"; };
  const Answer rotated = ask("kubernetes", "{}", only(world, "new"));
  CHECK(rotated.code == MUSTER_OK);
  CHECK(rotated.requests.size() == 2);
  world.rotate = nullptr;
  const Answer same = ask("kubernetes", "{}", only(world, "new"));
  CHECK(same.code == MUSTER_E_UNAUTHENTICATED);
  CHECK(same.requests.size() == 1);
}

TEST_CASE("a service account's token that was rotated meanwhile is read again after a 401") {
  World world = with("");
  world.files.clear();
  world.variables = {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}, {"KUBERNETES_SERVICE_PORT", "443"}};
  const std::string token = "/var/run/secrets/kubernetes.io/serviceaccount/token";
  world.files[token] = "old";
  world.rotate = [token](World& now) { now.files[token] = "new"; };
  const Answer rotated = ask("kubernetes", "{}", only(world, "new"));
  CHECK(rotated.code == MUSTER_OK);
  CHECK(rotated.requests.size() == 2);
}

TEST_CASE("who has other credentials needs no program") {
  for (const char* other : {"token: t-1", "username: me, password: pass-word",
                            "client-certificate-data: Q0E=, client-key-data: Q0E="}) {
    CAPTURE(other);
    const Answer answer =
        ask("kubernetes", "{}", with(std::string(other) + ", exec: {" + kV1 + "command: x}"));
    CHECK(answer.code == MUSTER_OK);
    CHECK(answer.programs.empty());
  }
}

TEST_CASE(
    "the terminal is given as interactiveMode says, and a program that needs one is not run "
    "without") {
  const auto in = [](const std::string& mode, bool terminal) {
    World world =
        with("exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: x" + mode + "}",
             credential(R"({"token": "t-1"})", "v1beta1"));
    world.terminal = terminal;
    return ask("kubernetes", "{}", world);
  };
  CHECK(in("", true).programs.at(0).flags == MUSTER_PROCESS_TERMINAL);
  CHECK(in("", true)
            .programs.at(0)
            .environment.at("KUBERNETES_EXEC_INFO")
            .find(R"("interactive":true)") != std::string::npos);
  CHECK(in("", false).programs.at(0).flags == 0);
  CHECK(in(", interactiveMode: Never", true).programs.at(0).flags == 0);
  CHECK(in(", interactiveMode: Always", true).programs.at(0).flags == MUSTER_PROCESS_TERMINAL);
  const Answer none = in(", interactiveMode: Always", false);
  CHECK(none.code == MUSTER_E_FAILED_PRECONDITION);
  CHECK(
      none.message ==
      "~/.kube/config:3:32: user 'u': the program 'x' asks its user (interactiveMode: Always), and "
      "standard input is no terminal");
  CHECK(none.programs.empty());
}

TEST_CASE("a program that is not there is told with the entry's installHint") {
  World world = with("exec: {" + kV1 + "command: x, installHint: 'get x from example.org'}");
  world.run = nullptr;
  const Answer answer = ask("kubernetes", "{}", world);
  CHECK(answer.code == MUSTER_E_NOT_FOUND);
  CHECK(answer.message == "there is no program x");
  CHECK(answer.details.at("hint") ==
        "~/.kube/config:3:32: user 'u' gets its credentials from it\nget x from example.org");
}

TEST_CASE(
    "a program that fails, or prints no credential, is told without what it said and without its "
    "output") {
  World world = with("exec: {" + kV1 + "command: x}");
  world.run = [](const Program&) {
    return Run{3, "half-a-secret", "the token is a-secret\n", MUSTER_OK, ""};
  };
  const Answer failed = ask("kubernetes", "{}", world);
  CHECK(failed.code == MUSTER_E_UNAUTHENTICATED);
  CHECK(failed.message ==
        "~/.kube/config:3:32: user 'u': the program 'x' failed with exit status 3; what it says is "
        "not shown, for it was asked for a credential");
  CHECK(failed.secrets.back() == "half-a-secret");

  struct Case {
    std::string output, told;
  };
  for (const Case& wrong : {
           Case{"", "printed nothing"},
           Case{" \n", "printed nothing"},
           Case{"a-bare-token", "did not print an object, as JSON or YAML"},
           Case{"[]", "did not print an object, as JSON or YAML"},
           Case{R"({"kind": "ExecCredential", status: secret})",
                "did not print an object, as JSON or YAML"},
           Case{"kind: [secret", "did not print an object, as JSON or YAML"},
           Case{"kind: ExecCredential\nstatus: {token: secret}\n",
                "printed an ExecCredential of another apiVersion than "
                "'client.authentication.k8s.io/v1'"},
           Case{R"({"kind": "Pod"})", "did not print an ExecCredential"},
           Case{credential(R"({"token": "secret"})", "v1beta1"),
                "printed an ExecCredential of another apiVersion than "
                "'client.authentication.k8s.io/v1'"},
           Case{credential("null"), "printed an ExecCredential without status"},
           Case{credential("{}"),
                "printed an ExecCredential with neither token nor client certificate"},
           Case{credential(R"({"token": 3})"),
                "printed an ExecCredential whose status has a field that is no text"},
           Case{credential(R"({"clientKeyData": "secret"})"),
                "printed only one of clientCertificateData and clientKeyData"},
           Case{credential(R"({"token": "secret", "expirationTimestamp": "tomorrow"})"),
                "printed an expirationTimestamp that is no time (RFC 3339)"},
       }) {
    CAPTURE(wrong.output);
    const Answer answer =
        ask("kubernetes", "{}", with("exec: {" + kV1 + "command: x}", wrong.output));
    CHECK(answer.code == MUSTER_E_UNAUTHENTICATED);
    CHECK(answer.message == "~/.kube/config:3:32: user 'u': the program 'x' " + wrong.told);
    CHECK(answer.secrets.back() == wrong.output);
    CHECK(answer.everything_said().find("secret") == std::string::npos);
  }
  CHECK(ask("kubernetes", "{}",
            with("exec: {" + kV1 + "command: x}", credential(R"({"token": "a\nb"})")))
            .code == MUSTER_E_INVALID_ARGUMENT);
}

TEST_CASE("an exec that kubectl refuses is refused with its place") {
  const std::string place = "~/.kube/config:3:25: user 'u' has ";
  for (const auto& [exec, told] : std::map<std::string, std::string>{
           {kV1, "an exec without command"},
           {"command: x", "an exec without apiVersion"},
           {"command: x, apiVersion: client.authentication.k8s.io/v1alpha1",
            "an exec of apiVersion 'client.authentication.k8s.io/v1alpha1'; there are "
            "client.authentication.k8s.io/v1 and .../v1beta1"},
           {"command: x, apiVersion: client.authentication.k8s.io/v1",
            "an exec without interactiveMode, which is Never, IfAvailable or Always"},
           {"command: x, apiVersion: client.authentication.k8s.io/v1beta1, interactiveMode: no",
            "the interactiveMode 'no', which is none of Never, IfAvailable and Always"},
           {kV1 + "command: x, env: [{value: y}]", "an exec whose env has the name ''"}}) {
    const Answer answer = ask("kubernetes", "{}", with("exec: {" + exec + "}"));
    CHECK(answer.code == MUSTER_E_INVALID_ARGUMENT);
    CHECK(answer.message == place + told);
  }
}

TEST_CASE("an OIDC id-token is sent as it is, and one that expired is told with its time") {
  // {"exp": 1769860860}: a minute after the world's time
  const std::string token = "eyJhbGciOiJub25lIn0.eyJleHAiOjE3Njk4NjA4NjB9.c2ln";
  const std::string user = "auth-provider: {name: oidc, config: {id-token: " + token + "}}";
  World world = with(user);
  CHECK(sent(ask("kubernetes", "{}", world)) == "Bearer " + token);
  world.time_s += 60;
  const Answer expired = ask("kubernetes", "{}", world);
  CHECK(expired.code == MUSTER_E_UNAUTHENTICATED);
  CHECK(expired.message ==
        "~/.kube/config:3:25: user 'u': the id-token of its auth-provider expired at "
        "2026-01-31T12:01:00Z");
  CHECK(expired.requests.empty());
  // What is no such token is the server's to judge.
  CHECK(sent(ask("kubernetes", "{}",
                 with("auth-provider: {name: oidc, config: {id-token: opaque}}"))) ==
        "Bearer opaque");
}

TEST_CASE("an auth-provider that kubectl removed is told with what replaces it") {
  const auto of = [](const std::string& name) {
    return ask("kubernetes", "{}", with("auth-provider: {name: " + name + "}"));
  };
  CHECK(of("gcp").code == MUSTER_E_INVALID_ARGUMENT);
  CHECK(
      of("gcp").message ==
      "~/.kube/config:3:25: user 'u' has the auth-provider 'gcp', which kubectl too no longer has");
  CHECK(of("gcp").details.at("hint").find("gke-gcloud-auth-plugin") != std::string::npos);
  CHECK(of("azure").details.at("hint").find("kubelogin") != std::string::npos);
  CHECK(of("oidc").message.find("which has no id-token") != std::string::npos);
  CHECK(of("mine").message.find("which does not exist") != std::string::npos);
}

TEST_CASE("over plain http there is no program to run, and impersonation is sent all the same") {
  const Answer answer =
      ask("kubernetes", "{}",
          with("as: jane, exec: {" + kV1 + "command: x}", "", "server: 'http://k:80'"));
  CHECK(answer.code == MUSTER_OK);
  CHECK(answer.programs.empty());
  CHECK(answer.requests.at(0).headers.at("Impersonate-User") == "jane");
  CHECK(answer.requests.at(0).headers.count("Authorization") == 0);
}
