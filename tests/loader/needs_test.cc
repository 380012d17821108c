// muster.permissions/1: what a plugin says that it needs, checked.
#include "tests/loader/world.h"

using namespace muster;
using namespace muster::test;

namespace {

Result<Needs> ask(const std::string& say, const NeedsRequest& request = {},
                  int64_t milliseconds = 20'000) {
  World world("needs", "needs");
  auto backend = world.create("{\"say\": \"" + say + "\"}");
  REQUIRE(backend.ok());
  REQUIRE((*backend)->can_say_needs());
  return (*backend)->needs(Session::live(world.lines.log(), world.secrets),
                           monotonic_ns() + milliseconds * 1'000'000, CancelToken(), request);
}

}  // namespace

TEST_CASE("what is pushed is what is told, for whom and for what was asked") {
  const auto needs = ask("two", {"alice", true});
  REQUIRE(needs.ok());
  REQUIRE(needs->permissions.size() == 2);
  CHECK(needs->permissions[0].principal_kind == "User");
  CHECK(needs->permissions[0].principal == "alice");
  CHECK(needs->permissions[0].scope == "here");
  CHECK(needs->permissions[0].rule == "list");
  CHECK(needs->permissions[1].rule == "watch");
  CHECK(needs->command == "sh");
  CHECK(needs->text == "# allow\n");
}

TEST_CASE("who needs nothing says nothing") {
  const auto needs = ask("nothing");
  REQUIRE(needs.ok());
  CHECK(needs->permissions.empty());
}

TEST_CASE("a failure is the plugin's own") {
  const auto needs = ask("fail");
  REQUIRE_FALSE(needs.ok());
  CHECK(needs.error().code == Code::kNotFound);
  CHECK(needs.error().message == "cannot find out where");
}

TEST_CASE("a permission that says nothing, and one without a grant, break a duty") {
  for (const char* say : {"no rule", "no grant"}) {
    CAPTURE(say);
    const auto needs = ask(say);
    REQUIRE_FALSE(needs.ok());
    CHECK(needs.error().detail("duty") == "MP-24");
  }
}

TEST_CASE("it ends at its deadline") {
  const auto needs = ask("wait", {}, 50);
  REQUIRE_FALSE(needs.ok());
  CHECK(needs.error().code == Code::kDeadlineExceeded);
}

TEST_CASE("a resolve has no permissions to tell") {
  World world("needs", "needs");
  const Error error = world.error(R"({"say": "outside"})");
  CHECK(error.code == Code::kFailedPrecondition);
}

TEST_CASE("a plugin without the extension cannot say") {
  World world("bad", "bad");
  auto backend = world.create("{}");
  REQUIRE(backend.ok());
  CHECK_FALSE((*backend)->can_say_needs());
}
