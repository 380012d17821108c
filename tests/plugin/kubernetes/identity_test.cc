// Which pod is this process? The kubernetes backend's evidence.
#include <doctest/doctest.h>

#include "plugins/support/base64.h"
#include "tests/plugin/kubernetes/api.h"

using fake::Answer;
using fake::ask;
using fake::lab;
using fake::World;

namespace {

constexpr const char* kToken = "/var/run/secrets/kubernetes.io/serviceaccount/token";

World two_pods() {
  return lab({{"job-name=tensorflow", {{"w-0", "10.8.0.1"}, {"w-1", "10.8.0.2"}}}});
}

// A service account's token with these claims; nobody here looks at the rest of it.
std::string token(const std::string& claims) {
  std::string payload = muster::support::base64_encode(claims);
  for (char& c : payload) c = c == '+' ? '-' : c == '/' ? '_' : c;
  while (!payload.empty() && payload.back() == '=') payload.pop_back();
  return "eyJhbGciOiJSUzI1NiJ9." + payload + ".c2lnbmF0dXJl";
}

// "w-1: evidence", one a line.
std::string identities(const World& world, const std::string& options = "{}") {
  std::string out;
  for (const auto& identity : ask("kubernetes", options, world).identities)
    out += (out.empty() ? "" : "\n") + identity.name + ": " + identity.evidence;
  return out;
}

}  // namespace

TEST_CASE("the service account's token says for which pod it was made, and is never told") {
  World world = two_pods();
  world.files[kToken] =
      token(
          R"({"kubernetes.io": {"namespace": "default", "pod": {"name": "w-1", "uid": "uid-w-1"}}})") +
      "\n";
  CHECK(identities(world) == "w-1: the service account's token has the uid of pod 'default/w-1'");
  const Answer answer = ask("kubernetes", "{}", world);
  CHECK(answer.everything_said().find("eyJ") == std::string::npos);
  CHECK(
      std::find(
          answer.secrets.begin(), answer.secrets.end(),
          token(
              R"({"kubernetes.io": {"namespace": "default", "pod": {"name": "w-1", "uid": "uid-w-1"}}})")) !=
      answer.secrets.end());

  world.files[kToken] =
      token(R"({"kubernetes.io": {"namespace": "default", "pod": {"name": "w-0"}}})");
  CHECK(identities(world) == "w-0: the service account's token has the name of pod 'default/w-0'");
  world.files[kToken] =
      token(R"({"kubernetes.io": {"namespace": "other", "pod": {"name": "w-0"}}})");
  CHECK(identities(world) == "");
}

TEST_CASE("a token that says nothing of a pod is no evidence and no error") {
  for (const std::string& text :
       {std::string(""), std::string("abc"), std::string("a.b"), std::string("a.!!.c"), token("[]"),
        token("{}"), token(R"({"kubernetes.io": {"pod": "w-1"}})"),
        token(R"({"kubernetes.io": {"pod": {"uid": 3}}})")}) {
    CAPTURE(text);
    World world = two_pods();
    world.files[kToken] = text;
    CHECK(identities(world) == "");
    CHECK(ask("kubernetes", "{}", world).code == MUSTER_OK);
  }
}

TEST_CASE("the downward API's files are evidence where the options name their folder") {
  World world = two_pods();
  world.files["/etc/podinfo/name"] = "w-1\n";
  world.files["/etc/podinfo/namespace"] = "default\n";
  CHECK(identities(world) == "");
  CHECK(identities(world, R"({"pod_info": "/etc/podinfo"})") ==
        "w-1: pod_info has the name of pod 'default/w-1'");
  world.files["/etc/podinfo/uid"] = "uid-w-1";
  CHECK(identities(world, R"({"pod_info": "/etc/podinfo"})") ==
        "w-1: pod_info has the uid of pod 'default/w-1'\nw-1: pod_info has the name of pod "
        "'default/w-1'");
  const auto wrong = ask("kubernetes", R"({"pod_info": "/nowhere"})", world);
  CHECK(wrong.warnings ==
        std::vector<std::string>{"'pod_info' is '/nowhere', and there is neither a file 'uid' nor "
                                 "'name', nor one 'labels' with a place"});
}

TEST_CASE(
    "the downward API's labels are evidence: a StatefulSet's name, or an index with whose it is") {
  const auto pod = [](const char* name, const char* ip, const char* uid, const char* index) {
    fake::PodText text{name, ip};
    text.labels = {{"batch.kubernetes.io/job-completion-index", index},
                   {"training.kubeflow.org/replica-index", index},
                   {"training.kubeflow.org/replica-type", "worker"}};
    text.metadata =
        std::string(
            R"("ownerReferences": [{"controller": true, "kind": "PyTorchJob", "name": "train", "uid": ")") +
        uid + R"("}])";
    return text;
  };
  World world = lab({{"job-name=tensorflow",
                      {pod("w-0", "10.8.0.1", "u1", "0"), pod("w-1", "10.8.0.2", "u1", "1")}}});
  const std::string options = R"({"pod_info": "/etc/podinfo"})";
  const auto with = [&](const std::string& labels) {
    world.files["/etc/podinfo/labels"] = labels;
    return identities(world, options);
  };
  const std::string index = "batch.kubernetes.io/job-completion-index=\"1\"\n";
  CHECK(with("app=\"t\"\nstatefulset.kubernetes.io/pod-name=\"w-0\"\n") ==
        "w-0: pod_info's labels have the name of pod 'default/w-0'");
  const std::string place = "w-1: pod_info's labels have the place of pod 'default/w-1'";
  CHECK(with(index + "batch.kubernetes.io/controller-uid=\"u1\"") == place);
  CHECK(with(index + "batch.kubernetes.io/controller-uid=\"u2\"") == "");
  CHECK(with("training.kubeflow.org/replica-index=\"1\"\ntraining.kubeflow.org/"
             "replica-type=\"worker\"\n"
             "training.kubeflow.org/job-name=\"train\"\n") == place);
  CHECK(with("training.kubeflow.org/replica-index=\"1\"\ntraining.kubeflow.org/"
             "replica-type=\"master\"\n"
             "training.kubeflow.org/job-name=\"train\"\n") == "");
  // An index alone may be that of any job.
  CHECK(with(index) == "");
  for (const char* odd : {"", "=", "\"", "a=\"", "a=\"b", "=\"\"",
                          "batch.kubernetes.io/job-completion-index=\"x\"\n"}) {
    CAPTURE(odd);
    CHECK(with(odd) == "");
  }
}

TEST_CASE("each piece of evidence is told, in its order, so that the core sees what disagrees") {
  World world = two_pods();
  world.variables = {{"POD_UID", "uid-w-1"},
                     {"POD_NAME", "w-1"},
                     {"POD_IP", "10.8.0.2"},
                     {"HOSTNAME", "w-0"},
                     {"KUBERNETES_SERVICE_HOST", "10.0.0.1"}};
  CHECK(identities(world) ==
        "w-1: POD_UID is the uid of pod 'default/w-1'\n"
        "w-1: POD_NAME is the name of pod 'default/w-1'\n"
        "w-1: POD_IP is the address of pod 'default/w-1'\n"
        "w-0: HOSTNAME is the host name of pod 'default/w-0'");
}
