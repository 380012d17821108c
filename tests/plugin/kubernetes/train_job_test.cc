// The kubernetes backend's finder of Kubeflow TrainJobs, which looks through the JobSet that one has made.
#include <doctest/doctest.h>

#include "tests/plugin/kubernetes/api.h"

using fake::ask;
using fake::kSetPath;
using fake::lab;
using fake::object;
using fake::Request;
using fake::set_pod;
using fake::status_json;
using fake::World;

namespace {

constexpr const char* kTrainPath =
    "/apis/trainer.kubeflow.org/v1alpha1/namespaces/default/trainjobs/train";

const std::string kTrainSet = object(
    R"({"replicatedJobs": [
        {"name": "dataset-initializer", "template": {"metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "dataset-initializer"}}, "spec": {}}},
        {"name": "node", "template": {"metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}, "spec": {"parallelism": 2, "completions": 2}}}]})");

// The object with a controller of this kind.
std::string made_by(const std::string& kind, std::string text) {
  const size_t at = text.find(R"("uid")");
  return text.insert(at, R"("ownerReferences": [{"kind": ")" + kind +
                             R"(", "name": "train", "uid": "t1", "controller": true}], )");
}

}  // namespace

TEST_CASE(
    "trainjob: the JobSet that it made, without the jobs that fetch data first, in two requests") {
  const auto answer =
      ask("kubernetes", R"({"trainjob": "train"})",
          lab({{"jobset.sigs.k8s.io/jobset-name=train", {set_pod("node", 0, 0, "10.8.0.1")}}},
              {{kSetPath, made_by("TrainJob", kTrainSet)}}));
  CHECK(answer.cluster() == "node:0=10.8.0.1:8470");
  CHECK(answer.jobs == std::vector<std::string>{"node"});
  CHECK(answer.expected.at("node") == 2);
  CHECK(answer.missing_text() == "node:1 train-node-0-1 (no pod yet)");
  CHECK(answer.requests.size() == 2);
}

TEST_CASE("trainjob: a JobSet of that name that it did not make is not its own") {
  for (const std::string& set : {kTrainSet, made_by("MPIJob", kTrainSet)}) {
    const auto answer = ask("kubernetes", R"({"trainjob": "train"})", lab({}, {{kSetPath, set}}));
    CHECK(answer.code == MUSTER_E_NOT_FOUND);
    CHECK(answer.message ==
          "JobSet 'train' in namespace 'default' was made by no TrainJob of its name "
          "(context 'lab' of ~/.kube/config, server https://api.test:6443)");
  }
}

TEST_CASE("trainjob: without a JobSet the TrainJob is asked why") {
  const auto of = [](const std::string& spec, const std::string& status = "{}") {
    return ask("kubernetes", R"({"trainjob": "train"})",
               lab({}, {{kTrainPath, object(spec, status)}}));
  };
  const auto none = [](const std::string& why) {
    return "TrainJob 'train' in namespace 'default' has no JobSet: " + why +
           " (context 'lab' of ~/.kube/config, server https://api.test:6443)";
  };
  const auto early = of(
      R"({"runtimeRef": {"name": "torch", "kind": "ClusterTrainingRuntime"}, "trainer": {"numNodes": 4}})");
  CHECK(early.code == MUSTER_E_NOT_FOUND);
  CHECK(early.message == none("it has not made one yet; it is to have 4 nodes of "
                              "ClusterTrainingRuntime 'torch'"));
  CHECK(early.details.at("hint") ==
        "kubectl get trainjobs.trainer.kubeflow.org train -n default -o yaml");
  CHECK(early.requests.size() == 2);
  CHECK(of(R"({"suspend": true, "trainer": {"numNodes": 1}})").message ==
        none("it is suspended; it is to have 1 node"));
  CHECK(of(R"({"runtimeRef": {"name": "torch"}})").message ==
        none("it has not made one yet; it is to have the nodes of runtime 'torch'"));
  CHECK(of("{}", R"({"conditions": [{"type": "Suspended", "status": "False"},
                      {"type": "Failed", "status": "True", "reason": "TrainingRuntimeNotSupported"}]})")
            .message == none("it has ended: Failed: TrainingRuntimeNotSupported"));
}

TEST_CASE("trainjob: one whose fields are of another type is not believed") {
  for (const auto& [spec, why] : std::vector<std::pair<std::string, std::string>>{
           {R"({"suspend": "yes"})", "spec.suspend is a text, where true or false is expected"},
           {R"({"trainer": {"numNodes": "4"}})",
            "spec.trainer.numNodes is a text, where a number is expected"},
           {R"({"runtimeRef": "torch"})", "spec.runtimeRef is a text, where a map is expected"}}) {
    const auto answer =
        ask("kubernetes", R"({"trainjob": "train"})", lab({}, {{kTrainPath, object(spec)}}));
    CHECK(answer.code == MUSTER_E_DATA_LOSS);
    CHECK(answer.message == "the API server's TrainJob 'train' cannot be understood: " + why);
  }
}

TEST_CASE("trainjob: neither of the two, or a TrainJob that may not be read, is told as it is") {
  const auto neither = ask("kubernetes", R"({"trainjob": "train"})", lab({}));
  CHECK(neither.code == MUSTER_E_NOT_FOUND);
  CHECK(neither.message ==
        "there is no TrainJob 'train' in namespace 'default' (context 'lab' of ~/.kube/config, "
        "server https://api.test:6443)");
  CHECK(neither.details.at("hint") ==
        "kubectl get trainjobs.trainer.kubeflow.org train -n default");

  World world = lab({});
  world.serve = [serve = world.serve](const Request& request) {
    return request.url.find("trainjobs") == std::string::npos
               ? serve(request)
               : status_json(403, "Forbidden", R"(User \"me\" cannot get trainjobs)");
  };
  const auto closed = ask("kubernetes", R"({"trainjob": "train"})", world);
  CHECK(closed.code == MUSTER_E_NOT_FOUND);
  CHECK(closed.message.find("there is no JobSet of TrainJob 'train' in namespace 'default'") == 0);
  CHECK(closed.message.find("; whether TrainJob 'train' is there is not known: the credentials") !=
        std::string::npos);

  const auto odd =
      ask("kubernetes", R"({"trainjob": "train"})", lab({}, {{kTrainPath, R"({"kind": "X"})"}}));
  CHECK(odd.code == MUSTER_E_DATA_LOSS);
}
