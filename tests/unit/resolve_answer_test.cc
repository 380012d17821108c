// What an answer says beside its tasks: identity, completeness, accelerators, warnings.
#include "resolve_world.h"

using namespace muster;
using namespace muster::testing;

TEST_CASE("identity is translated through renumbering (UNION-8)") {
  const Snapshot snapshot =
      two_merged(Says().task("worker", 0, "a0:1").task("worker", 1, "a1:1"),
                 Says().task("worker", 0, "b0:1").me("worker", 0, "pod uid 5e0c"))
          .answer();
  CHECK(snapshot.identity.type == "worker");
  CHECK(snapshot.identity.index == 2);
  CHECK(snapshot.identity.evidence == std::vector<std::string>{"pod uid 5e0c"});
}

TEST_CASE("two sources that disagree about this process are refused with both evidences") {
  const ResolveFailure failure =
      two_merged(Says().task("worker", 0, "a:1").me("worker", 0, "hostname a"),
                 Says().task("worker", 0, "b:1").me("worker", 0, "pod b"))
          .failure();
  CHECK(failure.error.code == Code::kFailedPrecondition);
  CHECK(contains(
      failure.error.message,
      "cluster.merge[0] says worker 0 (hostname a), cluster.merge[1] says worker 1 (pod b)"));
}

TEST_CASE(
    "a task in the config that the evidence contradicts is refused, a setting's wins with a "
    "warning") {
  TreeWorld world;
  world
      .backend(
          "a",
          Says().task("worker", 0, "a:1").task("worker", 1, "b:1").me("worker", 1, "hostname b"))
      .tree(TreeWorld::leaf("a"));
  world.config.task_type = "worker";
  world.config.task_id = 0;
  CHECK(contains(
      world.failure().error.message,
      "the config says that this process is worker 0, the evidence says worker 1 (hostname b)"));
  world.config.task_origin = "the setting task_type";
  world.config.task_overrides = true;
  const Snapshot snapshot = world.answer();
  CHECK(snapshot.identity.index == 0);
  REQUIRE(snapshot.warnings.size() == 1);
  CHECK(contains(snapshot.warnings[0], "the evidence says worker 1"));
}

TEST_CASE(
    "a task that a complete cluster does not have is an error, one that an incomplete cluster "
    "misses is not") {
  TreeWorld world;
  world.backend("a", Says().task("worker", 0, "a:1")).tree(TreeWorld::leaf("a"));
  world.config.task_type = "worker";
  world.config.task_id = 7;
  CHECK(world.failure().error.code == Code::kFailedPrecondition);
  world.config.expect = {{"worker", 8}};
  CHECK(world.answer().identity.index == 7);
}

TEST_CASE(
    "a task whose job is not in the cluster is allowed: TensorFlow's evaluator stands outside of "
    "it") {
  TreeWorld world;
  world.backend("a", Says().task("worker", 0, "a:1")).tree(TreeWorld::leaf("a"));
  world.config.task_type = "evaluator";
  world.config.task_id = 0;
  CHECK(world.answer().identity.type == "evaluator");
}

TEST_CASE("evidence of a task outside of the cluster is an identity without a master") {
  TreeWorld world =
      two_merged(Says().task("worker", 0, "a:1").me("evaluator", 0, "TF_CONFIG says so"),
                 Says().task("worker", 0, "b:1"));
  world.config.rpc_layer = "grpc";
  const Snapshot snapshot = world.answer();
  CHECK(snapshot.identity.type == "evaluator");
  CHECK(snapshot.identity.index == 0);
  CHECK(snapshot.master.empty());
  CHECK(snapshot.complete);
}

TEST_CASE("a process with a task and no cluster finds its place in another source's cluster") {
  const auto merged = [](int64_t index) {
    return two_merged(Says().me("worker", index, "TF_CONFIG says so"),
                      Says().task("worker", 0, "a:1").task("worker", 1, "b:1"));
  };
  CHECK(merged(1).answer().master == "b:1");
  const Error error = merged(2).failure().error;
  CHECK(error.code == Code::kFailedPrecondition);
  CHECK(contains(error.message, "the evidence says that this process is worker 2"));
}

TEST_CASE("fewer tasks than expected is an incomplete answer, also of a job that nobody found") {
  TreeWorld world;
  world.backend("a", Says().task("worker", 0, "a:1")).tree(TreeWorld::leaf("a"));
  world.config.expect = {{"worker", 1}, {"ps", 2}};
  const Snapshot snapshot = world.answer();
  CHECK_FALSE(snapshot.complete);
  REQUIRE(snapshot.jobs.size() == 2);
  CHECK(snapshot.jobs[1].name == "ps");
  CHECK(snapshot.jobs[1].found == 0);
  CHECK(snapshot.jobs[1].expected == 2);
}

TEST_CASE("the config's expectation wins over the source's, and says so") {
  TreeWorld world;
  world.backend("a", Says().task("worker", 0, "a:1").expected("worker", 4))
      .tree(TreeWorld::leaf("a"));
  world.config.expect = {{"worker", 1}};
  const Snapshot snapshot = world.answer();
  CHECK(snapshot.complete);
  CHECK(snapshot.warnings ==
        std::vector<std::string>{
            "the config expects 1 tasks of worker, the source says that it has 4"});
}

TEST_CASE(
    "rpc_layer and environment come from the first source that says them, the config over it") {
  TreeWorld world = two_merged(
      Says().task("worker", 0, "a:1").attribute("environment", "cloud"),
      Says().task("worker", 0, "b:1").attribute("environment", "x").attribute("rpc_layer", "grpc"));
  CHECK(world.answer().environment == "cloud");
  CHECK(world.answer().rpc_layer == "grpc");
  world.config.rpc_layer = "";
  CHECK(world.answer().rpc_layer.empty());
}

TEST_CASE("accelerators are those of this process's task, over those of the cluster") {
  TreeWorld world;
  world.backend(
      "a", Says()
               .task("worker", 0, "a:1", {{"accelerator.type", "GPU"}, {"accelerator.count", "8"}})
               .task("worker", 1, "b:1", {{"accelerator.type", "GPU"}, {"accelerator.count", "4"}})
               .attribute("accelerator.count.CPU", "1")
               .me("worker", 1, "hostname b"));
  world.tree(TreeWorld::leaf("a"));
  const Snapshot snapshot = world.answer();
  CHECK(snapshot.accelerators == std::map<std::string, int64_t>{{"CPU", 1}, {"GPU", 4}});
}

TEST_CASE("the missing stand in the order of their places, those without one behind by name") {
  TreeWorld world;
  world
      .backend("a", Says()
                        .task("worker", 0, "a:1")
                        .missing("worker", -1, "x", "w-10")
                        .missing("worker", 12, "x")
                        .missing("worker", -1, "x", "w-9")
                        .missing("worker", 2, "x"))
      .tree(TreeWorld::leaf("a"));
  std::string order;
  const Snapshot snapshot = world.answer();
  for (const MissingTask& missing : snapshot.jobs[0].missing)
    order += std::to_string(missing.index) + missing.name + " ";
  CHECK(order == "2 12 -1w-9 -1w-10 ");
}

TEST_CASE("a process may be the task that is missing, and has no master until it is there") {
  TreeWorld world;
  world
      .backend("a", Says()
                        .task("worker", 0, "a:1")
                        .missing("worker", 1, "Pending")
                        .me("worker", 1, "pod uid 5e0c"))
      .tree(TreeWorld::leaf("a"));
  const Snapshot snapshot = world.answer();
  CHECK_FALSE(snapshot.complete);
  CHECK(snapshot.identity.index == 1);
  CHECK(snapshot.master.empty());
  CHECK(snapshot.warnings.empty());
}

TEST_CASE("a task that an incomplete cluster does not show is a warning") {
  TreeWorld world;
  world.backend("a", Says().task("worker", 0, "a:1").missing("worker", 1, "Pending"))
      .tree(TreeWorld::leaf("a"));
  world.config.task_type = "worker";
  world.config.task_id = 7;
  CHECK(world.answer().warnings ==
        std::vector<std::string>{"the config says that this process is worker 7, which is not "
                                 "among the tasks found"});
}

TEST_CASE("a task of a job without tasks stands outside of the cluster") {
  TreeWorld world;
  world.backend("a", Says().task("worker", 0, "a:1").job("evaluator")).tree(TreeWorld::leaf("a"));
  world.config.task_type = "evaluator";
  world.config.task_id = 0;
  const Snapshot snapshot = world.answer();
  CHECK(snapshot.identity.type == "evaluator");
  CHECK(snapshot.warnings.empty());
}

TEST_CASE("half a task in the config says nothing, and the evidence is asked") {
  TreeWorld world;
  world.backend("a", Says().task("worker", 0, "a:1").me("worker", 0, "hostname a"))
      .tree(TreeWorld::leaf("a"));
  world.config.task_type = "ps";
  CHECK(world.answer().identity.type == "worker");
  world.config.task_type.reset();
  world.config.task_id = 7;
  CHECK(world.answer().identity.index == 0);
}

TEST_CASE("the evidence beside a task in the config is told behind it, unless it says otherwise") {
  TreeWorld world;
  world
      .backend(
          "a",
          Says().task("worker", 0, "a:1").task("worker", 1, "b:1").me("worker", 1, "hostname b"))
      .tree(TreeWorld::leaf("a"));
  world.config.task_type = "worker";
  world.config.task_id = 1;
  Snapshot snapshot = world.answer();
  CHECK(snapshot.identity.evidence ==
        std::vector<std::string>{"the config says that this process is worker 1", "hostname b"});
  CHECK(snapshot.warnings.empty());
  world.config.task_id = 0;
  world.config.task_overrides = true;
  snapshot = world.answer();
  CHECK(snapshot.identity.evidence ==
        std::vector<std::string>{"the config says that this process is worker 0"});
  CHECK(snapshot.master == "a:1");
}

TEST_CASE("more tasks than expected is a complete answer with a warning") {
  TreeWorld world;
  world.backend("a", Says().task("worker", 0, "a:1").task("worker", 1, "b:1").expected("worker", 1))
      .tree(TreeWorld::leaf("a"));
  world.config.expect = {{"worker", 1}};
  const Snapshot snapshot = world.answer();
  CHECK(snapshot.complete);
  CHECK(snapshot.warnings == std::vector<std::string>{"worker has 2 tasks, 1 were expected"});
}

TEST_CASE(
    "what the source says of the whole is in the snapshot, the config's environment over it") {
  TreeWorld world;
  world
      .backend("a", Says()
                        .task("worker", 0, "a:1")
                        .attribute("master", "grpc://chief:1")
                        .attribute("environment", "cloud"))
      .tree(TreeWorld::leaf("a"));
  Snapshot snapshot = world.answer();
  CHECK(snapshot.has_own_master);
  CHECK(snapshot.own_master == "grpc://chief:1");
  CHECK(snapshot.master == "grpc://chief:1");
  CHECK(snapshot.environment == "cloud");
  CHECK(snapshot.attributes.size() == 2);
  CHECK(snapshot.time_ns > 0);
  world.config.environment = "lab";
  CHECK(world.answer().environment == "lab");
}

TEST_CASE("an accelerator without a count is one, a count that is no number is none") {
  using Counts = std::map<std::string, int64_t>;
  CHECK(accelerators_of({{"accelerator.type", "TPU"}}, {}) == Counts{{"TPU", 1}});
  CHECK(accelerators_of({{"accelerator.type", ""}, {"accelerator.count", "4"}}, {}).empty());
  for (const char* count : {"", "x", "4x", "-1", "99999999999999999999"}) {
    CAPTURE(count);
    CHECK(accelerators_of({{"accelerator.type", "TPU"}, {"accelerator.count", count}}, {}).empty());
    CHECK(accelerators_of({}, {{"accelerator.count.GPU", count}}).empty());
  }
}
