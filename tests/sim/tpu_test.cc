// Cloud TPU's part of the cloud without a network: versions, lists, states that change, and what a TPU VM is told.
#include "google_world.h"

using namespace muster::sim;

namespace {

constexpr const char* kWorld = R"(
kubernetes: {auth: {token: let-me-in}}
google:
  tpus:
    - {name: plum, zone: z-a, topology: 4x4, health: HEALTHY, ip: "10.0.0.{i}", external_ip: 203.0.113.1}
    - {name: fig, zone: z-b, type: v3-32, state: CREATING, becomes: {after: 1, state: READY, health: HEALTHY}}
    - {name: "s-{0..1}", zone: z-b, type: v4-16, ip: "10.0.1.{i}"}
  queued_resources:
    - {name: q, zone: z-b, prefix: s, count: 2, state: FAILED, error: no capacity}
  machine: {tpu: s-1, worker: 1, slices: [s-0, s-1]}
)";

const std::string kAll = "/v2/projects/orchard/locations/-/nodes";
const std::string kPlum = "/projects/orchard/locations/z-a/nodes/plum";
const std::string kQueued = "/projects/orchard/locations/z-b/queuedResources/q";
const std::string kOwn = "/computeMetadata/v1/instance/attributes/";

}  // namespace

TEST_CASE("each version has the shape of its own") {
  World world(kWorld);
  const auto v2 = world.ask("/v2" + kPlum);
  CHECK(v2.json["id"].IsString());
  CHECK(v2.json["networkEndpoints"].Size() == 4);
  CHECK(v2.json["networkEndpoints"][0]["port"].GetInt() == 8470);
  CHECK(v2.json["networkEndpoints"][3]["ipAddress"] == "10.0.0.3");
  CHECK(v2.json["networkEndpoints"][0]["accessConfig"]["externalIp"] == "203.0.113.1");
  CHECK(v2.json["acceleratorConfig"]["type"] == "V5LITE_POD");
  CHECK_FALSE(v2.json.HasMember("tensorflowVersion"));
  const auto v1 = world.ask("/v1" + kPlum);
  CHECK(v1.json["port"] == "8470");
  CHECK(v1.json["ipAddress"] == "10.0.0.0");
  CHECK(v1.json["serviceAccount"].IsString());
  CHECK_FALSE(v1.json["networkEndpoints"][0].HasMember("accessConfig"));
  CHECK_FALSE(v1.json.HasMember("runtimeVersion"));
  CHECK(world.ask("/v3" + kPlum).status == 404);
  const auto failed = world.ask("/v2" + kQueued);
  CHECK(failed.json["state"]["failedData"]["error"]["message"] == "no capacity");
  CHECK(failed.json["tpu"]["nodeSpec"][0].HasMember("multisliceParams"));
  CHECK(world.ask("/v2alpha1" + kQueued).json["tpu"]["nodeSpec"][0].HasMember("multiNodeParams"));
  CHECK(world.ask("/v1" + kQueued).status == 404);
}

TEST_CASE("refusals have a status and no list of errors") {
  World world(kWorld);
  for (const auto& [path, status] : std::map<std::string, std::string>{
           {"/v2/projects/orchard/locations/z-b/nodes/plum", "NOT_FOUND"},
           {"/v2/projects/other/locations/z-a/nodes/plum", "PERMISSION_DENIED"}}) {
    const auto reply = world.ask(path);
    CHECK(reply.json["error"]["status"] == status.c_str());
    CHECK(reply.json["error"]["code"].GetInt() == reply.status);
    CHECK_FALSE(reply.json["error"].HasMember("errors"));
  }
  CHECK(world.ask("/v2" + kPlum, {}, "GET", "", "wrong").json["error"]["status"] ==
        "UNAUTHENTICATED");
  CHECK(world.ask(kAll, {{"fields", "colour"}}).status == 400);
}

TEST_CASE("a list is of one location or of all, has pages, and tells what did not answer") {
  World world(kWorld);
  CHECK(world.ask(kAll).names("nodes").size() == 4);
  const auto first = world.ask(kAll, {{"pageSize", "3"}});
  CHECK(first.names("nodes").size() == 3);
  CHECK(world.ask(kAll, {{"pageSize", "3"}, {"pageToken", first.next()}}).names("nodes") ==
        Names{"projects/orchard/locations/z-b/nodes/s-1"});
  CHECK(world.ask(kAll, {{"pageToken", "made-up"}}).status == 400);
  CHECK(world.ask("/v2/projects/orchard/locations/z-a/nodes").names("nodes") ==
        Names{"projects/orchard/locations/z-a/nodes/plum"});
  const auto none = world.ask("/v2/projects/orchard/locations/z-c/nodes");
  CHECK(none.status == 200);
  CHECK_FALSE(none.json.HasMember("nodes"));
  World dark(std::string(kWorld) + "  unreachable: [z-a]\n");
  CHECK(dark.ask(kAll).names("nodes").size() == 3);
  CHECK(dark.ask(kAll).json["unreachable"][0] == "projects/orchard/locations/z-a");
  CHECK(dark.ask("/v2" + kPlum).status == 503);
}

TEST_CASE("a node becomes another after so many have asked for it, and has no endpoints before") {
  World world(kWorld);
  const std::string fig = "/v2/projects/orchard/locations/z-b/nodes/fig";
  const auto before = world.ask(fig);
  CHECK(before.json["state"] == "CREATING");
  CHECK_FALSE(before.json.HasMember("networkEndpoints"));
  const auto after = world.ask(fig);
  CHECK(after.json["state"] == "READY");
  CHECK(after.json["health"] == "HEALTHY");
  CHECK(after.json["networkEndpoints"].Size() == 4);
}

TEST_CASE("a TPU VM finds its slice among its attributes") {
  World world(kWorld);
  CHECK(world.ask(kOwn + "agent-worker-number").body == "1");
  CHECK(world.ask(kOwn + "accelerator-type").body == "v4-16");
  CHECK(world.ask(kOwn + "worker-network-endpoints").body ==
        "unknown:unknown:10.0.1.2,unknown:unknown:10.0.1.3");
  const auto env = world.ask(kOwn + "tpu-env").body;
  for (const char* line :
       {"NODE_ID: 's-1'\n", "WORKER_ID: '1'\n", "ZONE: 'z-b'\n", "MEGASCALE_NUM_SLICES: '2'\n",
        "MEGASCALE_SLICE_ID: '1'\n", "MEGASCALE_COORDINATOR_ADDRESS: '10.0.1.0'\n"})
    CHECK_MESSAGE(env.find(line) != std::string::npos, line);
  CHECK(world.ask("/computeMetadata/v1/instance/zone").body == "projects/271828182845/zones/z-b");
}

TEST_CASE("a scenario's TPUs are checked") {
  for (const char* wrong :
       {"google: {tpus: [{name: a}]}", "google: {tpus: [{name: a, zone: z, colour: red}]}",
        "google: {tpus: [{name: a, zone: z}, {name: a, zone: z}]}",
        "google: {queued_resources: [{name: q, zone: z}]}", "google: {machine: {tpu: nobody}}"})
    CHECK_MESSAGE(!read_scenario(wrong, "world.yaml"), wrong);
}
