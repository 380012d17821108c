// muster.plan/1: how many requests a plugin says that it makes, checked.
#include "tests/loader/world.h"

using namespace muster;
using namespace muster::test;

namespace {

Result<RequestPlan> ask(const std::string& say, int64_t members = 25) {
  World world("needs", "needs");
  auto backend = world.create("{\"say\": \"" + say + "\"}");
  REQUIRE(backend.ok());
  REQUIRE((*backend)->can_plan());
  return (*backend)->plan(Session::live(world.lines.log(), world.secrets),
                          monotonic_ns() + INT64_C(20'000'000'000), CancelToken(), members);
}

}  // namespace

TEST_CASE("what is pushed is what is planned, for so many members as were asked") {
  const auto plan = ask("", 25);
  REQUIRE(plan.ok());
  REQUIRE(plan->size() == 1);
  const PlannedRequests& list = plan->front();
  CHECK(list.api == "api");
  CHECK(list.request == "list");
  CHECK(list.reason == "10 a page");
  CHECK(list.least == 1);
  CHECK(list.most == 3);
  CHECK(list.quota == "reads");
  CHECK(list.quota_per_minute == 600);
}

TEST_CASE("who makes no requests plans none") {
  const auto plan = ask("nothing");
  REQUIRE(plan.ok());
  CHECK(plan->empty());
}

TEST_CASE("a failure is the plugin's own") {
  const auto plan = ask("fail");
  REQUIRE_FALSE(plan.ok());
  CHECK(plan.error().code == Code::kNotFound);
  CHECK(plan.error().message == "cannot find out where");
}

TEST_CASE("a plan without a name, a count or a whole quota breaks a duty") {
  for (const char* say : {"no name", "less than least", "half a quota"}) {
    CAPTURE(say);
    const auto plan = ask(say);
    REQUIRE_FALSE(plan.ok());
    CHECK(plan.error().detail("duty") == "MP-25");
  }
}

TEST_CASE("a resolve has no plan to tell") {
  World world("needs", "needs");
  const Error error = world.error(R"({"say": "outside plan"})");
  CHECK(error.code == Code::kFailedPrecondition);
}

TEST_CASE("a plugin without the extension cannot say") {
  World world("bad", "bad");
  auto backend = world.create("{}");
  REQUIRE(backend.ok());
  CHECK_FALSE((*backend)->can_plan());
}
