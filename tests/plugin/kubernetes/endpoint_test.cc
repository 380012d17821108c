// The kubernetes backend's addresses, ports, and when a pod is a task.
#include <doctest/doctest.h>

#include "tests/plugin/kubernetes/api.h"

using fake::ask;
using fake::lab;
using fake::PodText;
using fake::World;

namespace {

World one(const PodText& pod) { return lab({{"job-name=tensorflow", {pod}}}); }

// A pod of both families with two ports.
PodText pod(const std::string& more_metadata = R"("annotations": {"example.com/port": "7001"})") {
  return {
      "w-0",
      "10.8.0.1",
      "Running",
      {},
      more_metadata,
      R"("hostname": "w-0", "subdomain": "train", "containers": [{"ports": [{"name": "http", "containerPort": 80}, {"name": "rpc", "containerPort": 9000, "hostPort": 19000}]}])",
      R"("podIPs": [{"ip": "10.8.0.1"}, {"ip": "fd00::1"}], "hostIPs": [{"ip": "192.0.2.1"}, {"ip": "2001:db8::1"}])"};
}

// The address of the one task, or why there is none.
std::string where(const std::string& options, const PodText& p = pod()) {
  const auto answer = ask("kubernetes", options, one(p));
  REQUIRE(answer.code == MUSTER_OK);
  return answer.tasks.empty() ? answer.missing_text() : answer.tasks[0].address;
}

}  // namespace

TEST_CASE("a port is a number, the name of a container's port, or an annotation") {
  CHECK(where("{}") == "10.8.0.1:8470");
  CHECK(where(R"({"tf_server_port": 1234})") == "10.8.0.1:1234");
  CHECK(where(R"({"port": 7000})") == "10.8.0.1:7000");
  CHECK(where(R"({"port": "rpc"})") == "10.8.0.1:9000");
  CHECK(where(R"({"port": {"annotation": "example.com/port"}})") == "10.8.0.1:7001");
}

TEST_CASE("a job can have a port of its own") {
  const auto answer =
      ask("kubernetes",
          R"({"job_to_label_mapping": {"worker": "a", "ps": "b", "chief": "c"}, "port": 7000,
                                            "ports": {"ps": "rpc", "chief": {"annotation": "example.com/port"}}})",
          lab({{"a", {{"a-0"}}},
               {"b", {[] {
                  auto p = pod();
                  p.name = "b-0";
                  return p;
                }()}},
               {"c", {[] {
                  auto p = pod();
                  p.name = "c-0";
                  return p;
                }()}}}));
  CHECK(answer.cluster() ==
        "worker:a-0=10.8.0.1:7000 ps:b-0=10.8.0.1:9000 chief:c-0=10.8.0.1:7001");
}

TEST_CASE("a pod without such a port is missing, and says what it lacks") {
  CHECK(where(R"({"port": "grpc"})") == "worker w-0 (it has no port called 'grpc')");
  CHECK(where(R"({"port": {"annotation": "other"}})") ==
        "worker w-0 (it has no annotation 'other')");
  for (const char* wrong : {"x", "0", "65536", "-1"})
    CHECK(where(R"({"port": {"annotation": "p"}})",
                pod(R"("annotations": {"p": ")" + std::string(wrong) + "\"}")) ==
          "worker w-0 (its annotation 'p' says '" + std::string(wrong) + "', which is no port)");
}

TEST_CASE("an address is the pod's, of the family asked for, its DNS name, or its node's") {
  CHECK(where(R"({"ip_family": "ipv4"})") == "10.8.0.1:8470");
  CHECK(where(R"({"ip_family": "ipv6"})") == "[fd00::1]:8470");
  CHECK(where(R"({"ip_family": "ipv6"})", {"w-0", "10.8.0.1"}) ==
        "worker w-0 (it has no IPv6 address)");
  CHECK(where(R"({"address": "node_ip"})") == "192.0.2.1:8470");
  CHECK(where(R"({"address": "node_ip", "ip_family": "ipv6"})") == "[2001:db8::1]:8470");
  CHECK(where(R"({"address": "host_port"})") == "192.0.2.1:19000");
  CHECK(where(R"({"address": "host_port", "port": "rpc"})") == "192.0.2.1:19000");
  CHECK(where(R"({"address": "host_port", "port": 9000})") == "192.0.2.1:19000");
  CHECK(where(R"({"address": "host_port", "port": "http"})") ==
        "worker w-0 (its containers have no such port with a hostPort)");
  CHECK(where(R"({"address": "dns"})") == "w-0.train.default.svc.cluster.local:8470");
  CHECK(where(R"({"address": "dns", "cluster_domain": "k8s.example"})") ==
        "w-0.train.default.svc.k8s.example:8470");
  CHECK(where(R"({"address": "dns"})", {"w-0", "10.8.0.1"}) ==
        "worker w-0 (it has no DNS name: its spec lacks hostname or subdomain)");
}

TEST_CASE("two pods of a node's network with one port are told, for they cannot both be reached") {
  const PodText first = {"w-0", "192.0.2.1"}, second = {"w-1", "192.0.2.1"};
  const auto answer = ask("kubernetes", "{}", lab({{"job-name=tensorflow", {first, second}}}));
  CHECK(answer.tasks.size() == 2);
  CHECK(answer.warnings ==
        std::vector<std::string>{
            "pods 'default/w-0' and 'default/w-1' have one address '192.0.2.1' (hostNetwork on one "
            "node); with one port they cannot both be reached"});
}

TEST_CASE("the cluster's domain is read where the pod's resolver has it") {
  World world = one(pod());
  world.files["/etc/resolv.conf"] =
      "nameserver 10.0.0.10\nsearch default.svc.corp.example svc.corp.example "
      "corp.example\noptions ndots:5\n";
  CHECK(ask("kubernetes", R"({"address": "dns"})", world).cluster() ==
        "worker:w-0=w-0.train.default.svc.corp.example:8470");
  world.files["/etc/resolv.conf"] = "search home.example\n";
  CHECK(ask("kubernetes", R"({"address": "dns"})", world).cluster() ==
        "worker:w-0=w-0.train.default.svc.cluster.local:8470");
}

TEST_CASE("'require' says when a pod is a task") {
  const std::string unready =
      R"("conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady", "message": "main"}])";
  const PodText running = {"w-0", "10.8.0.1", "Running", {}, "", "", unready};
  const PodText ready = {"w-0",
                         "10.8.0.1",
                         "Running",
                         {},
                         "",
                         "",
                         R"("conditions": [{"type": "Ready", "status": "True"}])"};
  const PodText pending = {"w-0", "10.8.0.1", "Pending"};
  const std::string there = "10.8.0.1:8470";
  CHECK(where("{}", running) == there);
  CHECK(where("{}", pending) == "worker w-0 (Pending: starting on node-7)");
  CHECK(where(R"({"require": "ready"})", ready) == there);
  CHECK(where(R"({"require": "ready"})", running) ==
        "worker w-0 (Running, not ready: ContainersNotReady: main)");
  CHECK(where(R"({"require": "address"})", pending) == there);
  CHECK(where(R"({"require": "address"})", {"w-0", "10.8.0.1", "Failed"}) == "worker w-0 (Failed)");
}

TEST_CASE("a DNS name needs no IP, and with require: address it needs no phase either") {
  PodText nameless = pod();
  nameless.ip = "";
  nameless.status = "";
  CHECK(where("{}", nameless).find("no IP address yet") != std::string::npos);
  CHECK(where(R"({"address": "dns"})", nameless) == "w-0.train.default.svc.cluster.local:8470");
  nameless.phase = "Pending";
  CHECK(where(R"({"address": "dns"})", nameless).find("Pending") != std::string::npos);
  CHECK(where(R"({"require": "address"})", nameless).find("Pending") != std::string::npos);
  CHECK(where(R"({"address": "dns", "require": "address"})", nameless) ==
        "w-0.train.default.svc.cluster.local:8470");
}

TEST_CASE("what is missing tells since when, and why it restarted or is being evicted") {
  const auto missing = [](const std::string& phase, const std::string& metadata,
                          const std::string& status) {
    return where("{}", {"w-0", "", phase, {}, metadata, "", status});
  };
  const std::string old = R"("creationTimestamp": "2026-01-31T11:00:00Z")";
  CHECK(
      missing(
          "Pending", old,
          R"("conditions": [{"type": "PodScheduled", "status": "False", "message": "0/4 nodes"}])") ==
      "worker w-0 (Pending since 2026-01-31T11:00:00Z: 0/4 nodes)");
  CHECK(missing("Pending", R"("creationTimestamp": "2026-01-01T11:00:00Z")", "\"x\": 1") ==
        "worker w-0 (Pending since 2026-01-01T11:00:00Z: starting on node-7)");
  CHECK(
      missing(
          "Pending", old,
          R"("containerStatuses": [{"restartCount": 4, "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {"reason": "Error", "exitCode": 1}}}])") ==
      "worker w-0 (Pending since 2026-01-31T11:00:00Z: CrashLoopBackOff (4 restarts, before: "
      "Error, exit code 1))");
  CHECK(
      missing(
          "Running", R"("deletionTimestamp": "2026-01-31T11:59:00Z")",
          R"("conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": "for a/b"}])") ==
      "worker w-0 (being deleted, due at 2026-01-31T11:59:00Z: PreemptionByScheduler: for a/b)");
}

TEST_CASE(
    "by selectors a failed pod without index gives its place to the one made after it failed") {
  const auto of_job = [](const char* name, const char* phase, const char* created,
                         const char* ended) {
    PodText p = {
        name,
        std::string(phase) == "Running" ? std::string("10.8.0.") + name[2] : "",
        phase,
        {},
        R"("ownerReferences": [{"kind": "Job", "name": "t", "uid": "u", "controller": true}], "creationTimestamp": ")" +
            std::string(created) + "\""};
    if (*ended != '\0')
      p.status =
          R"("containerStatuses": [{"state": {"terminated": {"exitCode": 1, "finishedAt": ")" +
          std::string(ended) + R"("}}}])";
    return p;
  };
  const auto ask_for = [](const std::vector<PodText>& pods) {
    return ask("kubernetes", "{}", lab({{"job-name=tensorflow", pods}}));
  };
  const PodText failed = of_job("w-1", "Failed", "2026-01-31T10:00:00Z", "2026-01-31T10:05:00Z");
  const PodText again = of_job("w-2", "Failed", "2026-01-31T10:06:00Z", "2026-01-31T10:08:00Z");
  const PodText first = of_job("w-3", "Running", "2026-01-31T10:00:01Z", "");
  const PodText later = of_job("w-4", "Running", "2026-01-31T10:09:00Z", "");
  CHECK(ask_for({failed, first}).missing.size() == 1);
  const auto replaced = ask_for({failed, again, first, later});
  CHECK(replaced.missing.empty());
  CHECK(replaced.cluster() == "worker:w-3=10.8.0.3:8470 worker:w-4=10.8.0.4:8470");
}
