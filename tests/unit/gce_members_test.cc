// Compute Engine's lists: what is read of an instance, and who is a member.
#include <doctest/doctest.h>

#include "plugins/gce/members.h"
#include "plugins/gce/own_address.h"
#include "plugins/support/google/pages.h"

using namespace muster::gce;

namespace {

// JSON that the parser may read past.
std::string padded(std::string json) {
  json.reserve(json.size() + 64);
  return json;
}

Instance one(const std::string& members, const Options& options = {}) {
  const std::string json = padded(R"({"items": [{"name": "w-0", "status": "RUNNING")" +
                                  (members.empty() ? "" : ", " + members) + "}]}");
  auto page = read_instances(json, "z", "example.com:p", options);
  REQUIRE(page);
  REQUIRE(page->instances.size() == 1);
  return page->instances[0];
}

GroupMember member(const std::string& name, const std::string& action = "NONE",
                   const std::string& status = "RUNNING") {
  GroupMember out;
  out.name = name;
  out.zone = "z";
  out.action = action;
  out.status = status;
  return out;
}

Instance running(const std::string& name) {
  Instance out;
  out.name = name;
  out.zone = "z";
  out.status = "RUNNING";
  out.host = "h-" + name;
  return out;
}

}  // namespace

TEST_CASE("only RUNNING counts, and each other status is a reason") {
  for (const char* status : {"PROVISIONING", "STAGING", "STOPPING", "STOPPED", "SUSPENDING",
                             "SUSPENDED", "REPAIRING", "TERMINATED", "DEPROVISIONING"}) {
    Instance instance = running("w");
    instance.status = status;
    const std::string why = why_missing(member("w"), &instance);
    CHECK_MESSAGE(why.rfind(std::string(status) + ": ", 0) == 0, why);
    CHECK(why_missing(instance) == why);
    CHECK(why_missing(member("w", "NONE", status), nullptr) == why);
  }
  Instance instance = running("w");
  CHECK(why_missing(member("w"), &instance).empty());
  instance.status = "LATER_ADDED";
  CHECK(why_missing(instance) == "LATER_ADDED");
  instance.status = "";
  CHECK(why_missing(instance) == "it has no status yet");
}

TEST_CASE("what a group is doing with a running instance is a reason, unless it only looks at it") {
  const Instance instance = running("w");
  for (const char* action :
       {"CREATING", "CREATING_WITHOUT_RETRIES", "RECREATING", "DELETING", "ABANDONING",
        "RESTARTING", "RESUMING", "STARTING", "STOPPING", "SUSPENDING"})
    CHECK_MESSAGE(why_missing(member("w", action), &instance).rfind("being ", 0) == 0, action);
  for (const char* action : {"NONE", "VERIFYING", "REFRESHING", "LATER_ADDED", ""})
    CHECK_MESSAGE(why_missing(member("w", action), &instance).empty(), action);
}

TEST_CASE("a machine's own addresses are those that others may know") {
  CHECK(read_fib_trie(R"(Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 10.40.0.0
        /24 link UNICAST
     |-- 10.40.0.7
        /32 host LOCAL
     |-- 10.40.0.255
        /32 link BROADCAST
     |-- 127.0.0.1
        /32 host LOCAL
)") == Addresses{address_bytes("10.40.0.7")});
  CHECK(read_if_inet6("00000000000000000000000000000001 01 80 10 80       lo\n"
                      "fd20004c09a100000000000100000000 02 60 00 80     eth0\n"
                      "fe80000000000000000000000000dead 02 40 20 80     eth0\n") ==
        Addresses{address_bytes("fd20:4c:9a1:0:0:1:0:0")});
  CHECK(address_bytes("fd20:4c:9a1::1:0:0") == address_bytes("fd20:4c:9a1:0:0:1:0:0"));
  CHECK(address_bytes("w-0.c.p.internal").empty());
  CHECK(read_fib_trie("|-- \n/32 host LOCAL\n|-- 10.0.0").empty());
  CHECK(read_if_inet6("zz 01 80 00\n000000000000000000000000000000zz 01 80 00 80 x\n").empty());
}

TEST_CASE("accelerators of machine types that have them built in") {
  const auto devices = [](const char* type) {
    const Devices found = devices_of(type);
    return found.type + std::to_string(found.count);
  };
  CHECK(devices("a2-highgpu-1g") == "GPU1");
  CHECK(devices("a2-megagpu-16g") == "GPU16");
  CHECK(devices("a3-ultragpu-8g") == "GPU8");
  CHECK(devices("a4x-highgpu-4g") == "GPU4");
  CHECK(devices("g2-standard-4") == "GPU1");
  CHECK(devices("g2-standard-24") == "GPU2");
  CHECK(devices("g2-standard-96") == "GPU8");
  CHECK(devices("g4-standard-192") == "GPU4");
  CHECK(devices("ct6e-standard-4t") == "TPU4");
  CHECK(devices("ct5lp-hightpu-8t") == "TPU8");
  CHECK(devices("tpu7x-standard-4t") == "TPU4");
  for (const char* none : {"n1-standard-32", "e2-micro", "a2", "a2-", "ct", "a3-highgpu-g", ""})
    CHECK(devices(none) == "0");
}

TEST_CASE("the domain of an internal DNS name knows projects that belong to an organization") {
  Options options;
  options.address = AddressKind::kDns;
  CHECK(one("", options).host == "w-0.z.c.p.example.com.internal");
  options.address = AddressKind::kDnsGlobal;
  CHECK(one("", options).host == "w-0.c.p.example.com.internal");
  CHECK(one(R"("hostname": "own.example")", options).host == "own.example");
}

TEST_CASE("the interface is the one of a number, a network or a subnetwork") {
  const std::string interfaces =
      R"("networkInterfaces": [{"network": "x/global/networks/a", "networkIP": "10.0.0.1"},
          {"network": "x/b", "subnetwork": "x/s", "networkIP": "10.0.0.2"}])";
  Options options;
  CHECK(one(interfaces, options).host == "10.0.0.1");
  options.interface.number = 1;
  CHECK(one(interfaces, options).host == "10.0.0.2");
  options.interface.network = "b";
  CHECK(one(interfaces, options).host == "10.0.0.2");
  options.interface.network = "x";
  CHECK(one(interfaces, options).no_host == "it has no interface in network 'x'");
  options.interface = {0, "", "s"};
  CHECK(one(interfaces, options).host == "10.0.0.2");
}

TEST_CASE("the fields asked for are those that are looked at") {
  Options options;
  CHECK(instance_fields(options).find("networkInterfaces(name,networkIP,ipv6Address)") !=
        std::string::npos);
  CHECK(instance_fields(options).find("metadata") == std::string::npos);
  CHECK(instance_fields(options).find("labels") == std::string::npos);
  options.port.metadata = "port";
  options.rank_by = RankBy::kLabel;
  options.tag = "t";
  for (const char* field : {",metadata/items", ",labels", ",tags/items"})
    CHECK(instance_fields(options).find(field) != std::string::npos);
}

TEST_CASE("an aggregated page tells the zones that did not answer, in each of the ways") {
  const Options options;
  for (
      const char* json :
      {R"({"items": {"zones/a": {"warning": {"code": "NO_RESULTS_ON_PAGE"}}}, "unreachables": ["zones/b"]})",
       R"({"items": {"zones/b": {"warning": {"code": "UNREACHABLE"}}}})"}) {
    const auto page = read_instances(padded(json), "", "p", options);
    REQUIRE(page);
    CHECK(page->unreachable == std::vector<std::string>{"zones/b"});
  }
  const auto page =
      read_instances(padded(R"({"warning": {"code": "PARTIAL_SUCCESS"}})"), "", "p", options);
  REQUIRE(page);
  CHECK(page->unreachable.size() == 1);
}

TEST_CASE(
    "a group's member is one by its URL from the project on, whatever host stands before it") {
  const auto page = read_group(
      padded(
          R"({"items": [{"instance": "https://compute.other.example/compute/v1/projects/p/zones/z-1/instances/w-0", "status": "RUNNING"}]})"),
      false);
  REQUIRE(page);
  CHECK(page->members[0].name == "w-0");
  CHECK(page->members[0].zone == "z-1");
  CHECK_FALSE(read_group(padded(R"({"items": [{"instance": "w-0"}]})"), false));
}

TEST_CASE("the error of a group's last attempt is cut to a length, but never within a character") {
  std::string message = "a";
  while (message.size() < 300) message += "é";
  const auto page = read_group(
      padded(
          R"({"managedInstances": [{"instance": "projects/p/zones/z/instances/w-0", "lastAttempt": {"errors": {"errors": [{"code": "X", "message": ")" +
          message + R"("}]}}}]})"),
      true);
  REQUIRE(page);
  REQUIRE(page->members.size() == 1);
  CHECK(page->members[0].error == "X: " + message.substr(0, 199) + "…");
}

TEST_CASE("an instance that may be taken back says so, and a group's member how healthy it is") {
  CHECK(one(R"("scheduling": {"provisioningModel": "SPOT"})").provisioning == "SPOT");
  CHECK(one(R"("scheduling": {"provisioningModel": "STANDARD"})").provisioning.empty());
  CHECK(instance_fields({}).find("scheduling/provisioningModel") != std::string::npos);
  const auto page = read_group(
      padded(
          R"({"managedInstances": [{"instance": "projects/p/zones/z/instances/w-0", "version": {"instanceTemplate": "global/t-1"}, "instanceHealth": [{"detailedHealthState": "UNHEALTHY"}]}]})"),
      true);
  REQUIRE(page);
  const auto members = join(page->members, {running("w-0")}, {});
  REQUIRE(members);
  CHECK(members->members[0].health == "UNHEALTHY");
  CHECK(members->members[0].template_name == "t-1");
}

TEST_CASE("a group expects all that it lists but those that leave") {
  const auto members = join({member("a"), member("b", "DELETING"), member("c", "ABANDONING"),
                             member("d", "CREATING", "")},
                            {running("a"), running("b"), running("c")}, {});
  REQUIRE(members);
  CHECK(*members->expected == 2);
  CHECK(members->members[0].missing.empty());
  CHECK(members->members[1].missing == "being deleted by its group");
  CHECK(members->members[2].missing == "being abandoned by its group");
  CHECK(members->members[3].missing == "being created");
}

TEST_CASE("an instance that nobody is a member by is none") {
  const auto members = join({member("a")}, {running("a"), running("stranger")}, {});
  REQUIRE(members);
  CHECK(members->members.size() == 1);
}

TEST_CASE("named ports are found by name, and the others told") {
  std::string known;
  const std::string json =
      padded(R"({"namedPorts": [{"name": "rpc", "port": 7000}, {"name": "x", "port": 1}]})");
  CHECK(*named_port(json, "rpc", known) == 7000);
  known.clear();
  CHECK(*named_port(json, "y", known) == 0);
  CHECK(known == "'rpc', 'x'");
  for (const char* port : {"70000", "0", "-1", R"("7000")", "null", "1.5"}) {
    const auto found = named_port(
        padded(std::string(R"({"namedPorts": [{"name": "rpc", "port": )") + port + "}]}"), "rpc",
        known);
    REQUIRE_FALSE(found);
    CHECK(found.failure().code == MUSTER_E_DATA_LOSS);
    CHECK(found.failure().message.find("namedPorts[0].port is ") != std::string::npos);
  }
}

TEST_CASE("a list of pages that makes no progress is DATA_LOSS, after longer and longer pauses") {
  using muster::support::google::Pages;
  Pages pages;
  int64_t paused_ns = 0;
  int taken = 0;
  std::string why;
  for (; why.empty() && taken < 1000; ++taken) {
    const auto status = pages.take(0, "t" + std::to_string(taken), "the list");
    if (!status) {
      CHECK(status.failure().code == MUSTER_E_DATA_LOSS);
      why = status.failure().message;
    }
    paused_ns += pages.pause_ns();
    if (taken < 9) CHECK(pages.pause_ns() == 0);
  }
  CHECK(taken == 100);
  CHECK(why == "the list does not go on: 100 pages in a row have no entry");
  CHECK(paused_ns > INT64_C(10'000'000'000));
  CHECK(paused_ns < INT64_C(25'000'000'000));
  Pages busy;
  for (int page = 0; page < 300; ++page) {
    REQUIRE(busy.take(page % 50 == 0 ? 1 : 0, "t" + std::to_string(page), "the list"));
    CHECK_FALSE(busy.done());
  }
  REQUIRE(busy.take(0, "", "the list"));
  CHECK(busy.done());
}
