// muster's own backends through the real core: found, loaded, asked; and a whole answer through the C interface.
#include <chrono>
#include <cstdlib>
#include <thread>

#include "tests/loader/launcher.h"
#include "tests/loader/world.h"
#include "tests/unit/service_world.h"

using namespace muster;
using namespace muster::test;

namespace {

BackendAnswer answer_of(World& world, const std::string& options) {
  Result<BackendAnswer> answer = world.answer(options);
  if (!answer) FAIL(answer.error().message);
  return std::move(*answer);
}

}  // namespace

TEST_CASE("static answers through the core") {
  World world(built("static"), "static");
  const BackendAnswer answer =
      answer_of(world, R"({"cluster_spec": {"worker": ["a:1", "[fd00::2]:1"], "ps": {"3": "p:1"}},
                 "task_type": "worker", "task_id": 1, "num_accelerators": {"GPU": 8, "TPU": 4}})");
  CHECK(answer.spec.task_address("worker", 1)->to_string() == "[fd00::2]:1");
  CHECK(answer.spec.task_address("ps", 3)->to_string() == "p:1");
  CHECK(answer.identity.type == "worker");
  CHECK(accelerators_of(answer.spec.jobs()[0].tasks[0].attributes, {}) ==
        std::map<std::string, int64_t>{{"GPU", 8}, {"TPU", 4}});

  const Error error = world.error(R"({"cluster_spec": {"worker": ["-a:1"]}})");
  CHECK(error.code == Code::kInvalidArgument);
  CHECK(error.detail("option") == "/cluster_spec/worker/0");
  CHECK(error.message ==
        "task 0 of job 'worker': '-a:1' is not an address: a label of the host "
        "'-a' starts with '-'");
}

TEST_CASE(
    "a bad address in a file of static is told with its place, and is no fault of the plugin") {
  World world(built("static"), "static");
  const std::string file = world.dir.write("hosts.txt", "worker 0 a:1\nworker 1 b.1:1\n");
  const Error error = world.error("{\"file\": \"" + file + "\"}");
  CHECK(error.code == Code::kInvalidArgument);
  CHECK(has(error.message, file + ":2:10: 'b.1:1' is not an address: the host 'b.1' ends in a"));
}

TEST_CASE("tf_config answers through the core, for an evaluator too") {
  World world(built("tf_config"), "tf_config");
  ::setenv("TF_CONFIG", R"({"cluster": {"chief": ["c:1"], "worker": ["a:1", "b:1"]},
                            "task": {"type": "evaluator", "index": 0}})",
           1);
  const BackendAnswer answer = answer_of(world, "{}");
  CHECK(answer.spec.task_count() == 3);
  CHECK(answer.identity.type == "evaluator");
  CHECK(answer.identity.index == 0);

  const Error error = world.error(R"({"config": {"cluster": {"worker": ["a"]}}})");
  CHECK(error.code == Code::kInvalidArgument);
  CHECK(error.detail("option") == "/config/cluster/worker/0");
  CHECK(has(error.message, "'a' is not an address: it has no port"));
}

TEST_CASE("kubernetes answers through the core, and a pod that is missing keeps its rank") {
  World world(built("kubernetes"), "kubernetes");
  const auto pod = [](const std::string& name, const std::string& status) {
    return R"({"metadata": {"name": ")" + name + R"(", "namespace": "default", "uid": "u-)" + name +
           R"("}, "spec": {"nodeName": "n"}, "status": )" + status + "}";
  };
  testing::FakeTransport server(
      {testing::Answer::of(200, {{"Content-Type", "application/json"}},
                           R"({"kind": "PodList", "metadata": {}, "items": [)" +
                               pod("w-0", R"({"phase": "Running", "podIP": "10.8.0.1"})") + "," +
                               pod("w-1", R"({"phase": "Pending"})") + "," +
                               pod("w-2", R"({"phase": "Running", "podIP": "fd00::3"})") + "]}")});
  world.http = server.library();
  const std::string kubeconfig = world.dir.write("kubeconfig", R"(apiVersion: v1
kind: Config
current-context: lab
clusters:
- {name: lab, cluster: {server: "http://api.test:6443"}}
users:
- {name: me, user: {}}
contexts:
- {name: lab, context: {cluster: lab, user: me}}
)");
  const BackendAnswer answer =
      answer_of(world, "{\"kubeconfig\": \"" + kubeconfig + "\", \"tf_server_port\": 8470}");
  CHECK(answer.spec.task_address("worker", 0)->to_string() == "10.8.0.1:8470");
  CHECK(answer.spec.task_address("worker", 2)->to_string() == "[fd00::3]:8470");
  REQUIRE(answer.jobs.at(0).missing.size() == 1);
  CHECK(answer.jobs[0].missing[0].index == 1);
  CHECK(answer.jobs[0].missing[0].name == "w-1");
  REQUIRE(server.seen.size() == 1);
}

TEST_CASE("the accelerators of static stand in the answer and in the table") {
  Launcher launcher({built("static")}, R"(
cluster:
  backend: static
  options:
    cluster_spec: {worker: ["a:1", "b:1"]}
    task_type: worker
    task_id: 0
    num_accelerators: {GPU: 8, TPU: 4}
)");
  launcher.open();
  const std::string answer = launcher.ask("json");
  const size_t at = answer.find("\"accelerators\"");
  REQUIRE(at != std::string::npos);
  CHECK(has(answer.substr(at, 60), "\"GPU\": 8"));
  CHECK(has(answer.substr(at, 60), "\"TPU\": 4"));
  CHECK(has(launcher.ask("table"), "this process, 8 GPU, 4 TPU"));
}

TEST_CASE("a process with a task and no cluster is an answer without a master") {
  ::setenv("TF_CONFIG", R"({"task": {"type": "worker", "index": 3}})", 1);
  Launcher launcher({built("tf_config")}, "cluster: {backend: tf_config}\n");
  launcher.open();
  const std::string answer = launcher.ask("json");
  CHECK(has(answer, "\"index\": 3"));
  CHECK(has(answer, "\"master\": \"\""));
}

TEST_CASE("a replay reads its file once, and each resolve begins anew") {
  ::setenv("TF_CONFIG", R"({"cluster": {"worker": ["a:1", "b:1"]}})", 1);
  Launcher launcher({built("tf_config")}, "cluster: {backend: tf_config}\n");
  const std::string file = launcher.dir.path() + "/recorded.yaml";
  launcher.set("record", file);
  launcher.open();
  const std::string recorded = launcher.ask("json");
  launcher.close();
  REQUIRE(muster_settings_set(launcher.settings, "record", nullptr, nullptr) == 0);
  launcher.set("replay", file);
  ::unsetenv("TF_CONFIG");
  launcher.open();
  std::filesystem::remove(file);
  CHECK(launcher.ask("json") == recorded);
  CHECK(launcher.ask("json") == recorded);
}

TEST_CASE("a plugin that is stuck logs nowhere once the launcher is done with the cluster") {
  Launcher launcher({std::string(PLUGINS) + "/libbad.so"},
                    "cluster: {backend: bad, options: {do: hangs_for_a_second}}\ntimeout: 50ms\n");
  struct Lines {
    std::mutex mutex;
    std::string text;
    bool gone = false;
  } lines;
  muster_settings_set_log(
      launcher.settings, 0,
      [](void* ctx, int32_t, const char* text, size_t size) {
        auto& mine = *static_cast<Lines*>(ctx);
        const std::lock_guard lock(mine.mutex);
        CHECK_FALSE(mine.gone);
        mine.text.append(text, size).append("\n");
      },
      &lines);
  launcher.open();
  CHECK(has(launcher.ask("json"), "has not returned"));
  launcher.close();
  {
    const std::lock_guard lock(lines.mutex);
    lines.gone = true;
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(1300));
  CHECK(lines.text.find("destroyed") == std::string::npos);
}
