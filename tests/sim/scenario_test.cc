// Scenario files: what a few lines stand for, and how mistakes are told.
#include <doctest/doctest.h>

#include "tools/muster-sim/pattern.h"
#include "tools/muster-sim/pod_json.h"
#include "tools/muster-sim/scenario.h"

using namespace muster::sim;

namespace {

std::vector<Pod> pods_of(const std::string& pods) {
  const auto scenario = read_scenario("kubernetes:\n  pods:\n" + pods, "world.yaml");
  REQUIRE_MESSAGE(scenario, (scenario ? std::string() : scenario.error()));
  return scenario->kubernetes.pods;
}

std::string mistakes_of(const std::string& text) {
  const auto scenario = read_scenario(text, "world.yaml");
  REQUIRE_FALSE(scenario);
  return scenario.error();
}

}  // namespace

TEST_CASE("a range stands for as many pods as it counts") {
  const auto pods =
      pods_of("    - {name: \"w-{0..2}\", ip: \"10.8.0.{10..12}\", labels: {index: \"{0..2}\"}}\n");
  REQUIRE(pods.size() == 3);
  CHECK(pods[2].name == "w-2");
  CHECK(pods[2].ips == std::vector<std::string>{"10.8.0.12"});
  CHECK(pods[2].labels.at("index") == "2");
}

TEST_CASE("ranges keep zeros in front and may count down") {
  CHECK(expand_pattern("w-{08..11}", 1) == "w-09");
  CHECK(expand_pattern("w-{3..1}", 2) == "w-1");
  CHECK(expand_pattern("{1..2}-{5..6}", 1) == "2-6");
}

TEST_CASE("the place of a pod can be calculated with") {
  CHECK(expand_pattern("10.{i/250%4+1}.0.{i%250}", 1260) == "10.2.0.10");
  CHECK(expand_pattern("fd00::{i:x}", 255) == "fd00::ff");
  CHECK(expand_pattern("{i:04}", 7) == "0007");
  CHECK(expand_pattern("{i/0} {j} {", 7) == "{i/0} {j} {");
}

TEST_CASE("a running pod gets address, node and readiness by itself, a pending one does not") {
  const auto pods = pods_of(
      "    - {name: a}\n    - {name: b, phase: Pending}\n    - {name: c, ip: none, ready: "
      "false}\n");
  CHECK(pods[0].ips.size() == 1);
  CHECK(pods[0].node == "node-a");
  CHECK(pods[0].ready);
  CHECK(pods[1].ips.empty());
  CHECK(pods[1].node.empty());
  CHECK_FALSE(pods[1].ready);
  CHECK(pods[2].ips.empty());
  CHECK_FALSE(pods[2].ready);
}

TEST_CASE("the uid depends on namespace and name alone") {
  const auto once = pods_of("    - {name: a}\n    - {name: b}\n");
  const auto again = pods_of("    - {name: b}\n    - {name: a}\n");
  CHECK(once[0].uid == again[1].uid);
  CHECK(once[0].uid != once[1].uid);
  CHECK(once[0].uid.size() == 36);
}

TEST_CASE("a reason goes where the real status has it") {
  const auto pods = pods_of(
      "    - {name: a, phase: Pending, reason: \"Unschedulable: no room\"}\n"
      "    - {name: b, phase: Pending, node: n, reason: ImagePullBackOff}\n"
      "    - {name: c, phase: Failed, reason: \"Evicted: low on memory\"}\n");
  REQUIRE(pods[0].conditions.size() == 1);
  CHECK(pods[0].conditions[0].type == "PodScheduled");
  CHECK(pods[0].conditions[0].message == "no room");
  CHECK(pods[1].waiting == "ImagePullBackOff");
  CHECK(pods[2].reason == "Evicted");
  CHECK(pods[2].message == "low on memory");
}

TEST_CASE("padding makes a pod exactly as big as asked") {
  for (const int bytes : {3000, 3001, 4096, 6144, 6145, 6200, 20000}) {
    Pod pod;
    pod.name = "a";
    pod.containers.emplace_back();
    pod.bytes = bytes;
    CHECK(pod_json(pod, 1).size() == static_cast<std::size_t>(bytes));
  }
}

TEST_CASE("an unknown key is told with its place and the nearest known one") {
  CHECK(mistakes_of("kubernetes:\n  pods:\n    - {name: a, lables: {x: y}}\n") ==
        "world.yaml:3:17: a pod has no key 'lables'; nearest: 'labels'");
}

TEST_CASE("all mistakes of a file are told at once") {
  const auto text = mistakes_of(
      "tsl: true\n"
      "kubernetes:\n"
      "  page_size: many\n"
      "  pods:\n"
      "    - {name: \"a-{0..2}\", ip: \"10.0.0.{1..2}\"}\n"
      "    - {phase: Asleep}\n"
      "  faults:\n"
      "    - {match: \"GET pods\", status: 99}\n");
  CHECK(text.find("world.yaml:1:1: a scenario has no key 'tsl'; nearest: 'tls'") !=
        std::string::npos);
  CHECK(text.find("world.yaml:3:14: 'page_size'") != std::string::npos);
  CHECK(text.find("world.yaml:5:30: '10.0.0.{1..2}' stands for 2 texts") != std::string::npos);
  CHECK(text.find("a pod needs a 'name'") != std::string::npos);
  CHECK(text.find("'phase' of a pod must be one of: Pending, Running") != std::string::npos);
  CHECK(text.find("'status' of a fault must be a whole number from 200 to 599") !=
        std::string::npos);
  CHECK(text.find("not 'GET pods'") != std::string::npos);
}

TEST_CASE("a world that contradicts itself is refused") {
  CHECK(mistakes_of("kubernetes:\n  pods: [{name: a}, {name: a}]\n").find("is there twice") !=
        std::string::npos);
  CHECK(mistakes_of("kubernetes:\n  namespaces: [ml]\n  pods: [{name: a, namespace: mll}]\n")
            .find("'mll', which 'namespaces' does not list") != std::string::npos);
  CHECK(mistakes_of("kubernetes:\n  pods: [{name: a, ip: 10.0.0.256}]\n").find("not an IPv4") !=
        std::string::npos);
  CHECK(mistakes_of("kubernetes:\n  pods: [{name: a, name: b}]\n").find("'name' is there twice") !=
        std::string::npos);
}

TEST_CASE("what is not YAML is told with its place") {
  CHECK(mistakes_of("kubernetes: [").find("world.yaml:1:") == 0);
  CHECK(mistakes_of("kubernetes: 5\n").find("'kubernetes' must be a map") != std::string::npos);
  CHECK(mistakes_of("- a\n").find("a scenario must be a map") != std::string::npos);
}
