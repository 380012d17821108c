// A leaf and a chain at work: who is asked, for how long, and what ends it.
#include <atomic>
#include <chrono>
#include <thread>

#include "resolve_world.h"

using namespace muster;
using namespace muster::testing;

TEST_CASE("a leaf's answer becomes a snapshot with its source and requests") {
  TreeWorld world;
  world.backend("a", Says().task("worker", 0, "h0:1").task("worker", 1, "h1:1"))
      .tree(TreeWorld::leaf("a"));
  const Snapshot snapshot = world.answer();
  CHECK(snapshot.complete);
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
  TreeWorld world = two_chained(hangs(), Says().task("worker", 0, "h:1"));
  world.config.timeout = std::chrono::milliseconds(200);
  const int64_t begin = monotonic_ns();
  const Snapshot snapshot = world.answer();
  CHECK(monotonic_ns() - begin < 200 * kMillisecond);
  CHECK(snapshot.sources[1].status == "DEADLINE_EXCEEDED");
}

TEST_CASE("a resolver's own timeout ends it before the whole's") {
  TreeWorld world;
  ResolverConfig root = chain_of({TreeWorld::leaf("a"), TreeWorld::leaf("b")});
  root.children[0].timeout = std::chrono::milliseconds(20);
  world.backend("a", hangs()).backend("b", Says().task("worker", 0, "h:1")).tree(std::move(root));
  const int64_t begin = monotonic_ns();
  CHECK(world.answer().sources[1].status == "DEADLINE_EXCEEDED");
  CHECK(monotonic_ns() - begin < 5000 * kMillisecond);
}

TEST_CASE("a cancel ends a resolve") {
  TreeWorld world;
  world.backend("a", hangs()).tree(TreeWorld::leaf("a"));
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
  const CancelToken cancel;
  TreeWorld world = two_chained(
      [&cancel](int64_t, const CancelToken&) -> Result<BackendAnswer> {
        cancel.cancel();
        return Error{Code::kUnavailable, "broken off", {}};
      },
      Says().task("worker", 0, "h:1"));
  const auto outcome = world.resolve(cancel);
  REQUIRE(std::holds_alternative<ResolveFailure>(outcome));
  const Error& error = std::get<ResolveFailure>(outcome).error;
  CHECK(error.code == Code::kCancelled);
  CHECK_FALSE(contains(error.message, "for you to mend"));
}

TEST_CASE("a switch cancels what began before it was set and what begins until it is reset") {
  const auto cancel_switch = std::make_shared<CancelSwitch>();
  const CancelToken before = CancelToken::of(cancel_switch);
  CHECK_FALSE(before.cancelled());
  cancel_switch->set();
  const CancelToken meanwhile = CancelToken::of(cancel_switch);
  CHECK(before.cancelled());
  CHECK(before.child().cancelled());
  CHECK(meanwhile.cancelled());
  cancel_switch->reset();
  CHECK(before.cancelled());
  CHECK(meanwhile.cancelled());
  const CancelToken after = CancelToken::of(cancel_switch);
  CHECK_FALSE(after.cancelled());
}

TEST_CASE(
    "what a chain's earlier resolvers said is told in order; the first that answers says nothing") {
  TreeWorld world;
  world.backend("a", fails(Code::kNotFound, "no")).backend("b", fails(Code::kUnavailable, "down"));
  world.backend("c", Says().task("worker", 0, "h:1"));
  world.tree(chain_of({TreeWorld::leaf("a"), TreeWorld::leaf("b"), TreeWorld::leaf("c")}));
  CHECK(world.answer().sources[0].message ==
        "cluster.chain[2] answered; cluster.chain[0] did not: NOT_FOUND, cluster.chain[1] did not: "
        "UNAVAILABLE");
  world.tree(chain_of({TreeWorld::leaf("c"), TreeWorld::leaf("a")}));
  CHECK(world.answer().sources[0].message.empty());
}

TEST_CASE("the first code that says more than 'not here' is the chain's") {
  const auto code = [](Code a, Code b) {
    return two_chained(fails(a, "x"), fails(b, "y")).failure().error.code;
  };
  CHECK(code(Code::kFailedPrecondition, Code::kUnavailable) == Code::kUnavailable);
  CHECK(code(Code::kUnavailable, Code::kFailedPrecondition) == Code::kUnavailable);
  CHECK(code(Code::kUnavailable, Code::kDeadlineExceeded) == Code::kUnavailable);
  CHECK(code(Code::kDeadlineExceeded, Code::kUnavailable) == Code::kDeadlineExceeded);
  CHECK(code(Code::kFailedPrecondition, Code::kNotFound) == Code::kNotFound);
}

TEST_CASE(
    "a chain of one that stops has nothing to explain, and lines of an error stay beneath it") {
  TreeWorld world;
  world.backend("a", fails(Code::kInvalidArgument, "wrong")).tree(chain_of({TreeWorld::leaf("a")}));
  CHECK(world.failure().error.message == "wrong");
  world.backend("a", fails(Code::kNotFound, "no\nTry: yes"));
  CHECK(world.failure().error.message ==
        "no resolver of the chain cluster answered:\n  cluster.chain[0] (a): NOT_FOUND: no\n    "
        "Try: yes");
}
