// The tree at work: chain, merge, deadline, completeness, identity.
#include <doctest/doctest.h>

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <thread>

#include "core/resolve/cluster.h"

using namespace muster;

namespace {

constexpr int64_t kMillisecond = 1'000'000;

// What a fake backend does when it is asked.
using Behaviour =
    std::function<Result<BackendAnswer>(int64_t deadline_ns, const CancelToken& cancel)>;

class FakeBackend : public Backend {
 public:
  explicit FakeBackend(Behaviour behaviour) : behaviour_(std::move(behaviour)) {}
  BackendOutcome resolve(std::shared_ptr<Session>, int64_t deadline_ns,
                         const CancelToken& cancel) override {
    RequestRecord request;
    request.method = "GET";
    return {behaviour_(deadline_ns, cancel), {request}};
  }
  std::string progress() const override { return ""; }

 private:
  Behaviour behaviour_;
};

Task task_of(int32_t index, const std::string& address) {
  Task task;
  task.index = index;
  task.address = *Address::parse(address);
  return task;
}

// An answer written down: tasks by job and index, then what is expected, missing and known.
class Says {
 public:
  Says task(const std::string& job, int32_t index, const std::string& address,
            Attributes attributes = {}) && {
    Task task = task_of(index, address);
    task.attributes = std::move(attributes);
    REQUIRE(answer_.spec.add_task(job, std::move(task)));
    return std::move(*this);
  }
  Says job(const std::string& name) && {
    REQUIRE(answer_.spec.add_job(name));
    return std::move(*this);
  }
  Says expected(const std::string& job, int64_t count) && {
    status(job).expected = count;
    return std::move(*this);
  }
  Says missing(const std::string& job, int64_t index, const std::string& reason) && {
    status(job).missing.push_back({index, "", reason});
    return std::move(*this);
  }
  Says me(const std::string& job, int64_t index, const std::string& evidence) && {
    answer_.identity = {job, index, {evidence}};
    return std::move(*this);
  }
  Says attribute(const std::string& key, const std::string& value) && {
    answer_.attributes.emplace_back(key, value);
    return std::move(*this);
  }
  operator Behaviour() && {
    return [answer = std::move(answer_)](int64_t, const CancelToken&) {
      return Result<BackendAnswer>(answer);
    };
  }

 private:
  JobStatus& status(const std::string& job) {
    for (JobStatus& status : answer_.jobs) {
      if (status.name == job) return status;
    }
    answer_.jobs.push_back({job, 0, std::nullopt, {}});
    return answer_.jobs.back();
  }
  BackendAnswer answer_;
};

Behaviour fails(Code code, const std::string& message) {
  return [=](int64_t, const CancelToken&) {
    return Result<BackendAnswer>(Error{code, message, {}});
  };
}

// Does nothing until its deadline or a cancel.
Behaviour hangs() {
  return [](int64_t deadline_ns, const CancelToken& cancel) -> Result<BackendAnswer> {
    while (monotonic_ns() < deadline_ns) {
      if (cancel.cancelled()) return Error{Code::kCancelled, "cancelled", {}};
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return Error{Code::kDeadlineExceeded, "no answer in time", {}};
  };
}

// A config tree whose leaves are behaviours.
class World {
 public:
  static ResolverConfig leaf(const std::string& name) {
    ResolverConfig resolver;
    resolver.backend = name;
    return resolver;
  }
  static ResolverConfig of(ResolverConfig::Kind kind, std::vector<ResolverConfig> children) {
    ResolverConfig resolver;
    resolver.kind = kind;
    resolver.children = std::move(children);
    return resolver;
  }

  World& backend(const std::string& name, Behaviour behaviour) {
    behaviours_[name] = std::move(behaviour);
    return *this;
  }
  World& tree(ResolverConfig root) {
    name_paths(root, "cluster");
    config.cluster = std::move(root);
    return *this;
  }

  std::variant<SnapshotPtr, ResolveFailure> resolve(const CancelToken& cancel = {}) {
    auto cluster = Cluster::create(
        config, [this](const ResolverConfig& leaf) -> Result<std::shared_ptr<Backend>> {
          return std::shared_ptr<Backend>(
              std::make_shared<FakeBackend>(behaviours_.at(leaf.backend)));
        });
    REQUIRE(cluster.ok());
    return (*cluster)->resolve(Session::live(std::make_shared<Log>(), std::make_shared<Secrets>()),
                               cancel);
  }
  Snapshot answer() {
    auto outcome = resolve();
    if (auto* failure = std::get_if<ResolveFailure>(&outcome)) FAIL(failure->error.message);
    return *std::get<SnapshotPtr>(outcome);
  }
  ResolveFailure failure() {
    auto outcome = resolve();
    REQUIRE(std::holds_alternative<ResolveFailure>(outcome));
    return std::get<ResolveFailure>(outcome);
  }

  Config config;

 private:
  static void name_paths(ResolverConfig& resolver, const std::string& path) {
    resolver.path = path;
    const char* word = resolver.kind == ResolverConfig::Kind::kChain ? ".chain[" : ".merge[";
    for (size_t n = 0; n < resolver.children.size(); ++n)
      name_paths(resolver.children[n], path + word + std::to_string(n) + "]");
  }
  std::map<std::string, Behaviour> behaviours_;
};

ResolverConfig chain_of(std::vector<ResolverConfig> children) {
  return World::of(ResolverConfig::Kind::kChain, std::move(children));
}
ResolverConfig merge_of(std::vector<ResolverConfig> children) {
  return World::of(ResolverConfig::Kind::kMerge, std::move(children));
}

World two_merged(Behaviour a, Behaviour b) {
  World world;
  world.backend("a", std::move(a))
      .backend("b", std::move(b))
      .tree(merge_of({World::leaf("a"), World::leaf("b")}));
  return world;
}

World two_chained(Behaviour a, Behaviour b) {
  World world;
  world.backend("a", std::move(a))
      .backend("b", std::move(b))
      .tree(chain_of({World::leaf("a"), World::leaf("b")}));
  return world;
}

std::string address_of(const Snapshot& snapshot, const std::string& job, int64_t index) {
  const auto address = snapshot.spec.task_address(job, index);
  return address ? address->to_string() : address.error().message;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a leaf's answer becomes a snapshot with its digest, source and requests") {
  World world;
  world.backend("a", Says().task("worker", 0, "h0:1").task("worker", 1, "h1:1"))
      .tree(World::leaf("a"));
  const Snapshot snapshot = world.answer();
  CHECK(snapshot.complete);
  CHECK(snapshot.digest == digest(snapshot.spec));
  REQUIRE(snapshot.sources.size() == 1);
  CHECK(snapshot.sources[0].path == "cluster");
  CHECK(snapshot.sources[0].backend == "a");
  CHECK(snapshot.sources[0].status == "OK");
  CHECK(snapshot.sources[0].tasks == 2);
  CHECK(snapshot.sources[0].requests.size() == 1);
}

TEST_CASE("a chain goes on when a source is not here, and says why") {
  const Snapshot snapshot =
      two_chained(fails(Code::kNotFound, "no such group"), Says().task("worker", 0, "h:1"))
          .answer();
  CHECK(address_of(snapshot, "worker", 0) == "h:1");
  REQUIRE(snapshot.sources.size() == 3);
  CHECK(snapshot.sources[0].message ==
        "cluster.chain[1] answered; cluster.chain[0] did not: NOT_FOUND");
  CHECK(snapshot.sources[1].status == "NOT_FOUND");
  CHECK(snapshot.sources[1].message == "no such group");
  CHECK(snapshot.sources[2].status == "OK");
}

TEST_CASE("a chain goes on for every code that means not here or not now, and for no other") {
  for (int number = 1; number <= 16; ++number) {
    const Code code = static_cast<Code>(number);
    const bool goes_on = code == Code::kNotFound || code == Code::kUnavailable ||
                         code == Code::kDeadlineExceeded || code == Code::kResourceExhausted ||
                         code == Code::kFailedPrecondition;
    auto outcome = two_chained(fails(code, "x"), Says().task("worker", 0, "h:1")).resolve();
    INFO(code_name(code));
    CHECK(std::holds_alternative<SnapshotPtr>(outcome) == goes_on);
  }
}

TEST_CASE("a chain stops at a wrong configuration and tells what it did not ask") {
  const ResolveFailure failure =
      two_chained(fails(Code::kInvalidArgument, "bad selector"), Says().task("worker", 0, "h:1"))
          .failure();
  CHECK(failure.error.code == Code::kInvalidArgument);
  CHECK(contains(failure.error.message, "bad selector"));
  CHECK(contains(failure.error.message, "the chain cluster goes on only when"));
  REQUIRE(failure.sources.size() == 3);
  CHECK(failure.sources[2].status == "NOT_ASKED");
  CHECK(failure.sources[2].message == "the chain stopped at cluster.chain[0]");
}

TEST_CASE(
    "a chain in which nobody answers tells what each one said and takes the most telling code") {
  const ResolveFailure failure =
      two_chained(fails(Code::kNotFound, "no group g"), fails(Code::kUnavailable, "refused"))
          .failure();
  CHECK(failure.error.code == Code::kUnavailable);
  CHECK(failure.error.message ==
        "no resolver of the chain cluster answered:\n"
        "  cluster.chain[0] (a): NOT_FOUND: no group g\n"
        "  cluster.chain[1] (b): UNAVAILABLE: refused");
}

TEST_CASE("a chain's first resolver that hangs leaves time for the next") {
  World world = two_chained(hangs(), Says().task("worker", 0, "h:1"));
  world.config.timeout = std::chrono::milliseconds(200);
  const int64_t begin = monotonic_ns();
  const Snapshot snapshot = world.answer();
  CHECK(monotonic_ns() - begin < 200 * kMillisecond);
  CHECK(snapshot.sources[1].status == "DEADLINE_EXCEEDED");
}

TEST_CASE("a resolver's own timeout ends it before the whole's") {
  World world;
  ResolverConfig root = chain_of({World::leaf("a"), World::leaf("b")});
  root.children[0].timeout = std::chrono::milliseconds(20);
  world.backend("a", hangs()).backend("b", Says().task("worker", 0, "h:1")).tree(std::move(root));
  const int64_t begin = monotonic_ns();
  CHECK(world.answer().sources[1].status == "DEADLINE_EXCEEDED");
  CHECK(monotonic_ns() - begin < 5000 * kMillisecond);
}

TEST_CASE("a merge asks its resolvers side by side") {
  const Behaviour waits_for_the_other = [](int64_t, const CancelToken&) -> Result<BackendAnswer> {
    static std::atomic<int> here{0};
    ++here;
    const int64_t end = monotonic_ns() + 5000 * kMillisecond;
    while (here.load() < 2 && monotonic_ns() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (here.load() < 2) return Error{Code::kInternal, "the other one was not asked meanwhile", {}};
    BackendAnswer answer;
    (void)answer.spec.add_job("worker");
    return answer;
  };
  CHECK(two_merged(waits_for_the_other, waits_for_the_other).answer().complete);
}

TEST_CASE("a merge ends with the first failure and does not wait for the others") {
  const int64_t begin = monotonic_ns();
  const ResolveFailure failure =
      two_merged(hangs(), fails(Code::kPermissionDenied, "forbidden")).failure();
  CHECK(monotonic_ns() - begin < 5000 * kMillisecond);
  CHECK(failure.error.code == Code::kPermissionDenied);
  CHECK(failure.error.message == "forbidden");
  CHECK(failure.sources[1].status == "CANCELLED");
}

TEST_CASE("lists of one job are concatenated in config order and renumbered") {
  const Snapshot snapshot = two_merged(Says().task("worker", 0, "a0:1").task("worker", 1, "a1:1"),
                                       Says().task("ps", 0, "p:1").task("worker", 0, "b0:1"))
                                .answer();
  CHECK(address_of(snapshot, "worker", 1) == "a1:1");
  CHECK(address_of(snapshot, "worker", 2) == "b0:1");
  CHECK(snapshot.spec.jobs()[0].name == "worker");
  CHECK(snapshot.spec.jobs()[1].name == "ps");
}

TEST_CASE("a map in one source makes the job a map: indices are taken as they are") {
  const Snapshot snapshot =
      two_merged(Says().task("worker", 0, "a0:1"), Says().task("worker", 3, "b3:1")).answer();
  CHECK(address_of(snapshot, "worker", 0) == "a0:1");
  CHECK(address_of(snapshot, "worker", 3) == "b3:1");
}

TEST_CASE(
    "an index that two sources have is an error that names it, both sources and both addresses") {
  const ResolveFailure failure =
      two_merged(Says().task("worker", 0, "a0:1").task("worker", 3, "a3:1"),
                 Says().task("worker", 3, "b3:1"))
          .failure();
  CHECK(failure.error.code == Code::kAlreadyExists);
  CHECK(contains(
      failure.error.message,
      "worker 3 comes from two sources: cluster.merge[0] says a3:1, cluster.merge[1] says b3:1"));
}

TEST_CASE("an empty job does not turn two lists into a collision (UNION-4)") {
  World world;
  world.backend("a", Says().task("worker", 0, "a:1"))
      .backend("empty", Says().job("worker"))
      .backend("b", Says().task("worker", 0, "b:1"));
  world.tree(merge_of({World::leaf("a"), World::leaf("empty"), World::leaf("b")}));
  CHECK(address_of(world.answer(), "worker", 1) == "b:1");
}

TEST_CASE("ranks behind a source that misses a member stay where they will be") {
  const Snapshot snapshot =
      two_merged(
          Says().task("worker", 0, "a0:1").expected("worker", 2).missing("worker", 1, "Pending"),
          Says().task("worker", 0, "b0:1"))
          .answer();
  CHECK_FALSE(snapshot.complete);
  CHECK(address_of(snapshot, "worker", 2) == "b0:1");
  CHECK(snapshot.jobs[0].expected == 3);
  CHECK(snapshot.jobs[0].missing[0].index == 1);
}

TEST_CASE("a gap that a missing member accounts for is not a map") {
  const Snapshot snapshot =
      two_merged(Says()
                     .task("worker", 0, "a0:1")
                     .task("worker", 2, "a2:1")
                     .missing("worker", 1, "Pending"),
                 Says().task("worker", 0, "b0:1").missing("worker", 1, "Failed"))
          .answer();
  CHECK(address_of(snapshot, "worker", 3) == "b0:1");
  CHECK(snapshot.jobs[0].missing[1].index == 4);
}

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
  World world;
  world
      .backend(
          "a",
          Says().task("worker", 0, "a:1").task("worker", 1, "b:1").me("worker", 1, "hostname b"))
      .tree(World::leaf("a"));
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
  World world;
  world.backend("a", Says().task("worker", 0, "a:1")).tree(World::leaf("a"));
  world.config.task_type = "worker";
  world.config.task_id = 7;
  CHECK(world.failure().error.code == Code::kFailedPrecondition);
  world.config.expect = {{"worker", 8}};
  CHECK(world.answer().identity.index == 7);
}

TEST_CASE(
    "a task whose job is not in the cluster is allowed: TensorFlow's evaluator stands outside of "
    "it") {
  World world;
  world.backend("a", Says().task("worker", 0, "a:1")).tree(World::leaf("a"));
  world.config.task_type = "evaluator";
  world.config.task_id = 0;
  CHECK(world.answer().identity.type == "evaluator");
}

TEST_CASE("evidence of a task outside of the cluster is an identity without a master") {
  World world = two_merged(Says().task("worker", 0, "a:1").me("evaluator", 0, "TF_CONFIG says so"),
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
  World world;
  world.backend("a", Says().task("worker", 0, "a:1")).tree(World::leaf("a"));
  world.config.expect = {{"worker", 1}, {"ps", 2}};
  const Snapshot snapshot = world.answer();
  CHECK_FALSE(snapshot.complete);
  REQUIRE(snapshot.jobs.size() == 2);
  CHECK(snapshot.jobs[1].name == "ps");
  CHECK(snapshot.jobs[1].found == 0);
  CHECK(snapshot.jobs[1].expected == 2);
}

TEST_CASE("the config's expectation wins over the source's, and says so") {
  World world;
  world.backend("a", Says().task("worker", 0, "a:1").expected("worker", 4)).tree(World::leaf("a"));
  world.config.expect = {{"worker", 1}};
  const Snapshot snapshot = world.answer();
  CHECK(snapshot.complete);
  CHECK(snapshot.warnings ==
        std::vector<std::string>{
            "the config expects 1 tasks of worker, the source says that it has 4"});
}

TEST_CASE("one address for two tasks is a warning (UNION-6)") {
  const Snapshot snapshot =
      two_merged(Says().task("worker", 0, "a:1"), Says().task("worker", 0, "a:1")).answer();
  REQUIRE(snapshot.warnings.size() == 1);
  CHECK(snapshot.warnings[0] == "cluster: worker 0 and worker 1 have the same address a:1");
}

TEST_CASE(
    "rpc_layer and environment come from the first source that says them, the config over it") {
  World world = two_merged(
      Says().task("worker", 0, "a:1").attribute("environment", "cloud"),
      Says().task("worker", 0, "b:1").attribute("environment", "x").attribute("rpc_layer", "grpc"));
  CHECK(world.answer().environment == "cloud");
  CHECK(world.answer().rpc_layer == "grpc");
  world.config.rpc_layer = "";
  CHECK(world.answer().rpc_layer.empty());
}

TEST_CASE("accelerators are those of this process's task, over those of the cluster") {
  World world;
  world.backend(
      "a", Says()
               .task("worker", 0, "a:1", {{"accelerator.type", "GPU"}, {"accelerator.count", "8"}})
               .task("worker", 1, "b:1", {{"accelerator.type", "GPU"}, {"accelerator.count", "4"}})
               .attribute("accelerator.count.CPU", "1")
               .me("worker", 1, "hostname b"));
  world.tree(World::leaf("a"));
  const Snapshot snapshot = world.answer();
  CHECK(snapshot.accelerators == std::map<std::string, int64_t>{{"CPU", 1}, {"GPU", 4}});
}

TEST_CASE("a merge with a chain inside names every source by its path") {
  World world;
  world.backend("a", Says().task("ps", 0, "p:1"))
      .backend("b", fails(Code::kNotFound, "no"))
      .backend("c", Says().task("worker", 0, "w:1"));
  world.tree(merge_of({World::leaf("a"), chain_of({World::leaf("b"), World::leaf("c")})}));
  const Snapshot snapshot = world.answer();
  std::vector<std::string> paths;
  for (const SourceRecord& source : snapshot.sources)
    paths.push_back(source.path + "=" + source.status);
  CHECK(paths == std::vector<std::string>{
                     "cluster=OK", "cluster.merge[0]=OK", "cluster.merge[1]=OK",
                     "cluster.merge[1].chain[0]=NOT_FOUND", "cluster.merge[1].chain[1]=OK"});
}

TEST_CASE("a cancel ends a resolve") {
  World world;
  world.backend("a", hangs()).tree(World::leaf("a"));
  const CancelToken cancel;
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    cancel.cancel();
  });
  auto outcome = world.resolve(cancel);
  stopper.join();
  REQUIRE(std::holds_alternative<ResolveFailure>(outcome));
  CHECK(std::get<ResolveFailure>(outcome).error.code == Code::kCancelled);
}

TEST_CASE("a cancelled chain does not go on") {
  World world = two_chained(
      [](int64_t, const CancelToken& cancel) -> Result<BackendAnswer> {
        cancel.cancel();
        return Error{Code::kUnavailable, "broken off", {}};
      },
      Says().task("worker", 0, "h:1"));
  CHECK(std::holds_alternative<ResolveFailure>(world.resolve()));
}

TEST_CASE("an epoch token is cancelled by the next epoch and not by an earlier one") {
  const auto epoch = std::make_shared<std::atomic<uint64_t>>(5);
  const CancelToken before = CancelToken::of_epoch(epoch);
  epoch->fetch_add(1);
  CHECK(before.cancelled());
  CHECK(before.child().cancelled());
  CHECK_FALSE(CancelToken::of_epoch(epoch).cancelled());
  const CancelToken stop;
  const CancelToken both = CancelToken::of_epoch(epoch).also(stop);
  CHECK_FALSE(both.cancelled());
  stop.cancel();
  CHECK(both.cancelled());
}
