// The kubernetes backend's members, ranks, identity and pages, through its built plugin.
#include <doctest/doctest.h>

#include "tests/plugin/kubernetes/api.h"

using fake::Answer;
using fake::ask;
using fake::lab;
using fake::list_json;
using fake::PodText;
using fake::query;
using fake::Request;
using fake::Response;
using fake::status_json;
using fake::World;

namespace {

constexpr const char* kIndex = "batch.kubernetes.io/job-completion-index";

const std::string kTwoJobs = R"({"job_to_label_mapping": {"worker": ["app=w"], "ps": ["app=p"]}})";

// A list of one running pod. All of it is short: each length is one byte.
std::string protobuf_list(const std::string& name, const std::string& ip) {
  const auto field = [](char number, const std::string& value) {
    return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(value.size())} + value;
  };
  const std::string pod = field(1, field(1, name)) + field(3, field(1, "Running") + field(6, ip));
  return std::string("k8s\0", 4) + field(1, field(1, "v1") + field(2, "PodList")) +
         field(2, field(2, pod));
}

}  // namespace

TEST_CASE("running pods are tasks with the pod's address, and the core ranks them by name") {
  const auto answer =
      ask("kubernetes", "{}",
          lab({{"job-name=tensorflow", {{"worker-10", "10.8.0.10"}, {"worker-2", "fd00::2"}}}}));

  CHECK(answer.code == MUSTER_OK);
  CHECK(answer.cluster() == "worker:worker-10=10.8.0.10:8470 worker:worker-2=[fd00::2]:8470");
  CHECK(answer.attributes.at("rpc_layer") == "grpc");
  CHECK(answer.tasks[0].attributes.at("uid") == "uid-worker-10");
  CHECK(answer.tasks[0].attributes.at("host") == "node-7");
  CHECK(answer.tasks[0].attributes.at("namespace") == "default");
  REQUIRE(answer.requests.size() == 1);
  CHECK(answer.requests[0].url ==
        "https://api.test:6443/api/v1/namespaces/default/"
        "pods?labelSelector=job-name%3Dtensorflow&limit=500");
  CHECK(answer.requests[0].headers.at("Authorization") == "Bearer s3cret-token");
  CHECK(answer.secrets.at(0) == "s3cret-token");
  CHECK(answer.everything_said().find("s3cret") == std::string::npos);
}

TEST_CASE("a platform's index is the rank, and one that is not there leaves a gap") {
  for (const char* label :
       {kIndex, "apps.kubernetes.io/pod-index", "training.kubeflow.org/replica-index"}) {
    const auto answer = ask("kubernetes", R"({"job_to_label_mapping": {"worker": "app=w"}})",
                            lab({{"app=w",
                                  {{"b-x7k2p", "10.8.0.2", "Running", {{label, "3"}}},
                                   {"a-9d8f7", "10.8.0.1", "Running", {{label, "1"}}}}}}));
    CHECK(answer.cluster() == "worker:1=10.8.0.1:8470 worker:3=10.8.0.2:8470");
  }
}

TEST_CASE("several selectors are one after the other, each in its own order") {
  const auto answer =
      ask("kubernetes", R"({"job_to_label_mapping": {"worker": ["app=b", "app=a", "app=i"]}})",
          lab({{"app=b", {{"b-10", "10.8.0.10"}, {"b-2", "10.8.0.2"}}},
               {"app=a", {{"a-1", "10.8.0.1"}}},
               {"app=i",
                {{"x", "10.8.1.1", "Running", {{kIndex, "1"}}},
                 {"y", "10.8.1.0", "Running", {{kIndex, "0"}}}}}}));
  CHECK(answer.cluster() ==
        "worker:0=10.8.0.2:8470 worker:1=10.8.0.10:8470 worker:2=10.8.0.1:8470 "
        "worker:3=10.8.1.0:8470 "
        "worker:4=10.8.1.1:8470");
}

TEST_CASE("a selector over several jobs of a JobSet ranks them by the set's own order of jobs") {
  const auto pod = [](const char* role, const char* global, const char* index, const char* ip) {
    return PodText{std::string(role) + "-" + index,
                   ip,
                   "Running",
                   {{"jobset.sigs.k8s.io/replicatedjob-name", role},
                    {"jobset.sigs.k8s.io/job-index", "0"},
                    {"jobset.sigs.k8s.io/job-global-index", global},
                    {kIndex, index}}};
  };
  const auto answer = ask("kubernetes", R"({"job_to_label_mapping": {"worker": "set=s"}})",
                          lab({{"set=s",
                                {pod("a", "1", "0", "10.8.0.2"), pod("a", "1", "1", "10.8.0.3"),
                                 pod("z", "0", "0", "10.8.0.1")}}}));
  CHECK(answer.cluster() == "worker:0=10.8.0.1:8470 worker:1=10.8.0.2:8470 worker:2=10.8.0.3:8470");
}

TEST_CASE("a pod that is not ready to be a task is missing, with the reason in words") {
  const auto answer = ask(
      "kubernetes", R"({"job_to_label_mapping": {"worker": "app=w"}})",
      lab({{"app=w",
            {{"w-0", "10.8.0.1"},
             {"w-1",
              "",
              "Pending",
              {},
              "",
              "",
              R"("conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "Insufficient google.com/tpu"}])"},
             {"w-2",
              "",
              "Pending",
              {},
              "",
              "",
              R"("containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}])"},
             {"w-3", "10.8.0.3", "Running", {}, R"("deletionTimestamp": "2026-02-11T11:14:15Z")"},
             {"w-4",
              "",
              "Failed",
              {},
              "",
              "",
              R"("reason": "Evicted", "message": "low on memory")"},
             {"w-5",
              "",
              "Failed",
              {},
              "",
              "",
              R"("containerStatuses": [{"state": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}}])"},
             {"w-6", "", "Running"},
             {"w-7", "", "Pending"},
             {"w-8", "10.8.0.8", "Succeeded"}}}}));
  CHECK(answer.cluster() == "worker:w-0=10.8.0.1:8470");
  CHECK(answer.missing_text() ==
        "worker w-1 (Pending: Insufficient google.com/tpu)\n"
        "worker w-2 (Pending: ImagePullBackOff: no such image)\n"
        "worker w-3 (being deleted, due at 2026-02-11T11:14:15Z)\n"
        "worker w-4 (Failed: Evicted: low on memory)\n"
        "worker w-5 (Failed: OOMKilled, exit code 137)\n"
        "worker w-6 (Running, but it has no IP address yet)\n"
        "worker w-7 (Pending: starting on node-7)");
}

TEST_CASE("of several pods with one index the newest live one counts") {
  const auto pod = [](const char* name, const char* ip, const char* phase, const char* metadata) {
    return PodText{name, ip, phase, {{kIndex, "0"}}, metadata};
  };
  const auto answer = ask(
      "kubernetes", R"({"job_to_label_mapping": {"worker": "app=w"}})",
      lab({{"app=w",
            {pod("w-0-a", "10.8.0.1", "Running",
                 R"("creationTimestamp": "2026-01-01T00:00:00Z", "deletionTimestamp": "2026-01-02T00:00:00Z")"),
             pod("w-0-b", "10.8.0.2", "Running", R"("creationTimestamp": "2026-01-01T00:00:01Z")"),
             pod("w-0-c", "", "Failed", R"("creationTimestamp": "2026-01-03T00:00:00Z")")}}}));
  CHECK(answer.cluster() == "worker:0=10.8.0.2:8470");
  CHECK(answer.missing.empty());
  CHECK(answer.warnings.empty());
}

TEST_CASE(
    "a pod that matches two selectors counts once within a job, and is an error across jobs") {
  const std::vector<PodText> one = {{"w-0", "10.8.0.1"}};
  const auto within = ask("kubernetes", R"({"job_to_label_mapping": {"worker": ["a", "b"]}})",
                          lab({{"a", one}, {"b", one}}));
  CHECK(within.cluster() == "worker:0=10.8.0.1:8470");

  const auto across =
      ask("kubernetes", R"({"job_to_label_mapping": {"worker": ["a"], "ps": ["b"]}})",
          lab({{"a", one}, {"b", one}}));
  CHECK(across.code == MUSTER_E_INVALID_ARGUMENT);
  CHECK(across.message ==
        "pod 'default/w-0' matches the selectors of both job 'worker' and job 'ps', and can be a "
        "task of one alone");
  CHECK(across.details.at("option") == "/job_to_label_mapping/ps");

  const auto same = ask("kubernetes", R"({"job_to_label_mapping": {"worker": ["a"], "ps": ["a"]}})",
                        lab({{"a", {}}}));
  CHECK(same.requests.size() == 1);
}

TEST_CASE("pods of one name in two namespaces are two, in one job and across jobs") {
  const World world = lab({{"a", {{"w-0", "10.8.0.1"}}},
                           {"b", {{"w-0", "10.8.0.2", "Running", {}, R"("namespace": "other")"}}}});
  const auto within =
      ask("kubernetes",
          R"({"all_namespaces": true, "job_to_label_mapping": {"worker": ["a", "b"]}})", world);
  CHECK(within.cluster() == "worker:0=10.8.0.1:8470 worker:1=10.8.0.2:8470");
  const auto across = ask(
      "kubernetes",
      R"({"all_namespaces": true, "job_to_label_mapping": {"worker": ["a"], "ps": ["b"]}})", world);
  CHECK(across.cluster() == "worker:default/w-0=10.8.0.1:8470 ps:other/w-0=10.8.0.2:8470");
}

TEST_CASE("nothing at all lets a chain go on; one empty job is told") {
  const auto nothing = ask("kubernetes", kTwoJobs, lab({}));
  CHECK(nothing.code == MUSTER_E_NOT_FOUND);
  CHECK(nothing.message ==
        "no pod in namespace 'default' matches 'app=p', 'app=w' (context 'lab' of ~/.kube/config, "
        "server "
        "https://api.test:6443)");
  CHECK(nothing.details.at("hint") == "kubectl get pods -n default -l 'app=p'");

  const auto half = ask("kubernetes", kTwoJobs, lab({{"app=w", {{"w-0"}}}}));
  CHECK(half.code == MUSTER_OK);
  CHECK(half.jobs == std::vector<std::string>{"worker", "ps"});
  CHECK(half.warnings == std::vector<std::string>{"no pod matches the selectors of job 'ps'"});
}

TEST_CASE("devices of a pod's containers are its accelerators") {
  const auto answer = ask(
      "kubernetes", R"({"job_to_label_mapping": {"worker": "app=w"}})",
      lab({{"app=w",
            {{"w-0",
              "10.8.0.1",
              "Running",
              {},
              "",
              R"("containers": [{"resources": {"limits": {"nvidia.com/gpu": "2", "memory": "9Gi"}}}, {"resources": {"limits": {"nvidia.com/gpu": "1"}}}, {"name": "x"}])"},
             {"w-1",
              "10.8.0.2",
              "Running",
              {},
              "",
              R"("containers": [{"resources": {"limits": {"google.com/tpu": "4"}}}])"}}}}));
  CHECK(answer.tasks.at(0).attributes.at("accelerator.type") == "GPU");
  CHECK(answer.tasks.at(0).attributes.at("accelerator.count") == "3");
  CHECK(answer.tasks.at(1).attributes.at("accelerator.type") == "TPU");
  CHECK(answer.tasks.at(1).attributes.at("accelerator.count") == "4");
}

TEST_CASE("this pod is known by POD_UID, POD_NAME, POD_IP or, inside the cluster, by HOSTNAME") {
  const auto identity = [](const std::string& name, const std::string& value, bool within = false) {
    World world = lab({{"job-name=tensorflow", {{"w-0", "10.8.0.1"}, {"w-1", "10.8.0.2"}}}});
    world.variables[name] = value;
    if (within) world.variables["KUBERNETES_SERVICE_HOST"] = "10.0.0.1";
    const auto answer = ask("kubernetes", "{}", world);
    return answer.identities.empty()
               ? "none"
               : answer.identities[0].name + ": " + answer.identities[0].evidence;
  };
  CHECK(identity("POD_UID", "uid-w-1") == "w-1: POD_UID is the uid of pod 'default/w-1'");
  CHECK(identity("POD_NAME", "w-1") == "w-1: POD_NAME is the name of pod 'default/w-1'");
  CHECK(identity("POD_IP", "10.8.0.2") == "w-1: POD_IP is the address of pod 'default/w-1'");
  CHECK(identity("HOSTNAME", "w-1", true) == "w-1: HOSTNAME is the host name of pod 'default/w-1'");
  CHECK(identity("HOSTNAME", "w-1") == "none");
  CHECK(identity("POD_NAME", "other") == "none");
}

TEST_CASE("inside the cluster, and without HOSTNAME, this pod is known by the host's own name") {
  const auto identity = [](bool within, const std::string& variable) {
    World world = lab({{"job-name=tensorflow", {{"w-0", "10.8.0.1"}, {"w-1", "10.8.0.2"}}}});
    world.hostname = "w-1";
    if (within) world.variables["KUBERNETES_SERVICE_HOST"] = "10.0.0.1";
    if (!variable.empty()) world.variables["HOSTNAME"] = variable;
    const auto answer = ask("kubernetes", "{}", world);
    return answer.identities.empty()
               ? "none"
               : answer.identities[0].name + ": " + answer.identities[0].evidence;
  };
  CHECK(identity(true, "") == "w-1: this host has the host name of pod 'default/w-1'");
  CHECK(identity(true, "w-0") == "w-0: HOSTNAME is the host name of pod 'default/w-0'");
  CHECK(identity(false, "") == "none");

  World elsewhere = lab({{"job-name=tensorflow", {{"w-0", "10.8.0.1"}}}});
  elsewhere.variables = {{"POD_NAME", "w-0"}, {"POD_NAMESPACE", "other"}};
  CHECK(ask("kubernetes", "{}", elsewhere).identities.empty());
}

TEST_CASE("every page is followed, also an empty one, with selector and limit on each") {
  World world = lab({});
  world.serve = [](const Request& request) {
    Response response;
    const std::string next = query(request.url, "continue");
    if (next.empty()) response.body = list_json({{"w-0", "10.8.0.1"}}, "to/ken==");
    if (next == "to/ken==") response.body = list_json({}, "two");
    if (next == "two") response.body = list_json({{"w-1", "10.8.0.2"}});
    return response;
  };
  const auto answer = ask("kubernetes", R"({"page_size": 1})", world);
  CHECK(answer.cluster() == "worker:w-0=10.8.0.1:8470 worker:w-1=10.8.0.2:8470");
  REQUIRE(answer.requests.size() == 3);
  for (const Request& request : answer.requests) {
    CHECK(query(request.url, "labelSelector") == "job-name=tensorflow");
    CHECK(query(request.url, "limit") == "1");
    CHECK(query(request.url, "resourceVersion") == "");
  }
}

TEST_CASE("a list that grew too old is begun again, and pages of two moments are never mixed") {
  World world = lab({});
  int lists = 0;
  world.serve = [&](const Request& request) {
    Response response;
    if (query(request.url, "continue").empty()) {
      ++lists;
      if (query(request.url, "limit").empty()) {
        response.body = list_json({{"all-0", "10.8.9.1"}, {"all-1", "10.8.9.2"}});
      } else {
        response.body = list_json({{"old-" + std::to_string(lists), "10.8.0.1"}}, "next");
      }
      return response;
    }
    return status_json(410, "Expired", "The provided continue parameter is too old");
  };
  const auto answer = ask("kubernetes", "{}", world);
  CHECK(answer.cluster() == "worker:all-0=10.8.9.1:8470 worker:all-1=10.8.9.2:8470");
  CHECK(lists == 4);
}

TEST_CASE("a page that breaks off is asked for again, and none of its pods counts twice") {
  World world = lab({});
  int broken = 0, breaks = 2;
  world.serve = [&](const Request& request) {
    Response response;
    if (query(request.url, "continue").empty()) {
      response.body = list_json({{"w-0", "10.8.0.1"}}, "two");
    } else {
      response.body = list_json({{"w-1", "10.8.0.2"}});
      if (broken < breaks) {
        ++broken;
        response.broken = true;  // when this pod has been read already
        response.body = protobuf_list("w-1", "10.8.0.2");
        response.code = MUSTER_E_UNAVAILABLE;
        response.message = "the body was cut off";
      }
    }
    return response;
  };
  const auto answer = ask("kubernetes", "{}", world);
  CHECK(answer.code == MUSTER_OK);
  CHECK(answer.message == "");
  CHECK(answer.cluster() == "worker:w-0=10.8.0.1:8470 worker:w-1=10.8.0.2:8470");
  CHECK(answer.requests.size() == 4);

  broken = 0, breaks = 100;
  CHECK(ask("kubernetes", "{}", world).code == MUSTER_E_UNAVAILABLE);
  CHECK(broken == 3);
}

TEST_CASE("protobuf is asked for first, and understood: pods, and the words of a refusal") {
  World world = lab({});
  Response response;
  response.body = protobuf_list("w-0", "10.8.0.1");
  world.serve = [&](const Request&) { return response; };
  const auto answer = ask("kubernetes", "{}", world);
  CHECK_MESSAGE(answer.cluster() == "worker:w-0=10.8.0.1:8470", answer.message);
  CHECK(answer.requests.at(0).headers.at("Accept") ==
        "application/vnd.kubernetes.protobuf,application/json");

  response.status = 403;
  response.body = std::string("k8s\0", 4) + std::string("\x0a\x0c\x0a\x02v1\x12\x06Status", 14) +
                  "\x12\x0b\x1a\x09" + "forbidden";
  const auto refused = ask("kubernetes", "{}", world);
  CHECK(refused.code == MUSTER_E_PERMISSION_DENIED);
  CHECK(refused.message.ends_with("may not list pods in namespace 'default': 'forbidden'"));
}

TEST_CASE("a list that never ends is told and not followed for ever") {
  World world = lab({});
  world.serve = [&](const Request&) {
    Response response;
    response.body = list_json({{"w-0"}}, "same");
    return response;
  };
  CHECK(ask("kubernetes", "{}", world).code == MUSTER_E_DATA_LOSS);
}

TEST_CASE("a continue token that is no text is not the end of the list") {
  for (const char* token : {"null", "5", "true", "[]", "{}"}) {
    CAPTURE(token);
    World world = lab({});
    world.serve = [&](const Request&) {
      Response response;
      response.body = std::string(R"({"kind": "PodList", "metadata": {"continue": )") + token +
                      R"(}, "items": [)" + fake::pod_json({"w-0", "10.8.0.1"}) + "]}";
      return response;
    };
    const auto answer = ask("kubernetes", "{}", world);
    CHECK(answer.code == MUSTER_E_DATA_LOSS);
    CHECK(answer.message ==
          "the answer of the API server cannot be understood: metadata.continue is not a text");
    CHECK(answer.tasks.empty());
  }
}

TEST_CASE("a list whose metadata is null is not taken for one that ends") {
  World world = lab({});
  world.serve = [&](const Request&) {
    Response response;
    response.body = R"({"kind": "PodList", "metadata": null, "items": [)" +
                    fake::pod_json({"w-0", "10.8.0.1"}) + "]}";
    return response;
  };
  const auto answer = ask("kubernetes", "{}", world);
  CHECK(answer.code == MUSTER_E_DATA_LOSS);
  CHECK(answer.message ==
        "the answer of the API server cannot be understood: its metadata is not a map");
}

TEST_CASE("a list that says its pods, its end or its kind twice is not taken for a whole one") {
  const std::string w0 = fake::pod_json({"w-0", "10.8.0.1"}),
                    w1 = fake::pod_json({"w-1", "10.8.0.2"});
  struct List {
    std::string json;
    const char* twice;
  };
  const List lists[] = {
      {R"("metadata": {}, "items": [)" + w0 + R"(], "items": [)" + w1 + "]", "items"},
      {R"("metadata": {"continue": "x", "continue": ""}, "items": [)" + w0 + "]",
       "metadata.continue"},
      {R"("metadata": {"continue": "x"}, "items": [)" + w0 + R"(], "metadata": {})", "metadata"},
      {R"("metadata": {"resourceVersion": "1", "resourceVersion": "2"}, "items": [)" + w0 + "]",
       "metadata.resourceVersion"},
      {R"("metadata": {}, "kind": "PodList", "items": [)" + w0 + "]", "kind"}};
  for (const List& list : lists) {
    CAPTURE(list.json);
    World world = lab({});
    world.serve = [&](const Request&) {
      Response response;
      response.body = R"({"kind": "PodList", )" + list.json + "}";
      return response;
    };
    const auto answer = ask("kubernetes", "{}", world);
    CHECK(answer.code == MUSTER_E_DATA_LOSS);
    CHECK(answer.message == std::string("the answer of the API server cannot be understood: ") +
                                list.twice + " stands there twice");
    CHECK(answer.tasks.empty());
  }
}

TEST_CASE("a cancel between pages ends the call") {
  World world = lab({});
  int n = 0;
  world.serve = [&](const Request&) {
    Response response;
    response.body = list_json({{"w-" + std::to_string(n)}}, "page" + std::to_string(n));
    ++n;
    return response;
  };
  world.cancelled_after = 3;
  CHECK(ask("kubernetes", "{}", world).code == MUSTER_E_CANCELLED);
  CHECK(n == 3);
}

TEST_CASE("what the server refuses is told with its words, and what to do") {
  const auto refused = [](const Response& response) {
    World world = lab({});
    world.serve = [&](const Request&) { return response; };
    return ask("kubernetes",
               R"({"job_to_label_mapping": {"worker": ["app=w"]}, "namespace": "ml"})", world);
  };
  const auto unauthorized = refused(status_json(401, "Unauthorized", "Unauthorized"));
  CHECK(unauthorized.code == MUSTER_E_UNAUTHENTICATED);
  CHECK(unauthorized.message ==
        "the API server https://api.test:6443 refuses the credentials of user 'me' (context 'lab' "
        "of ~/.kube/config): "
        "'Unauthorized'");
  CHECK(unauthorized.details.at("http_status") == "401");

  const auto forbidden = refused(status_json(
      403, "Forbidden", "pods is forbidden: User \\\"me\\\" cannot list resource \\\"pods\\\""));
  CHECK(forbidden.code == MUSTER_E_PERMISSION_DENIED);
  CHECK(forbidden.message ==
        "the credentials of user 'me' (context 'lab' of ~/.kube/config) may not list pods in "
        "namespace 'ml': 'pods is "
        "forbidden: User \"me\" cannot list resource \"pods\"'");
  CHECK(forbidden.details.at("hint").find(
            "subjects:\n- {kind: User, apiGroup: rbac.authorization.k8s.io, name: \"me\"}") !=
        std::string::npos);

  const auto bad = refused(status_json(400, "BadRequest", "unable to parse requirement"));
  CHECK(bad.code == MUSTER_E_INVALID_ARGUMENT);
  CHECK(bad.details.at("option") == "/job_to_label_mapping/worker/0");

  CHECK(refused(status_json(404, "NotFound", "the server could not find the requested resource"))
            .code == MUSTER_E_NOT_FOUND);
  CHECK(refused(status_json(503, "ServiceUnavailable", "starting")).code == MUSTER_E_UNAVAILABLE);
  Response busy;
  busy.status = 429;
  busy.body = "Too many requests, please try again later.\n";
  busy.headers["Retry-After"] = "2";
  CHECK(refused(busy).code == MUSTER_E_RESOURCE_EXHAUSTED);
  CHECK(refused(busy).details.at("retry_after_ms") == "2000");
}

TEST_CASE("an answer that is no list of pods is not taken for an empty one") {
  for (
      const std::string body :
      {"", "{}", "[]", "null", "<html>login</html>", R"({"kind": "NodeList", "items": []})",
       R"({"kind": "PodList"})", R"({"kind": "PodList", "items": {}})",
       R"({"kind": "PodList", "items": [{"metadata": {"name": 3}}]})",
       R"({"kind": "PodList", "items": [{}]})", R"({"kind": "PodList", "items": []} {)",
       R"({"kind": "PodList", "items": [{"metadata": {"name": "w"}, "status": {"phase": "Running", "podIP": "x"}}]})",
       R"({"kind": "PodList", "items": [{"metadata": {"name": "w"}, "status": {"phase": "Running", "podIP": "10.8.0.1")"}) {
    CAPTURE(body);
    World world = lab({});
    world.serve = [&](const Request&) {
      Response response;
      response.body = body;
      return response;
    };
    CHECK(ask("kubernetes", "{}", world).code == MUSTER_E_DATA_LOSS);
  }
}

TEST_CASE("all_namespaces asks for all, and names tell their namespace") {
  const auto answer = ask("kubernetes", R"({"all_namespaces": true})",
                          lab({{"job-name=tensorflow", {{"w-0", "10.8.0.1"}}}}));
  CHECK(answer.cluster() == "worker:default/w-0=10.8.0.1:8470");
  CHECK(answer.requests.at(0).url ==
        "https://api.test:6443/api/v1/pods?labelSelector=job-name%3Dtensorflow&limit=500");
}

TEST_CASE("a refused push ends the call with its code") {
  for (int64_t n = 0; n < 9; ++n) {
    World world = lab({{"job-name=tensorflow", {{"w-0", "10.8.0.1"}, {"w-1", "", "Pending"}}}});
    world.variables["POD_NAME"] = "w-0";
    world.refused_push = n;
    const auto answer = ask("kubernetes", "{}", world);
    CHECK((answer.code == MUSTER_E_INTERNAL || n >= 8));
  }
}
