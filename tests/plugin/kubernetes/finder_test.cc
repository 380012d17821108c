// The kubernetes backend's finders: an object's name in, its whole cluster out.
#include <doctest/doctest.h>

#include "tests/plugin/kubernetes/api.h"

using fake::ask;
using fake::kIndex;
using fake::kSetPath;
using fake::lab;
using fake::object;
using fake::owned_by;
using fake::PodText;
using fake::query;
using fake::Request;
using fake::Response;
using fake::set_pod;
using fake::status_json;
using fake::World;

namespace {

constexpr const char* kJobPath = "/apis/batch/v1/namespaces/default/jobs/train";

// An Indexed Job of n pods.
std::string indexed_job(int n, const std::string& more = "", const std::string& version = "7") {
  return object(R"({"parallelism": )" + std::to_string(n) + R"(, "completions": )" +
                    std::to_string(n) +
                    R"(, "completionMode": "Indexed", "selector": {"matchLabels": {"uid": "u1"}})" +
                    more + "}",
                "{}", version);
}

PodText job_pod(const std::string& name, const std::string& ip, const std::string& index,
                const std::string& phase = "Running", const std::string& uid = "u1") {
  return {name, ip, phase, {{kIndex, index}}, owned_by("Job", "train", uid)};
}

const std::string kSet = object(
    R"({"replicatedJobs": [
        {"name": "driver", "replicas": 1, "template": {"spec": {"parallelism": 1, "completions": 1}}},
        {"name": "slice", "replicas": 2, "template": {"spec": {"parallelism": 2, "completions": 2}}}]})");

}  // namespace

TEST_CASE("job: its own pods by completion index, and it knows how many there are to be") {
  const auto answer =
      ask("kubernetes", R"({"job": "train"})",
          lab({{"uid=u1",
                {job_pod("train-2-x", "10.8.0.2", "2"), job_pod("train-0-x", "10.8.0.1", "0")}}},
              {{kJobPath, indexed_job(4)}}));
  CHECK(answer.cluster() == "worker:0=10.8.0.1:8470 worker:2=10.8.0.2:8470");
  CHECK(answer.missing_text() == "worker:1 train-1 (no pod yet)\nworker:3 train-3 (no pod yet)");
  CHECK(answer.expected.at("worker") == 4);
  REQUIRE(answer.requests.size() == 2);
  CHECK(answer.requests[0].url == std::string("https://api.test:6443") + kJobPath);
  CHECK(answer.requests[0].headers.at("Authorization") == "Bearer s3cret-token");
  CHECK(query(answer.requests[1].url, "labelSelector") == "uid=u1");
}

TEST_CASE("job: a suspended one says why there are no pods; one that has ended is not found") {
  const auto suspended = ask("kubernetes", R"({"job": "train"})",
                             lab({}, {{kJobPath, indexed_job(1, R"(, "suspend": true)")}}));
  CHECK(suspended.code == MUSTER_OK);
  CHECK(suspended.missing_text() == "worker:0 train-0 (no pod yet: the Job is suspended)");

  const auto ended = ask(
      "kubernetes", R"({"job": "train"})",
      lab({{"uid=u1", {job_pod("train-0-x", "10.8.0.1", "0", "Succeeded")}}},
          {{kJobPath,
            object(
                R"({"parallelism": 1, "completions": 1, "completionMode": "Indexed", "selector": {"matchLabels": {"uid": "u1"}}})",
                R"({"conditions": [{"type": "Complete", "status": "True", "reason": "CompletionsReached"}]})")}}));
  CHECK(ended.code == MUSTER_E_NOT_FOUND);
  CHECK(ended.message ==
        "Job 'train' in namespace 'default' has ended: Complete: CompletionsReached (context 'lab' "
        "of ~/.kube/config, server "
        "https://api.test:6443)");
}

TEST_CASE(
    "job: a member that has ended is missing with its end, for the others still wait for it") {
  const auto answer = ask("kubernetes", R"({"job": "train"})",
                          lab({{"uid=u1",
                                {job_pod("train-0-x", "10.8.0.1", "0", "Succeeded"),
                                 job_pod("train-1-x", "10.8.0.2", "1")}}},
                              {{kJobPath, indexed_job(2)}}));
  CHECK(answer.cluster() == "worker:1=10.8.0.2:8470");
  CHECK(answer.missing_text() == "worker:0 train-0-x (Succeeded)");
}

TEST_CASE(
    "job: without indices a failed pod keeps no place once it was replaced, and the core ranks the "
    "rest") {
  const std::string job =
      object(R"({"parallelism": 2, "selector": {"matchLabels": {"uid": "u1"}}})");
  const auto pod = [](const char* name, const char* phase) {
    return PodText{name,
                   std::string(phase) == "Running" ? "10.8.0.1" : "",
                   phase,
                   {},
                   owned_by("Job", "train", "u1")};
  };
  const auto replaced =
      ask("kubernetes", R"({"job": "train"})",
          lab({{"uid=u1",
                {pod("train-a", "Failed"), pod("train-b", "Running"), pod("train-c", "Pending")}}},
              {{kJobPath, job}}));
  CHECK(replaced.cluster() == "worker:train-b=10.8.0.1:8470");
  CHECK(replaced.missing_text() ==
        "worker train-c (Pending since 2026-01-31T11:50:00Z: starting on node-7)");
  const auto alone = ask("kubernetes", R"({"job": "train"})",
                         lab({{"uid=u1", {pod("train-a", "Failed")}}}, {{kJobPath, job}}));
  CHECK(alone.missing_text() == "worker train-a (Failed)\nworker  (no pod yet)");
}

TEST_CASE("job: with more completions than pods at a time nobody knows which place is next") {
  const auto answer = ask(
      "kubernetes", R"({"job": "train"})",
      lab({{"uid=u1", {job_pod("train-7-x", "10.8.0.1", "7")}}},
          {{kJobPath,
            object(
                R"({"parallelism": 2, "completions": 9, "completionMode": "Indexed", "selector": {"matchLabels": {"uid": "u1"}}})")}}));
  CHECK(answer.cluster() == "worker:7=10.8.0.1:8470");
  CHECK(answer.expected.at("worker") == 2);
  CHECK(answer.missing_text() == "worker  (no pod yet)");
}

TEST_CASE("job: where places are taken in turn, those that have succeeded are done with") {
  const auto in_turn = [](const std::vector<PodText>& pods, const std::string& status = "{}",
                          const std::string& mode = "Indexed") {
    return ask(
        "kubernetes", R"({"job": "train"})",
        lab({{"uid=u1", pods}},
            {{kJobPath, object(R"({"parallelism": 2, "completions": 3, "completionMode": ")" +
                                   mode + R"(", "selector": {"matchLabels": {"uid": "u1"}}})",
                               status)}}));
  };
  const PodText ended = job_pod("train-0-x", "10.8.0.1", "0", "Succeeded"),
                second = job_pod("train-1-x", "10.8.0.2", "1"),
                third = job_pod("train-2-x", "10.8.0.3", "2");
  const auto two = in_turn({ended, second, third});
  CHECK(two.cluster() == "worker:1=10.8.0.2:8470 worker:2=10.8.0.3:8470");
  CHECK(two.missing_text() == "");
  CHECK(two.expected.at("worker") == 2);
  const auto last = in_turn({ended, job_pod("train-1-x", "10.8.0.2", "1", "Succeeded"), third});
  CHECK(last.cluster() == "worker:2=10.8.0.3:8470");
  CHECK(last.missing_text() == "");
  CHECK(last.expected.at("worker") == 1);
  // The pods that succeeded may be gone: the Job has counted them.
  const auto counted = in_turn({third}, R"({"succeeded": 2})");
  CHECK(counted.expected.at("worker") == 1);
  CHECK(counted.missing_text() == "");
  CHECK(in_turn({third}).missing_text() == "worker  (no pod yet)");
  // Pods without an index are counted in the same way.
  const auto plain = in_turn({ended, second, third}, "{}", "NonIndexed");
  CHECK(plain.cluster() == "worker:train-1-x=10.8.0.2:8470 worker:train-2-x=10.8.0.3:8470");
  CHECK(plain.missing_text() == "");
  // Where nobody is left to follow the Job is about to end, and no empty answer is a whole one.
  const auto over = in_turn({ended, job_pod("train-1-x", "10.8.0.2", "1", "Succeeded"),
                             job_pod("train-2-x", "10.8.0.3", "2", "Succeeded")});
  CHECK(over.missing.size() == 2);
}

TEST_CASE("job: one that has been made smaller is not whole until its pods are as many") {
  const auto smaller = [](std::vector<PodText> pods, const std::string& spec) {
    return ask(
        "kubernetes", R"({"job": "train"})",
        lab({{"uid=u1", std::move(pods)}},
            {{kJobPath, object("{" + spec + R"(, "selector": {"matchLabels": {"uid": "u1"}}})")}}));
  };
  const auto pod = [](const char* name, const char* ip, const char* index, const char* status) {
    PodText one = job_pod(name, ip, index);
    one.status = status;
    return one;
  };
  const char* ready = R"("conditions": [{"type": "Ready", "status": "True"}])";
  const std::vector<PodText> three = {pod("train-a", "10.8.0.1", "0", ready),
                                      pod("train-b", "10.8.0.2", "1", R"("x": 1)"),
                                      pod("train-c", "10.8.0.3", "2", ready)};
  for (const char* spec : {R"("parallelism": 2)",
                           R"("parallelism": 2, "completions": 3, "completionMode": "Indexed")"}) {
    CAPTURE(spec);
    const auto answer = smaller(three, spec);
    CHECK(answer.tasks.size() == 2);
    REQUIRE(answer.missing.size() == 1);
    // The controller ends the one that is not ready before the others.
    CHECK(answer.missing_text().find("train-b (3 pods of 'worker' run, and 2 are to: its "
                                     "controller ends one of them)") != std::string::npos);
    std::vector<PodText> going = three;
    going[1].metadata += R"(, "deletionTimestamp": "2026-01-31T12:00:30Z")";
    CHECK(smaller(going, spec).missing_text() == "");
  }
}

TEST_CASE("job: pods of an earlier object of the same name are no members") {
  const auto answer =
      ask("kubernetes", R"({"job": "train"})",
          lab({{"uid=u1", {job_pod("train-0-old", "10.8.0.9", "0", "Running", "u0")}}},
              {{kJobPath, indexed_job(1)}}));
  CHECK(answer.tasks.empty());
  CHECK(answer.missing_text() == "worker:0 train-0 (no pod yet)");
  REQUIRE(answer.warnings.size() == 1);
  CHECK(answer.warnings[0] ==
        "pod 'default/train-0-old' is not of this Job but of another one or of one before it; it "
        "does not count");
}

TEST_CASE(
    "pods that the object has no place for make it be read again, so that no answer mixes two "
    "moments") {
  World world = lab({}, {});
  int reads = 0;
  world.serve = [&](const Request& request) {
    Response response;
    if (request.url.find("/jobs/train") != std::string::npos) {
      // It grows after the first reading.
      ++reads;
      response.body = indexed_job(reads == 1 ? 1 : 3, "", std::to_string(reads == 1 ? 1 : 2));
    } else {
      response.body = fake::list_json(
          {job_pod("train-0-x", "10.8.0.1", "0"), job_pod("train-1-x", "10.8.0.2", "1")});
    }
    return response;
  };
  const auto grown = ask("kubernetes", R"({"job": "train"})", world);
  CHECK(grown.cluster() == "worker:0=10.8.0.1:8470 worker:1=10.8.0.2:8470");
  CHECK(grown.missing_text() == "worker:2 train-2 (no pod yet)");
  CHECK(grown.requests.size() == 4);

  world.serve = [&](const Request& request) {
    Response response;
    response.body = request.url.find("/jobs/train") != std::string::npos
                        ? indexed_job(1, "", std::to_string(++reads))
                        : fake::list_json({job_pod("train-5-x", "10.8.0.1", "5")});
    return response;
  };
  const auto restless = ask("kubernetes", R"({"job": "train"})", world);
  CHECK(restless.code == MUSTER_E_UNAVAILABLE);
  CHECK(restless.message ==
        "Job 'train' changed each time its pods were listed, 3 times: no answer would be of one "
        "moment");

  const auto shrunk =
      ask("kubernetes", R"({"job": "train"})",
          lab({{"uid=u1",
                {job_pod("train-0-x", "10.8.0.1", "0"), job_pod("train-1-x", "10.8.0.2", "1")}}},
              {{kJobPath, indexed_job(1)}}));
  CHECK(shrunk.cluster() == "worker:0=10.8.0.1:8470");
  CHECK(shrunk.warnings ==
        std::vector<std::string>{"pod 'default/train-1-x' has no place in 'worker', which is to "
                                 "have 1; it does not count"});
}

TEST_CASE(
    "jobset: replicated jobs are the roles, and a rank is the job's place times its pods plus the "
    "pod's") {
  const auto answer =
      ask("kubernetes", R"({"jobset": "train"})",
          lab({{"jobset.sigs.k8s.io/jobset-name=train",
                {set_pod("slice", 1, 0, "10.8.0.3"), set_pod("slice", 0, 1, "10.8.0.2"),
                 set_pod("driver", 0, 0, "10.8.0.1")}}},
              {{kSetPath, kSet}}));
  CHECK(answer.cluster() == "driver:0=10.8.0.1:8470 slice:1=10.8.0.2:8470 slice:2=10.8.0.3:8470");
  CHECK(answer.missing_text() ==
        "slice:0 train-slice-0-0 (no pod yet)\nslice:3 train-slice-1-1 (no pod yet)");
  CHECK(answer.expected.at("driver") == 1);
  CHECK(answer.expected.at("slice") == 4);
}

TEST_CASE("jobset: all its jobs can be one ranked whole") {
  const auto answer =
      ask("kubernetes", R"({"jobset": "train", "as_job": "worker"})",
          lab({{"jobset.sigs.k8s.io/jobset-name=train",
                {set_pod("slice", 1, 1, "10.8.0.3"), set_pod("driver", 0, 0, "10.8.0.1")}}},
              {{kSetPath, kSet}}));
  CHECK(answer.cluster() == "worker:0=10.8.0.1:8470 worker:4=10.8.0.3:8470");
  CHECK(answer.expected == std::map<std::string, int64_t>{{"worker", 5}});
  CHECK(answer.missing.size() == 3);
}

TEST_CASE(
    "jobset: after a restart the pods of the attempt before are no members, though they still "
    "run") {
  const auto of_attempt = [](PodText pod, const char* attempt) {
    pod.labels["jobset.sigs.k8s.io/restart-attempt"] = attempt;
    return pod;
  };
  const auto answer = ask("kubernetes", R"({"jobset": "train"})",
                          lab({{"jobset.sigs.k8s.io/jobset-name=train",
                                {of_attempt(set_pod("slice", 0, 0, "10.8.0.1"), "0"),
                                 of_attempt(set_pod("slice", 0, 1, "10.8.0.2"), "1")}}},
                              {{kSetPath, kSet}}));
  CHECK(answer.cluster() == "slice:1=10.8.0.2:8470");
}

TEST_CASE(
    "jobset: once its restarts are counted up no pod of an attempt before is a member, though no "
    "other pod is there yet") {
  const auto of_attempt = [](PodText pod, const char* attempt) {
    pod.labels["jobset.sigs.k8s.io/restart-attempt"] = attempt;
    return pod;
  };
  const std::string spec =
      R"({"replicatedJobs": [{"name": "slice", "template": {"spec": {"parallelism": 2, "completions": 2}}}]})";
  const auto at = [&](const char* restarts, const char* attempt) {
    return ask("kubernetes", R"({"jobset": "train"})",
               lab({{"jobset.sigs.k8s.io/jobset-name=train",
                     {of_attempt(set_pod("slice", 0, 0, "10.8.0.1"), attempt),
                      of_attempt(set_pod("slice", 0, 1, "10.8.0.2"), attempt)}}},
                   {{kSetPath, object(spec, restarts)}}));
  };
  const auto whole = at(R"({"restarts": 1})", "1");
  CHECK(whole.cluster() == "slice:0=10.8.0.1:8470 slice:1=10.8.0.2:8470");
  CHECK(whole.missing_text() == "");
  const auto between = at(R"({"restarts": 2})", "1");
  CHECK(between.tasks.empty());
  CHECK(between.missing_text() ==
        "slice:0 train-slice-0-0 (no pod of attempt 2 yet)\n"
        "slice:1 train-slice-0-1 (no pod of attempt 2 yet)");
  // The set was read before its pods.
  CHECK(at(R"({"restarts": 1})", "2").missing_text() == "");
}

TEST_CASE("jobset: a pod of another set, of whatever attempt, ends no attempt of this one") {
  PodText foreign = set_pod("slice", 0, 1, "10.8.0.9");
  foreign.labels["jobset.sigs.k8s.io/jobset-uid"] = "u0";
  foreign.labels["jobset.sigs.k8s.io/restart-attempt"] = "7";
  const auto answer = ask(
      "kubernetes", R"({"jobset": "train"})",
      lab({{"jobset.sigs.k8s.io/jobset-name=train", {set_pod("slice", 0, 0, "10.8.0.1"), foreign}}},
          {{kSetPath, kSet}}));
  CHECK(answer.cluster() == "slice:0=10.8.0.1:8470");
}

TEST_CASE("leaderworkerset: a worker of the leader before is no member of the new one's group") {
  const auto pod = [](const char* name, const char* index, const char* made, const char* revision) {
    return PodText{name,
                   "10.8.0.1",
                   "Running",
                   {{"leaderworkerset.sigs.k8s.io/group-index", "0"},
                    {"leaderworkerset.sigs.k8s.io/worker-index", index},
                    {"leaderworkerset.sigs.k8s.io/template-revision-hash", revision}},
                   std::string(R"("creationTimestamp": ")") + made + "\""};
  };
  const auto with = [&](const char* made, const char* revision) {
    return ask("kubernetes", R"({"leaderworkerset": "train"})",
               lab({{"leaderworkerset.sigs.k8s.io/name=train",
                     {pod("train-0", "0", "2026-01-31T11:50:00Z", "r2"),
                      pod("train-0-1", "1", made, revision)}}},
                   {{"/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets/train",
                     object(R"({"leaderWorkerTemplate": {"size": 2}})")}}));
  };
  CHECK(with("2026-01-31T11:50:01Z", "r2").missing_text() == "");
  CHECK(with("2026-01-31T11:50:00Z", "r2").missing_text() == "");
  CHECK(with("2026-01-31T11:49:59Z", "r2").missing_text() ==
        "worker:1 train-0-1 (it was made at 2026-01-31T11:49:59Z, before the leader "
        "'default/train-0' of its group, at 2026-01-31T11:50:00Z)");
  CHECK(with("2026-01-31T11:50:00Z", "r1").missing_text() ==
        "worker:1 train-0-1 (it is of revision 'r1', and the leader 'default/train-0' of its group "
        "is of 'r2')");
}

TEST_CASE("leaderworkerset: pods of the set of its name before it are none of its own") {
  const auto pod = [](const char* name, const char* index, const char* made) {
    return PodText{name,
                   "10.8.0.1",
                   "Running",
                   {{"leaderworkerset.sigs.k8s.io/group-index", "0"},
                    {"leaderworkerset.sigs.k8s.io/worker-index", index}},
                   std::string(R"("creationTimestamp": ")") + made + "\""};
  };
  const auto made = [&](const char* set) {
    return ask("kubernetes", R"({"leaderworkerset": "train"})",
               lab({{"leaderworkerset.sigs.k8s.io/name=train",
                     {pod("train-0", "0", "2026-01-31T11:50:00Z"),
                      pod("train-0-1", "1", "2026-01-31T11:50:01Z")}}},
                   {{"/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets/train",
                     object(R"({"leaderWorkerTemplate": {"size": 2}})", "{}", "7",
                            std::string(R"("creationTimestamp": ")") + set + "\"")}}));
  };
  CHECK(made("2026-01-31T11:50:00Z").missing_text() == "");
  CHECK(made("2026-01-31T11:50:01Z").missing_text() == "worker:0 train-0 (no pod yet)");
  const auto later = made("2026-01-31T11:50:02Z");
  CHECK(later.missing_text() == "worker:0 train-0 (no pod yet)\nworker:1 train-0-1 (no pod yet)");
  REQUIRE(later.warnings.size() == 2);
  CHECK(later.warnings[0] ==
        "pod 'default/train-0' was made before this LeaderWorkerSet, so it is of one before it; it "
        "does not count");
}

TEST_CASE("leaderworkerset: one ranked whole, the leader first in its group") {
  const auto pod = [](const char* name, const char* ip, const char* group, const char* index) {
    return PodText{name,
                   ip,
                   "Running",
                   {{"leaderworkerset.sigs.k8s.io/group-index", group},
                    {"leaderworkerset.sigs.k8s.io/worker-index", index},
                    {"apps.kubernetes.io/pod-index", "9"}}};
  };
  const auto answer =
      ask("kubernetes", R"({"leaderworkerset": "train"})",
          lab({{"leaderworkerset.sigs.k8s.io/name=train",
                {pod("train-1-2", "10.8.0.3", "1", "2"), pod("train-0", "10.8.0.1", "0", "0")}}},
              {{"/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets/train",
                object(R"({"replicas": 2, "leaderWorkerTemplate": {"size": 3}})")}}));
  CHECK(answer.cluster() == "worker:0=10.8.0.1:8470 worker:5=10.8.0.3:8470");
  CHECK(answer.missing_text() ==
        "worker:1 train-0-1 (no pod yet)\nworker:2 train-0-2 (no pod yet)\nworker:3 train-1 (no "
        "pod yet)\nworker:4 train-1-1 (no pod yet)");
}

TEST_CASE(
    "statefulset: ordinals by label or name, from where they start, of the pods that its selector "
    "means") {
  const auto answer = ask(
      "kubernetes", R"({"statefulset": "train"})",
      lab({{"app=t,tier in (a,b),!old",
            {{"train-5", "10.8.0.5", "Running", {}, owned_by("StatefulSet", "train", "u1")},
             {"train-4",
              "10.8.0.4",
              "Running",
              {{"apps.kubernetes.io/pod-index", "4"}},
              owned_by("StatefulSet", "train", "u1")}}}},
          {{"/apis/apps/v1/namespaces/default/statefulsets/train",
            object(
                R"({"replicas": 3, "ordinals": {"start": 4}, "selector": {"matchLabels": {"app": "t"}, "matchExpressions": [{"key": "tier", "operator": "In", "values": ["a", "b"]}, {"key": "old", "operator": "DoesNotExist"}]}})")}}));
  CHECK(answer.cluster() == "worker:0=10.8.0.4:8470 worker:1=10.8.0.5:8470");
  CHECK(answer.missing_text() == "worker:2 train-6 (no pod yet)");
}

TEST_CASE("pytorchjob: master and workers, or all in PyTorch's own ranks") {
  const auto pod = [](const char* role, const char* index, const char* ip) {
    return PodText{std::string("train-") + role + "-" + index,
                   ip,
                   "Running",
                   {{"training.kubeflow.org/replica-type", role},
                    {"training.kubeflow.org/replica-index", index}},
                   owned_by("PyTorchJob", "train", "u1")};
  };
  const World world =
      lab({{"training.kubeflow.org/job-name=train",
            {pod("worker", "1", "10.8.0.3"), pod("worker", "0", "10.8.0.2"),
             pod("master", "0", "10.8.0.1")}}},
          {{"/apis/kubeflow.org/v1/namespaces/default/pytorchjobs/train",
            object(R"({"pytorchReplicaSpecs": {"Worker": {"replicas": 2}, "Master": {}}})")}});
  CHECK(ask("kubernetes", R"({"pytorchjob": "train"})", world).cluster() ==
        "master:0=10.8.0.1:8470 worker:0=10.8.0.2:8470 worker:1=10.8.0.3:8470");
  const auto whole = ask("kubernetes", R"({"pytorchjob": "train", "as_job": "node"})", world);
  CHECK(whole.cluster() == "node:0=10.8.0.1:8470 node:1=10.8.0.2:8470 node:2=10.8.0.3:8470");
  CHECK(whole.expected.at("node") == 3);
}

TEST_CASE("tfjob: the evaluator is beside the cluster, and knows itself") {
  const auto pod = [](const char* role, const char* index, const char* ip) {
    return PodText{std::string("train-") + role + "-" + index,
                   ip,
                   "Running",
                   {{"training.kubeflow.org/replica-type", role},
                    {"training.kubeflow.org/replica-index", index}},
                   owned_by("TFJob", "train", "u1")};
  };
  World world = lab(
      {{"training.kubeflow.org/job-name=train",
        {pod("chief", "0", "10.8.0.1"), pod("ps", "0", "10.8.0.2"),
         pod("evaluator", "0", "10.8.0.3")}}},
      {{"/apis/kubeflow.org/v1/namespaces/default/tfjobs/train",
        object(
            R"({"tfReplicaSpecs": {"PS": {"replicas": 1}, "Evaluator": {"replicas": 1}, "Chief": {"replicas": 1}}})")}});
  world.variables["POD_NAME"] = "train-evaluator-0";
  const auto answer = ask("kubernetes", R"({"tfjob": "train"})", world);
  CHECK(answer.cluster() == "chief:0=10.8.0.1:8470 ps:0=10.8.0.2:8470");
  CHECK(answer.jobs == std::vector<std::string>{"chief", "ps"});
  REQUIRE(answer.identities.size() == 1);
  CHECK(answer.identities[0].job == "evaluator");
  CHECK(answer.identities[0].index == 0);
  CHECK(answer.identities[0].name == "");
}

TEST_CASE("vcjob: tasks are the roles") {
  const auto answer = ask(
      "kubernetes", R"({"vcjob": "train"})",
      lab({{"volcano.sh/job-name=train",
            {{"train-ps-0",
              "10.8.0.1",
              "Running",
              {{"volcano.sh/task-spec", "ps"}, {"volcano.sh/task-index", "0"}},
              owned_by("Job", "train", "u1")}}}},
          {{"/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/train",
            object(
                R"({"tasks": [{"name": "ps", "replicas": 1}, {"name": "worker", "replicas": 1}]})")}}));
  CHECK(answer.cluster() == "ps:0=10.8.0.1:8470");
  CHECK(answer.missing_text() == "worker:0 train-worker-0 (no pod yet)");
}

TEST_CASE("an object that is not there is named with the command that looks for it") {
  const auto nothing = ask("kubernetes", R"({"jobset": "train", "namespace": "ml"})", lab({}));
  CHECK(nothing.code == MUSTER_E_NOT_FOUND);
  CHECK(nothing.message ==
        "there is no JobSet 'train' in namespace 'ml' (context 'lab' of ~/.kube/config, server "
        "https://api.test:6443)");
  CHECK(nothing.details.at("hint") == "kubectl get jobsets.jobset.x-k8s.io train -n ml");

  World without = lab({});
  without.serve = [](const Request&) {
    Response response;
    response.status = 404;
    response.body = "404 page not found\n";
    return response;
  };
  CHECK(ask("kubernetes", R"({"jobset": "train"})", without)
            .message.find("this cluster does not know such objects") != std::string::npos);
}

TEST_CASE("an object that may not be read names the rule to add") {
  World world = lab({});
  world.serve = [](const Request&) {
    return status_json(403, "Forbidden", R"(User \"me\" cannot get jobs.batch)");
  };
  const auto answer = ask("kubernetes", R"({"job": "train"})", world);
  CHECK(answer.code == MUSTER_E_PERMISSION_DENIED);
  CHECK(answer.message ==
        "the credentials of user 'me' (context 'lab' of ~/.kube/config) may not get jobs.batch in "
        "namespace 'default': 'User \"me\" cannot get jobs.batch'");
  const std::string& hint = answer.details.at("hint");
  CHECK(hint.find("{apiGroups: [\"batch\"], resources: [jobs], verbs: [get]}") !=
        std::string::npos);
  CHECK(hint.find("{apiGroups: [\"\"], resources: [pods], verbs: [list]}") != std::string::npos);
  CHECK(hint.find("name: \"me\"") != std::string::npos);
}

TEST_CASE("an object that cannot be understood is no empty cluster") {
  for (const std::string& body :
       {std::string(""), std::string("[]"), std::string("{}"), object("{}"),
        object(R"({"replicatedJobs": []})"), object(R"({"replicatedJobs": [{"template": {}}]})"),
        object(R"({"replicatedJobs": [{"name": "a", "replicas": -1}]})"),
        object(R"({"replicatedJobs": [{"name": "a"}, {"name": "a"}]})"),
        object(R"({"replicatedJobs": [{"name": "a", "replicas": "2"}]})")}) {
    CAPTURE(body);
    CHECK(ask("kubernetes", R"({"jobset": "train"})", lab({}, {{kSetPath, body}})).code ==
          MUSTER_E_DATA_LOSS);
  }
  const auto huge = ask(
      "kubernetes", R"({"jobset": "train"})",
      lab({},
          {{kSetPath,
            object(
                R"({"replicatedJobs": [{"name": "a", "replicas": 1000000, "template": {"spec": {"parallelism": 1000000, "completions": 1000000}}}]})")}}));
  CHECK(huge.code == MUSTER_E_RESOURCE_EXHAUSTED);
}

TEST_CASE("a field that decides who is a member is of its type, or the object is not believed") {
  struct Case {
    const char *option, *path, *spec, *why;
  };
  const char* job = "/apis/batch/v1/namespaces/default/jobs/train";
  const char* workers =
      "/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets/train";
  const char* stateful = "/apis/apps/v1/namespaces/default/statefulsets/train";
  const char* pytorch = "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs/train";
  const char* volcano = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/train";
  for (const Case& one : std::vector<Case>{
           {"job", job, R"({"parallelism": "4"})",
            "spec.parallelism is a text, where a number is expected"},
           {"job", job, R"({"parallelism": null})",
            "spec.parallelism is null, where a number is expected"},
           {"job", job, R"({"parallelism": 4, "completionMode": "Indexed"})",
            "spec.completions is not there, and a number is expected"},
           {"job", job, R"({"completionMode": "Odd"})",
            "spec.completionMode is 'Odd', and neither Indexed nor NonIndexed"},
           {"job", job, R"({"suspend": "no"})",
            "spec.suspend is a text, where true or false is expected"},
           {"job", job, R"({"selector": {"matchLabels": {"a": 1}}})",
            "spec.selector.matchLabels.a is a number, where a text is expected"},
           {"job", job, "[]", "spec is a list, where a map is expected"},
           {"jobset", kSetPath, R"({"replicatedJobs": {}})",
            "spec.replicatedJobs is a map, where a list is expected"},
           {"jobset", kSetPath, R"({"replicatedJobs": [4]})",
            "spec.replicatedJobs[0] is a number, where a map is expected"},
           {"jobset", kSetPath,
            R"({"replicatedJobs": [{"name": "a", "template": {"spec": {}}, "replicas": "2"}]})",
            "spec.replicatedJobs[0].replicas is a text, where a number is expected"},
           {"jobset", kSetPath,
            R"({"replicatedJobs": [{"name": "a", "template": {"spec": {"parallelism": 2.5}}}]})",
            "spec.replicatedJobs[0].template.spec.parallelism is 2.5, where a whole number from 0 "
            "to 1000000 is expected"},
           {"jobset", kSetPath, R"({"replicatedJobs": [{"name": "a"}]})",
            "spec.replicatedJobs[0].template.spec is not there, and a map is expected"},
           {"leaderworkerset", workers, R"({"leaderWorkerTemplate": {"size": "4"}})",
            "spec.leaderWorkerTemplate.size is a text, where a number is expected"},
           {"leaderworkerset", workers, R"({"replicas": [], "leaderWorkerTemplate": {}})",
            "spec.replicas is a list, where a number is expected"},
           {"leaderworkerset", workers, "{}",
            "spec.leaderWorkerTemplate is not there, and a map is expected"},
           {"statefulset", stateful, R"({"replicas": true})",
            "spec.replicas is true or false, where a number is expected"},
           {"statefulset", stateful, R"({"ordinals": 4})",
            "spec.ordinals is a number, where a map is expected"},
           {"pytorchjob", pytorch, R"({"pytorchReplicaSpecs": []})",
            "spec.pytorchReplicaSpecs is a list, where a map is expected"},
           {"pytorchjob", pytorch, R"({"pytorchReplicaSpecs": {"Worker": {"replicas": {}}}})",
            "spec.pytorchReplicaSpecs.Worker.replicas is a map, where a number is expected"},
           {"pytorchjob", pytorch, R"({"pytorchReplicaSpecs": {"Worker": 4}})",
            "spec.pytorchReplicaSpecs.Worker is a number, where a map is expected"},
           {"pytorchjob", pytorch, R"({"pytorchReplicaSpecs": {"Worker": {}, "Worker": {}}})",
            "spec.pytorchReplicaSpecs has the key 'Worker' twice"},
           {"vcjob", volcano, R"({"tasks": [{"name": "w"}]})",
            "spec.tasks[0].replicas is not there, and a number is expected"},
           {"vcjob", volcano, R"({"tasks": [{"name": 4, "replicas": 1}]})",
            "spec.tasks[0].name is a number, where a text is expected"}}) {
    CAPTURE(one.spec);
    const auto answer = ask("kubernetes", std::string(R"({")") + one.option + R"(": "train"})",
                            lab({}, {{one.path, object(one.spec)}}));
    CHECK(answer.code == MUSTER_E_DATA_LOSS);
    const std::string end = std::string(" 'train' cannot be understood: ") + one.why;
    CHECK_MESSAGE(answer.message.size() > end.size(), answer.message);
    CHECK_MESSAGE(answer.message.find(end) != std::string::npos, answer.message);
  }
  for (const char* status : {R"({"restarts": "2"})", R"({"conditions": {}})",
                             R"({"conditions": [{"type": "Failed"}]})"}) {
    CAPTURE(status);
    CHECK(ask("kubernetes", R"({"jobset": "train"})",
              lab({}, {{kSetPath,
                        object(R"({"replicatedJobs": [{"name": "a", "template": {"spec": {}}}]})",
                               status)}}))
              .code == MUSTER_E_DATA_LOSS);
  }
}

TEST_CASE("what an API documents as its default is one, and only where the field is absent") {
  const auto expected = [](const char* option, const std::string& path, const std::string& spec,
                           const std::string& role) {
    const auto answer = ask("kubernetes", std::string(R"({")") + option + R"(": "train"})",
                            lab({}, {{path, object(spec)}}));
    CAPTURE(answer.message);
    REQUIRE(answer.code == MUSTER_OK);
    return answer.expected.at(role);
  };
  const std::string selector = R"("selector": {"matchLabels": {"uid": "u1"}})";
  CHECK(expected("job", kJobPath, "{" + selector + "}", "worker") == 1);
  CHECK(expected("job", kJobPath, R"({"completionMode": "Indexed", )" + selector + "}", "worker") ==
        1);
  CHECK(expected("jobset", kSetPath,
                 R"({"replicatedJobs": [{"name": "a", "template": {"spec": {}}}]})", "a") == 1);
  CHECK(expected("leaderworkerset",
                 "/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets/train",
                 R"({"leaderWorkerTemplate": {}})", "worker") == 1);
  CHECK(expected("statefulset", "/apis/apps/v1/namespaces/default/statefulsets/train",
                 "{" + selector + "}", "worker") == 1);
  CHECK(expected("pytorchjob", "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs/train",
                 R"({"pytorchReplicaSpecs": {"Worker": {}}})", "worker") == 1);
}

TEST_CASE("only one thing can say who the members are") {
  const auto both = ask("kubernetes", R"({"job": "a", "jobset": "b"})");
  CHECK(both.code == MUSTER_E_INVALID_ARGUMENT);
  CHECK(both.message ==
        "'job' and 'jobset' both say who the members are: one of them can be given");
  CHECK(ask("kubernetes", R"({"job": "a", "job_to_label_mapping": {"worker": "x"}})").code ==
        MUSTER_E_INVALID_ARGUMENT);
  CHECK(ask("kubernetes", R"({"job": "a", "all_namespaces": true})").code ==
        MUSTER_E_INVALID_ARGUMENT);
  CHECK(ask("kubernetes", R"({"as_job": "a"})").code == MUSTER_E_INVALID_ARGUMENT);
}
