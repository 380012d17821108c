// Cloud TPU's answers and a TPU VM's attributes: what is read of them, and what a type of TPU is made of.
#include <doctest/doctest.h>

#include "plugins/tpu/accelerator.h"
#include "plugins/tpu/node.h"
#include "plugins/tpu/queued.h"
#include "plugins/tpu/slice.h"
#include "plugins/tpu/vm.h"

using namespace muster::tpu;

namespace {

// JSON that the parser may read past.
std::string padded(std::string json) {
  json.reserve(json.size() + 64);
  return json;
}

Node one(const std::string& members) {
  const std::string json =
      padded(R"({"name": "projects/p/locations/z-a/nodes/plum", )" + members + "}");
  auto node = read_node(json);
  REQUIRE(node);
  return *std::move(node);
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a type's number counts cores, or of v5litepod and v6e chips") {
  const auto made_of = [](const char* type) {
    const auto shape = shape_of(type);
    return shape ? Texts{std::to_string(shape->chips), std::to_string(shape->cores),
                         std::to_string(shape->hosts)}
                 : Texts{};
  };
  CHECK(made_of("v2-8") == Texts{"4", "8", "1"});
  CHECK(made_of("v3-2048") == Texts{"1024", "2048", "256"});
  CHECK(made_of("v4-8") == Texts{"4", "8", "1"});
  CHECK(made_of("v4-32") == Texts{"16", "32", "4"});
  CHECK(made_of("v5litepod-1") == Texts{"1", "1", "1"});
  CHECK(made_of("v5litepod-8") == Texts{"8", "8", "1"});
  CHECK(made_of("v5litepod-256") == Texts{"256", "256", "64"});
  CHECK(made_of("v5p-128") == Texts{"64", "128", "16"});
  CHECK(made_of("v6e-16") == Texts{"16", "16", "4"});
  CHECK(made_of("tpu7x-16") == Texts{"8", "16", "2"});
  for (const char* none :
       {"", "v4", "v4-", "v4-0", "v4-1", "v4-x", "v9-8", "-8", "v4-99999999999999"})
    CHECK_MESSAGE(made_of(none).empty(), none);
}

TEST_CASE("a topology is of two or three sides") {
  CHECK(chips_of("4x4") == 16);
  CHECK(chips_of("2x2x4") == 16);
  for (const char* none : {"", "4", "4x", "x4", "0x4", "2x2x2x2", "4*4", "99999x99999x99999"})
    CHECK_MESSAGE(!chips_of(none), none);
}

TEST_CASE("what does not fit a type is told, and what may be either way is not") {
  CHECK(disagreements("v5litepod-16", "4x4", 4).empty());
  CHECK(disagreements("v5litepod-16", "", 0).empty());
  CHECK(disagreements("v5litepod-8", "2x4", 1).empty());
  CHECK(disagreements("v5litepod-8", "2x4", 2).empty());
  CHECK(disagreements("unknown", "1x1", 9).empty());
  CHECK(disagreements("v4-16", "", 1) == Texts{"it has 1 network endpoint, and v4-16 has 2 hosts"});
  CHECK(disagreements("v4-16", "4x4x4", 2) ==
        Texts{"its topology 4x4x4 is of 64 chips, and v4-16 has 8"});
}

TEST_CASE("a node's port is a number or a text of one, and old nodes have one endpoint") {
  const Node list = one(
      R"("networkEndpoints": [{"ipAddress": "10.0.0.1", "port": 1}, {"ipAddress": "fd00::1", "port": "2"},
          {"ipAddress": "10.0.0.3"}, {"port": 5}])");
  REQUIRE(list.endpoints.size() == 4);
  CHECK(list.endpoints[0].port == 1);
  CHECK(list.endpoints[1].port == 2);
  CHECK(list.endpoints[2].port == 0);
  CHECK(list.endpoints[3].ip.empty());
  const Node old = one(R"("ipAddress": "10.0.0.1", "port": "8471")");
  REQUIRE(old.endpoints.size() == 1);
  CHECK(old.endpoints[0].port == 8471);
  CHECK(one(R"("state": "READY")").endpoints.empty());
  CHECK(list.zone == "z-a");
}

TEST_CASE("what is no address or no port of a node is refused by its path") {
  const auto why = [](const std::string& members) {
    const auto node =
        read_node(padded(R"({"name": "projects/p/locations/z/nodes/n", )" + members + "}"));
    return node ? std::string() : node.failure().message;
  };
  for (const char* address :
       {R"("None")", R"("null")", R"("10.1.0n1")", R"("0x7f000001")", R"("us-central1-b")",
        R"("10.1")", R"("0.0.0.0")", R"("fe80::1%eth0")", "7", "true", "null", "[]", "{}"}) {
    const std::string said =
        why(std::string(R"("networkEndpoints": [{}, {"ipAddress": )") + address + "}]");
    CHECK_MESSAGE(said.find("networkEndpoints[1].ipAddress is ") != std::string::npos, said);
  }
  for (const char* port :
       {"0", "-1", "70000", R"("x")", R"("0")", R"("70000")", "1.5", "null", "[]"}) {
    const std::string said = why(std::string(R"("networkEndpoints": [{"port": )") + port + "}]");
    CHECK_MESSAGE(said.find("networkEndpoints[0].port is ") != std::string::npos, said);
  }
  CHECK(why(R"("networkEndpoints": {})").find("networkEndpoints is a map") != std::string::npos);
}

TEST_CASE("only READY counts, and health that somebody tells") {
  const auto why = [](const std::string& members, bool health = true) {
    return why_missing(one(members), health);
  };
  CHECK(why(R"("state": "READY")").empty());
  CHECK(why(R"("state": "READY", "health": "HEALTHY")").empty());
  CHECK(why(R"("state": "READY", "health": "TIMEOUT")") ==
        "it is READY, and its health is TIMEOUT");
  CHECK(why(R"("state": "READY", "health": "TIMEOUT")", false).empty());
  CHECK(why(R"("state": "FUTURE", "health": "HEALTHY")", false) == "FUTURE");
  CHECK(why(R"("id": "1")") == "it has no state yet");
}

TEST_CASE("a ready TPU without an address of a host misses that host alone") {
  const Node node =
      one(R"("state": "READY", "networkEndpoints": [{"ipAddress": "10.0.0.1"}, {"port": 5}])");
  const Slice slice = slice_of(node, {}, 0);
  REQUIRE(slice.workers.size() == 2);
  CHECK(slice.workers[0].port == 8470);
  CHECK(slice.workers[0].missing.empty());
  CHECK(slice.workers[1].missing == "it has no address yet");
  Answer answer;
  answer.slices = {slice};
  CHECK_FALSE(answer.whole());
  CHECK(answer.why() == "TPU 'plum': it has no address yet");
}

TEST_CASE("a node is one by its whole name") {
  for (const char* wrong : {R"({"name": "plum"})", R"({"name": "projects/p/locations/z/nodes/"})",
                            R"({"name": 7})", "[]", "7", ""})
    CHECK_MESSAGE(!read_node(padded(wrong)), wrong);
}

TEST_CASE("a queued resource names its nodes one by one, or by a prefix in either version") {
  const auto names = [](const std::string& specs) {
    Texts out;
    const auto queued = read_queued(
        padded(R"({"name": "projects/p/locations/z/queuedResources/q", "tpu": {"nodeSpec": [)" +
               specs + "]}}"));
    if (!queued) return Texts{queued.failure().message};
    for (const QueuedNode& node : queued->nodes) out.push_back(node.zone + "/" + node.name);
    return out;
  };
  CHECK(names(R"({"nodeId": "a", "parent": "projects/p/locations/y"}, {"nodeId": "b"})") ==
        Texts{"y/a", "z/b"});
  CHECK(names(R"({"multisliceParams": {"nodeCount": 2, "nodeIdPrefix": "s"}})") ==
        Texts{"z/s-0", "z/s-1"});
  CHECK(names(R"({"multiNodeParams": {"nodeCount": 1, "nodeIdPrefix": "t"}})") == Texts{"z/t-0"});
  CHECK(names("").empty());
  for (const char* wrong : {R"({"multiNodeParams": {"nodeCount": 2}})",
                            R"({"multiNodeParams": {"nodeCount": -1, "nodeIdPrefix": "t"}})",
                            R"({"multiNodeParams": {"nodeCount": 99999999, "nodeIdPrefix": "t"}})"})
    CHECK_MESSAGE(names(wrong)[0].find("tpu.nodeSpec[0].multiNodeParams.node") != std::string::npos,
                  names(wrong)[0]);
  CHECK(names("{}")[0].find("tpu.nodeSpec[0] names no node") != std::string::npos);
}

TEST_CASE("tpu-env is lines of keys, with one pair of quotes taken away") {
  const TpuEnv env = read_tpu_env(
      "ACCELERATOR_TYPE: 'v4-16'\nNODE_ID:plum\r\nWORKER_ID: \"3\"\nZONE: 'it's'\n"
      "MEGASCALE_COORDINATOR_ADDRESS: 'fd20::1'\nMEGASCALE_NUM_SLICES: '0'\nMEGASCALE_SLICE_ID: "
      "'x'\n"
      "nonsense\n: \nTOPOLOGY: '");
  CHECK(env.type == "v4-16");
  CHECK(env.node == "plum");
  CHECK(env.worker == 3);
  CHECK(env.zone == "it's");
  CHECK(env.megascale_address == "fd20::1");
  CHECK(env.slices == 1);
  CHECK(env.slice == 0);
  CHECK(env.topology == "'");
  CHECK_FALSE(read_tpu_env("WORKER_ID: 'one'").worker);
  CHECK(read_tpu_env("").node.empty());
}

TEST_CASE("an endpoint's address is all from its third field on") {
  CHECK(read_worker_endpoints("u:u:10.0.0.1, u:u:fd20::1") == Texts{"10.0.0.1", "fd20::1"});
  CHECK(read_worker_endpoints("") == Texts{});
  for (const char* none : {"10.0.0.1", "a:b", "a:b:", "u:u:10.0.0.1,,u:u:10.0.0.2"})
    CHECK_MESSAGE(!read_worker_endpoints(none), none);
}
