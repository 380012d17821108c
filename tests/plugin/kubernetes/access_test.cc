// How the kubernetes backend reaches a server: kubeconfig and service account, through its built plugin.
#include <doctest/doctest.h>

#include "tests/plugin/kubernetes/api.h"

using fake::Answer;
using fake::ask;
using fake::lab;
using fake::World;

namespace {

// A kubeconfig with these bodies of cluster and user.
std::string kubeconfig(const std::string& cluster, const std::string& user,
                       const std::string& context = "") {
  return "current-context: c\nclusters: [{name: k, cluster: {" + cluster +
         "}}]\nusers: [{name: u, user: {" + user +
         "}}]\ncontexts: [{name: c, context: {cluster: k, user: u" + context + "}}]\n";
}

Answer ask_with(const std::string& cluster, const std::string& user,
                const std::string& options = "{}") {
  World world = lab({{"job-name=tensorflow", {{"w-0"}}}});
  world.files["/home/user/.kube/config"] = kubeconfig(cluster, user);
  world.files["/home/user/.kube/cert.pem"] = "CERT";
  world.files["/home/user/.kube/key.pem"] = "THE-KEY";
  world.files["/home/user/.kube/token"] = "file-token\n";
  // "~" stays in the names, as the environment's files understand it.
  return ask("kubernetes", options, world);
}

constexpr const char* kServer = "server: 'https://k:6443'";

}  // namespace

TEST_CASE("client certificate, authority, server name, proxy and a path prefix reach the request") {
  const auto answer = ask_with(
      "server: 'https://k:6443/k8s/clusters/c-1/', certificate-authority-data: Q0E=, "
      "tls-server-name: kube, proxy-url: 'http://p:3128'",
      "client-certificate: cert.pem, client-key-data: 'VEhF\n\n  LUtFWQ=='");
  REQUIRE(answer.code == MUSTER_OK);
  const auto& request = answer.requests.at(0);
  CHECK(request.url.rfind("https://k:6443/k8s/clusters/c-1/api/v1/namespaces/default/pods?", 0) ==
        0);
  CHECK(request.ca_pem == "CA");
  CHECK(request.certificate_pem == "CERT");
  CHECK(request.key_pem == "THE-KEY");
  CHECK(request.server_name == "kube");
  CHECK(request.proxy_url == "http://p:3128");
  CHECK(request.flags == 0);
  CHECK(answer.secrets.size() >= 2);  // the key, and its base64
}

TEST_CASE("a token file wins over a token, and basic and impersonation are sent as headers") {
  CHECK(ask_with(kServer, "token: inline-token, tokenFile: token")
            .requests.at(0)
            .headers.at("Authorization") == "Bearer file-token");
  CHECK(ask_with(kServer, "token: inline-token, tokenFile: none")
            .requests.at(0)
            .headers.at("Authorization") == "Bearer inline-token");
  const auto basic = ask_with(
      kServer,
      "username: me, password: pass-word, as: jane, as-uid: '7', as-user-extra: {a/b: [x]}");
  CHECK(basic.requests.at(0).headers.at("Authorization") == "Basic bWU6cGFzcy13b3Jk");
  CHECK(basic.requests.at(0).headers.at("Impersonate-User") == "jane");
  CHECK(basic.requests.at(0).headers.at("Impersonate-Uid") == "7");
  CHECK(basic.requests.at(0).headers.at("Impersonate-Extra-a%2Fb") == "x");
  CHECK(basic.everything_said().find("pass-word") == std::string::npos);
}

TEST_CASE(
    "a server is not asked to compress where the way to it is short, or the kubeconfig says so") {
  const auto encoding = [](const std::string& cluster) -> std::string {
    const auto headers = ask_with(cluster, "").requests.at(0).headers;
    const auto found = headers.find("Accept-Encoding");
    return found == headers.end() ? "" : found->second;
  };
  CHECK(encoding(kServer).empty());
  CHECK(encoding("server: 'https://localhost.example:6443'").empty());
  CHECK(encoding("server: 'https://k:6443', disable-compression: true") == "identity");
  for (const char* here : {"https://127.0.0.1:6443/k8s", "https://[::1]:6443", "https://localhost",
                           "https://localhost:6443"})
    CHECK(encoding("server: '" + std::string(here) + "'") == "identity");
}

TEST_CASE("plain http gets no credentials") {
  const auto answer = ask_with("server: 'http://k:8080'", "token: inline-token");
  CHECK(answer.code == MUSTER_OK);
  CHECK(answer.requests.at(0).headers.count("Authorization") == 0);
}

TEST_CASE(
    "a server without a scheme is reached by http, and a query or fragment of it does not count") {
  const auto plain = ask_with("server: 'k:6443', insecure-skip-tls-verify: true", "token: t-1");
  CHECK(plain.requests.at(0).url.rfind("http://k:6443/api/v1/", 0) == 0);
  CHECK(plain.requests.at(0).headers.count("Authorization") == 0);
  CHECK(ask_with("server: 'https://k:6443/pre/?q#f'", "")
            .requests.at(0)
            .url.rfind("https://k:6443/pre/api/v1/", 0) == 0);
  CHECK(ask_with("server: 'https://k', insecure-skip-tls-verify: true", "").requests.at(0).flags ==
        MUSTER_HTTP_INSECURE);
}

TEST_CASE("a kubeconfig that contradicts itself is told with its place") {
  struct Case {
    const char* cluster;
    const char* user;
    const char* told;
  };
  for (const Case& wrong :
       {Case{"", "", "~/.kube/config:2:31: cluster 'k' has no server"},
        Case{"server: k, certificate-authority: a, certificate-authority-data: b", "",
             "~/.kube/config:2:31: cluster 'k' has both certificate-authority and "
             "certificate-authority-data; leave one out"},
        Case{"server: k, certificate-authority: a, insecure-skip-tls-verify: true", "",
             "~/.kube/config:2:31: cluster 'k' has a certificate authority and "
             "insecure-skip-tls-verify; leave one out"},
        Case{kServer, "client-certificate: a, client-certificate-data: b",
             "~/.kube/config:3:25: user 'u' has both client-certificate and "
             "client-certificate-data; leave one out"},
        Case{kServer, "client-certificate: cert.pem",
             "~/.kube/config:3:25: user 'u' has a client certificate without its client-key"},
        Case{kServer, "exec: {command: x}, auth-provider: {name: gcp}",
             "~/.kube/config:3:25: user 'u' has both exec and auth-provider; leave one out"},
        Case{kServer, "token: t, username: u",
             "~/.kube/config:3:25: user 'u' has both a token and a username; leave one out"},
        Case{kServer, "as-uid: x",
             "~/.kube/config:3:25: user 'u' says as-uid, as-groups or as-user-extra without as"},
        Case{"server: 'https://k', certificate-authority-data: '*'", "",
             "~/.kube/config:2:31: certificate-authority-data is not base64"},
        Case{"server: 'https://k', proxy-url: 'p:3128'", "",
             "~/.kube/config:2:31: the proxy-url of cluster 'k' is none of http://, https:// and "
             "socks5://"},
        Case{"server: ['k']", "", "~/.kube/config:2:40: 'server' is a text"},
        Case{"server: 'ftp://k'", "",
             "~/.kube/config:2:31: server 'ftp://k' of cluster 'k' is neither https nor http"}}) {
    CAPTURE(wrong.told);
    const auto answer = ask_with(wrong.cluster, wrong.user);
    CHECK(answer.code == MUSTER_E_INVALID_ARGUMENT);
    CHECK(answer.message == wrong.told);
  }
}

TEST_CASE("what is no kubeconfig is told with line and column, and never crashes") {
  for (const std::string text :
       {"clusters: {", "- a\n", "clusters: 3", "clusters: [3]", "clusters: [{cluster: {}}]", "\t",
        "a: b: c", "users: [{name: u}, {name: u}]", "a: &x [*x]",
        "contexts: [{name: c, context: 3}]", "\xff"}) {
    CAPTURE(text);
    World world = lab({});
    world.files["/home/user/.kube/config"] = text;
    const auto answer = ask("kubernetes", "{}", world);
    CHECK(answer.code == MUSTER_E_INVALID_ARGUMENT);
    CHECK(answer.message.find(".kube/config") != std::string::npos);
  }
}

TEST_CASE("the files of KUBECONFIG are merged: the first that has an entry wins") {
  World world = lab({{"job-name=tensorflow", {{"w-0"}}}});
  world.files.clear();
  world.variables["KUBECONFIG"] = "/a::/missing:/b";
  world.files["/a"] = "current-context: c\nusers: [{name: u, user: {token: first-token}}]\n";
  world.files["/b"] = kubeconfig(kServer, "token: second-token", ", namespace: ml");
  const auto answer = ask("kubernetes", "{}", world);
  CHECK(answer.requests.at(0).headers.at("Authorization") == "Bearer first-token");
  CHECK(answer.requests.at(0).url.find("/namespaces/ml/pods?") != std::string::npos);
}

TEST_CASE("a context is chosen by option, and an unknown one is told with those that there are") {
  World world = lab({{"job-name=tensorflow", {{"w-0"}}}});
  world.files["/k"] = kubeconfig(kServer, "");
  CHECK(ask("kubernetes", R"({"kubeconfig": "/k", "context": "c"})", world).code == MUSTER_OK);
  const auto unknown = ask("kubernetes", R"({"kubeconfig": "/k", "context": "d"})", world);
  CHECK(unknown.code == MUSTER_E_INVALID_ARGUMENT);
  CHECK(unknown.message == "/k: the kubeconfig has no context 'd'; it has 'c'");
  CHECK(unknown.details.at("option") == "/context");
}

namespace {

// A pod with a service account, and nothing at home.
World pod() {
  World world = lab({{"job-name=tensorflow", {{"w-0"}}}});
  world.files.clear();
  const std::string account = "/var/run/secrets/kubernetes.io/serviceaccount/";
  world.variables = {{"KUBERNETES_SERVICE_HOST", "fd00::1"}, {"KUBERNETES_SERVICE_PORT", "443"}};
  world.files[account + "token"] = "pod-token\n";
  world.files[account + "ca.crt"] = "CLUSTER-CA";
  world.files[account + "namespace"] = "ml\n";
  return world;
}

std::string url_in(const World& world, const std::string& options = "{}") {
  const auto answer = ask("kubernetes", options, world);
  return answer.requests.empty() ? answer.message : answer.requests[0].url;
}

constexpr const char* kWithin = "https://[fd00::1]:443/api/v1/namespaces/";
constexpr const char* kHome = "https://home:6443/api/v1/namespaces/";

}  // namespace

TEST_CASE("inside a pod without a kubeconfig its service account is used, with its namespace") {
  World world = pod();
  const auto answer = ask("kubernetes", "{}", world);
  const auto& request = answer.requests.at(0);
  CHECK(request.url.rfind(std::string(kWithin) + "ml/pods?", 0) == 0);
  CHECK(request.headers.at("Authorization") == "Bearer pod-token");
  CHECK(request.headers.at("Accept-Encoding") == "identity");
  CHECK(request.ca_pem == "CLUSTER-CA");
  CHECK(url_in(world, R"({"namespace": "x"})").rfind(std::string(kWithin) + "x/pods?", 0) == 0);
  world.variables["POD_NAMESPACE"] = "own";
  CHECK(url_in(world).rfind(std::string(kWithin) + "own/pods?", 0) == 0);
}

TEST_CASE(
    "inside a pod a kubeconfig that has a context goes before the service account, as to kubectl") {
  World world = pod();
  const std::string config = kubeconfig("server: 'https://home:6443'", "token: t-1");
  world.files["/home/user/.kube/config"] = config;
  // Its context names no namespace: the pod's own.
  CHECK(url_in(world).rfind(std::string(kHome) + "ml/pods?", 0) == 0);
  CHECK(url_in(world, R"({"executable_location": "off_cluster"})").rfind(kHome, 0) == 0);
  CHECK(url_in(world, R"({"executable_location": "within_cluster"})").rfind(kWithin, 0) == 0);
  world.variables["KUBECONFIG"] = "/none";
  CHECK(url_in(world).rfind(kWithin, 0) == 0);
  world.files["/k"] = config;
  world.variables["KUBECONFIG"] = "/k";
  CHECK(url_in(world).rfind(kHome, 0) == 0);
  world.files["/k"] = config.substr(config.find('\n') + 1);  // no current-context
  CHECK(url_in(world).rfind(kWithin, 0) == 0);
  CHECK(url_in(world, R"({"context": "c"})").rfind(kHome, 0) == 0);
  world.files["/k"] = "";
  CHECK(url_in(world).rfind(kWithin, 0) == 0);
}

TEST_CASE(
    "a home that a pod's user may not read is no kubeconfig, and one that is named is an error") {
  World world = pod();
  world.unreadable["/home/user/.kube/config"] = MUSTER_E_PERMISSION_DENIED;
  CHECK(url_in(world).rfind(kWithin, 0) == 0);
  world.variables["KUBECONFIG"] = "/home/user/.kube/config";
  CHECK(url_in(world) == "the kubeconfig '/home/user/.kube/config' is there, but cannot be read");
}

TEST_CASE("a failure of TLS names the entries that say how to do it") {
  World world = lab({});
  world.serve = [](const fake::Request&) {
    fake::Response response;
    response.code = MUSTER_E_FAILED_PRECONDITION;
    response.message = "the certificate is not for 'k'";
    return response;
  };
  world.files["/home/user/.kube/config"] = kubeconfig(kServer, "");
  const auto answer = ask("kubernetes", "{}", world);
  CHECK(answer.code == MUSTER_E_FAILED_PRECONDITION);
  CHECK(answer.details.at("hint") ==
        "TLS and proxy are said in cluster 'k' (~/.kube/config:2:31) and user 'u' "
        "(~/.kube/config:3:25)");
}

TEST_CASE("where there is neither service account nor kubeconfig a chain goes on") {
  const auto nothing = ask("kubernetes", "{}");
  CHECK(nothing.code == MUSTER_E_FAILED_PRECONDITION);
  CHECK(nothing.message ==
        "not in a pod: KUBERNETES_SERVICE_HOST is not set; and there is no kubeconfig: "
        "'~/.kube/config' (the default) does "
        "not exist");
  CHECK(ask("kubernetes", R"({"executable_location": "within_cluster"})").code ==
        MUSTER_E_FAILED_PRECONDITION);
  const auto named = ask("kubernetes", R"({"kubeconfig": "/none"})");
  CHECK(named.code == MUSTER_E_NOT_FOUND);
  CHECK(named.details.at("option") == "/kubeconfig");
}

TEST_CASE("options that contradict each other are told before anything is asked") {
  CHECK(ask("kubernetes", R"({"all_namespaces": true, "namespace": "x"})").details.at("option") ==
        "/namespace");
  CHECK_FALSE(
      ask("kubernetes", R"({"executable_location": "within_cluster", "context": "x"})").created);
}
