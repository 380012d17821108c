// Google's part of the cloud without a network: who gets in, lists, pages, filters, masks.
#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "google_world.h"

using namespace muster::sim;

namespace {

constexpr const char* kWorld = R"(
kubernetes: {auth: {token: let-me-in}}
google:
  instances:
    - {name: "w-{0..4}", zone: z-a, labels: {job: "{i%2}"}}
    - {name: v, zone: z-b, status: STAGING}
  groups:
    - {name: g, zone: z-a, members: [{name: "w-{0..4}"}, {name: w-9, action: CREATING}]}
    - {name: u, zone: z-b, managed: false, members: [{name: v}]}
  machine: {instance: w-1, zone: z-a, attributes: {own-key: "1"}}
)";

const std::string kList = "/compute/v1/projects/orchard/zones/z-a/instances";
const std::string kGroup = "/compute/v1/projects/orchard/zones/z-a/instanceGroups/g/listInstances";
const std::string kManaged =
    "/compute/v1/projects/orchard/zones/z-a/instanceGroupManagers/g/listManagedInstances";

}  // namespace

TEST_CASE("without a token, or with another, Compute Engine is 401") {
  World world(kWorld);
  CHECK(world.ask(kList, {}, "GET", "", "").status == 401);
  CHECK(world.ask(kList, {}, "GET", "", "wrong").status == 401);
  CHECK(world.ask(kList, {}, "GET", "", "a.b.c").status == 401);
  CHECK(world.ask(kList).status == 200);
}

TEST_CASE("a list has pages, and a token serves its own list alone") {
  World world(kWorld);
  const auto first = world.ask(kList, {{"maxResults", "3"}});
  CHECK(first.names() == Names{"w-0", "w-1", "w-2"});
  const auto second = world.ask(kList, {{"maxResults", "3"}, {"pageToken", first.next()}});
  CHECK(second.names() == Names{"w-3", "w-4"});
  CHECK(second.next().empty());
  CHECK(world.ask(kList, {{"pageToken", "made-up"}}).status == 400);
  CHECK(world.ask(kGroup, {{"pageToken", first.next()}}, "POST", "{}").status == 400);
}

TEST_CASE("a filter selects in either language, never in both") {
  World world(kWorld);
  const auto names = [&](const char* filter) {
    return world.ask(kList, {{"filter", filter}}).names();
  };
  CHECK(names("labels.job = 1") == Names{"w-1", "w-3"});
  CHECK(names("labels.job = 1 AND name != w-1") == Names{"w-3"});
  CHECK(names("(labels.job = 1) (name = w-3)") == Names{"w-3"});
  CHECK(names("name = w-0 OR name = \"w-4\"") == Names{"w-0", "w-4"});
  CHECK(names("NOT labels.job = 1") == Names{"w-0", "w-2", "w-4"});
  CHECK(names("labels.job:*").size() == 5);
  CHECK(names("labels.no:*").empty());
  CHECK(names("name eq \"w-(0|3)\"") == Names{"w-0", "w-3"});
  CHECK(names("name ne w-.").empty());
  for (const char* wrong :
       {"colour = red", "name eq w-. AND name = w-0", "name", "(name = w-0", "name = \"w"})
    CHECK_MESSAGE(world.ask(kList, {{"filter", wrong}}).status == 400, wrong);
}

TEST_CASE("a mask leaves what it names, and an unknown field is refused") {
  World world(kWorld);
  const auto masked = [&](const char* fields) {
    return world.ask(kList, {{"fields", fields}, {"maxResults", "1"}}).body;
  };
  CHECK(masked("items(name,networkInterfaces/networkIP)") ==
        R"({"items":[{"name":"w-0","networkInterfaces":[{"networkIP":"10.128.0.0"}]}]})");
  CHECK(masked("items/name,nextPageToken").find("nextPageToken") != std::string::npos);
  CHECK(masked("items/labels/*") == R"({"items":[{"labels":{"job":"0"}}]})");
  CHECK(world.ask(kList, {{"fields", "items(nonsense)"}}).status == 400);
  CHECK(world.ask(kList, {{"fields", "items(name"}}).status == 400);
}

TEST_CASE("a group is listed by POST with a body, its plan by POST without pages") {
  World world(kWorld);
  CHECK(world.ask(kGroup).status == 404);
  CHECK(world.ask(kGroup, {}, "POST").status == 400);
  CHECK(world.ask(kGroup, {}, "POST", R"({"instanceState": "ALL"})").json["items"].Size() == 6);
  CHECK(world.ask(kGroup, {}, "POST", R"({"instanceState": "RUNNING"})").json["items"].Size() == 5);
  const auto plan = world.ask(kManaged, {{"maxResults", "2"}}, "POST");
  REQUIRE(plan.json["managedInstances"].Size() == 6);
  CHECK(plan.next().empty());
  CHECK_FALSE(plan.json["managedInstances"][5].HasMember("instanceStatus"));
  CHECK(
      world
          .ask(
              "/compute/v1/projects/orchard/zones/z-b/instanceGroupManagers/u/listManagedInstances",
              {}, "POST")
          .status == 404);
}

TEST_CASE("an aggregated list has a warning where a zone has nothing on the page") {
  World world(kWorld);
  const auto all =
      world.ask("/compute/v1/projects/orchard/aggregated/instances", {{"maxResults", "5"}});
  CHECK(all.json["items"]["zones/z-a"]["instances"].Size() == 5);
  CHECK(std::string(all.json["items"]["zones/z-b"]["warning"]["code"].GetString()) ==
        "NO_RESULTS_ON_PAGE");
  const auto rest = world.ask("/compute/v1/projects/orchard/aggregated/instances",
                              {{"maxResults", "5"}, {"pageToken", all.next()}});
  CHECK(rest.json["items"]["zones/z-b"]["instances"].Size() == 1);
}

TEST_CASE(
    "the metadata server tells leaves, folders and JSON, to those alone who send its header") {
  World world(kWorld);
  const auto text = [&](const char* path) {
    return world.ask(std::string("/computeMetadata/v1/") + path).body;
  };
  CHECK(text("project/project-id") == "orchard");
  CHECK(text("instance/zone") == "projects/271828182845/zones/z-a");
  CHECK(text("instance/name") == "w-1");
  CHECK(text("instance/attributes/") == "own-key\n");
  const auto all = world.ask("/computeMetadata/v1/instance/", {{"recursive", "true"}});
  CHECK(all.json["id"].IsUint64());
  CHECK(std::string(all.json["attributes"]["own-key"].GetString()) == "1");
  CHECK(all.json.HasMember("machineType"));
  CHECK(world.ask("/computeMetadata/v1/instance/nonsense").status == 404);
  world.flavor = "";
  CHECK(world.ask("/computeMetadata/v1/instance/name").status == 403);
}

TEST_CASE(
    "who waits for a change of metadata is answered by the change, or after a while with what "
    "there is") {
  World world(kWorld);
  const std::string path = "/computeMetadata/v1/instance/preempted";
  const auto wait = [&](const char* etag, const char* seconds) {
    Query query = {{"wait_for_change", "true"}, {"timeout_sec", seconds}};
    if (etag != nullptr) query.emplace("last_etag", etag);
    return world.ask(path, query);
  };
  const auto now = world.ask(path);
  CHECK(now.body == "FALSE");
  CHECK(wait("NONE", "60").etag == now.etag);
  // With nothing new.
  const auto began = std::chrono::steady_clock::now();
  CHECK(wait(now.etag.c_str(), "1").etag == now.etag);
  CHECK(std::chrono::steady_clock::now() - began >= std::chrono::seconds(1));

  std::string changed = kWorld;
  changed.replace(changed.find("zone: z-a, attributes"), 9, "zone: z-a, preempted: true");
  for (const char* known : {now.etag.c_str(), static_cast<const char*>(nullptr)}) {
    world.replace(kWorld);
    Reply told{};
    std::thread waiting([&] { told = wait(known, "5"); });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    world.replace(kWorld);  // no change
    world.replace(changed);
    waiting.join();
    CHECK(told.body == "TRUE");
    CHECK(told.etag != now.etag);
  }
}

TEST_CASE("a token that was given gets in, and a form that is none does not") {
  World world(kWorld);
  const auto token = world.ask("/computeMetadata/v1/instance/service-accounts/default/token");
  CHECK(world.ask(kList, {}, "GET", "", token.json["access_token"].GetString()).status == 200);
  CHECK(world.ask("/token", {}, "POST", "{}").status == 400);
  CHECK(world.ask("/v1/token", {}, "GET").status == 405);
}
