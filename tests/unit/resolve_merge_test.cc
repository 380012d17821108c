// A merge at work: side by side, renumbering, collisions.
#include <atomic>
#include <chrono>

#include "resolve_world.h"

using namespace muster;
using namespace muster::testing;

TEST_CASE("a merge asks its resolvers side by side") {
  const Behaviour waits_for_the_other = [](int64_t, const CancelToken&) -> Result<BackendAnswer> {
    static std::atomic<int> here{0};
    ++here;
    const int64_t end = monotonic_ns() + 5000 * kMillisecond;
    while (here.load() < 2 && monotonic_ns() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (here.load() < 2) return Error{Code::kInternal, "the other one was not asked meanwhile", {}};
    BackendAnswer answer;
    (void)answer.spec.add_task("worker", task_of(0, "h:1"));
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

// A replay gives what the recording has at once: the one that was cancelled for the other's failure may come first.
TEST_CASE(
    "a source that says CANCELLED though nobody cancelled it takes the others along in no merge") {
  std::atomic<bool> first_ended{false};
  const Behaviour recorded_as_cancelled = [&](int64_t,
                                              const CancelToken&) -> Result<BackendAnswer> {
    first_ended = true;
    return Error{Code::kCancelled, "cancelled", {}};
  };
  const Behaviour the_cause = [&](int64_t, const CancelToken& cancel) -> Result<BackendAnswer> {
    while (!first_ended) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    // Time for the merge to do something about it.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (cancel.cancelled()) return Error{Code::kCancelled, "cancelled as well", {}};
    return Error{Code::kPermissionDenied, "forbidden", {}};
  };
  const ResolveFailure failure = two_merged(recorded_as_cancelled, the_cause).failure();
  CHECK(failure.error.code == Code::kPermissionDenied);
  CHECK(failure.error.message == "forbidden");
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
  TreeWorld world;
  world.backend("a", Says().task("worker", 0, "a:1"))
      .backend("empty", Says().job("worker"))
      .backend("b", Says().task("worker", 0, "b:1"));
  world.tree(merge_of({TreeWorld::leaf("a"), TreeWorld::leaf("empty"), TreeWorld::leaf("b")}));
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

TEST_CASE("one address for two tasks is a warning (UNION-6)") {
  const Snapshot snapshot =
      two_merged(Says().task("worker", 0, "a:1"), Says().task("worker", 0, "a:1")).answer();
  REQUIRE(snapshot.warnings.size() == 1);
  CHECK(snapshot.warnings[0] == "cluster: worker 0 and worker 1 have the same address a:1");
}

TEST_CASE("a merge with a chain inside names every source by its path") {
  TreeWorld world;
  world.backend("a", Says().task("ps", 0, "p:1"))
      .backend("b", fails(Code::kNotFound, "no"))
      .backend("c", Says().task("worker", 0, "w:1"));
  world.tree(
      merge_of({TreeWorld::leaf("a"), chain_of({TreeWorld::leaf("b"), TreeWorld::leaf("c")})}));
  const Snapshot snapshot = world.answer();
  std::vector<std::string> paths;
  for (const SourceRecord& source : snapshot.sources)
    paths.push_back(source.path + "=" + source.status);
  CHECK(paths == std::vector<std::string>{
                     "cluster=OK", "cluster.merge[0]=OK", "cluster.merge[1]=OK",
                     "cluster.merge[1].chain[0]=NOT_FOUND", "cluster.merge[1].chain[1]=OK"});
}

TEST_CASE("ranks leave room for what is expected, and for members missing without a place") {
  const auto second = [](Says first) {
    return two_merged(std::move(first), Says().task("worker", 0, "b0:1")).answer();
  };
  Snapshot snapshot = second(Says().task("worker", 0, "a0:1").expected("worker", 3));
  CHECK(address_of(snapshot, "worker", 3) == "b0:1");
  CHECK(snapshot.jobs[0].expected == 4);
  snapshot = second(Says().task("worker", 0, "a0:1").missing("worker", -1, "Pending"));
  CHECK(address_of(snapshot, "worker", 2) == "b0:1");
  CHECK(snapshot.jobs[0].missing[0].index == -1);
  CHECK_FALSE(snapshot.jobs[0].expected);
  snapshot = second(
      Says().task("worker", 2, "a2:1").missing("worker", -1, "?").missing("worker", -1, "?"));
  CHECK(address_of(snapshot, "worker", 3) == "b0:1");
  snapshot = second(Says().task("worker", 2, "a2:1").expected("worker", 4));
  CHECK(address_of(snapshot, "worker", 4) == "b0:1");
}

TEST_CASE("a gap that nothing accounts for is a map, also with a member missing elsewhere") {
  const ResolveFailure failure = two_merged(Says()
                                                .task("worker", 0, "a0:1")
                                                .task("worker", 5, "a5:1")
                                                .missing("worker", 1, "Pending"),
                                            Says().task("worker", 0, "b0:1"))
                                     .failure();
  CHECK(failure.error.code == Code::kAlreadyExists);
}

TEST_CASE("a job that is only expected is in the answer, not in the cluster") {
  const Snapshot snapshot =
      two_merged(Says().expected("ps", 2), Says().task("worker", 0, "b0:1")).answer();
  CHECK(snapshot.spec.find("ps") == nullptr);
  REQUIRE(snapshot.jobs.size() == 2);
  CHECK(snapshot.jobs[1].name == "ps");
  CHECK(snapshot.jobs[1].expected == 2);
  CHECK_FALSE(snapshot.complete);
}

TEST_CASE("an index past the last that there is, is an error") {
  const ResolveFailure failure =
      two_merged(Says().expected("worker", INT32_MAX),
                 Says().task("worker", 0, "b0:1").task("worker", 1, "b1:1"))
          .failure();
  CHECK(failure.error.code == Code::kOutOfRange);
  CHECK(failure.error.message == "cluster: worker has more than 2147483647 tasks");
}

TEST_CASE("two sources that agree about this process give both evidences") {
  const Snapshot snapshot =
      two_merged(Says().task("worker", 0, "a:1").me("worker", 0, "hostname a"),
                 Says().task("ps", 0, "p:1").me("worker", 0, "pod a"))
          .answer();
  CHECK(snapshot.identity.evidence == std::vector<std::string>{"hostname a", "pod a"});
  CHECK(two_merged(Says().task("worker", 0, "a:1").me("worker", 0, "hostname a"),
                   Says().task("ps", 0, "p:1").me("ps", 0, "pod p"))
            .failure()
            .error.code == Code::kFailedPrecondition);
}

TEST_CASE("the warnings of all sources are told, of shared addresses ten") {
  Says many;
  for (int i = 0; i < 20; ++i) many = std::move(many).task("worker", i, "same:1");
  const Snapshot snapshot =
      two_merged(std::move(many), Says().task("ps", 0, "p:1").warning("the list was cut")).answer();
  CHECK(snapshot.warnings.size() == 11);
  CHECK(snapshot.warnings[0] == "the list was cut");
  CHECK(snapshot.warnings[10] == "cluster: worker 0 and worker 10 have the same address same:1");
}

TEST_CASE("a merge of which several fail tells all, and not who was cancelled for it") {
  const Behaviour fails_later = [](int64_t, const CancelToken&) -> Result<BackendAnswer> {
    return Error{Code::kUnavailable, "no route", {}};
  };
  CHECK(two_merged(fails(Code::kPermissionDenied, "forbidden"), fails_later)
            .failure()
            .error.message == "forbidden\nand no route");
  CHECK(two_merged(fails(Code::kPermissionDenied, "forbidden"), hangs()).failure().error.message ==
        "forbidden");
}
