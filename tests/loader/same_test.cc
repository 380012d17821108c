// muster's own backends that need no cloud give the same answer, or the same words, in a process of their own as in this one. The others:
// tests/gce, tests/tpu, tests/kubernetes.
#include <fmt/format.h>

#include <cstdlib>

#include "tests/loader/world.h"

using namespace muster;
using namespace muster::test;

namespace {

std::string attributes_told(const Attributes& attributes) {
  std::string out;
  for (const auto& [key, value] : attributes) out.append(" ").append(key).append("=").append(value);
  return out;
}

// Everything that there is to an outcome.
std::string told(const Result<BackendAnswer>& outcome) {
  std::string out;
  if (!outcome) {
    out = std::string(code_name(outcome.error().code)) + ": " + outcome.error().message + "\n";
    for (const Detail& detail : outcome.error().details)
      out += detail.key + ": " + detail.value + "\n";
    return out;
  }
  for (const Job& job : outcome->spec.jobs()) {
    for (const Task& task : job.tasks) {
      out += fmt::format("{} {} '{}' {}", job.name, task.index, std::string_view(task.name),
                         task.address.to_string());
      for (const auto& [key, value] : task.attributes)
        out.append(" ").append(key).append("=").append(value);
      out += "\n";
    }
  }
  for (const JobStatus& job : outcome->jobs) {
    out += fmt::format("{} of {} {}\n", job.found, job.expected.value_or(-1), job.name);
    for (const MissingTask& missing : job.missing)
      out += fmt::format("missing {} '{}': {}\n", missing.index, missing.name, missing.reason);
  }
  out += fmt::format("I am {} {}", outcome->identity.type, outcome->identity.index);
  for (const std::string& evidence : outcome->identity.evidence) out += ", " + evidence;
  out += attributes_told(outcome->attributes) + "\n";
  for (const std::string& warning : outcome->warnings) out += "warning: " + warning + "\n";
  return out;
}

// What is told by both, which is given; it has this in it.
void check_same(const std::string& backend, const std::string& options, const std::string& part) {
  CAPTURE(options);
  World world(std::string(BUILT_PLUGINS) + "/libmuster-" + backend + ".so", backend);
  const std::string here = told(world.answer(options));
  world.isolated = IsolatedSetting{ISOLATE};
  const std::string there = told(world.answer(options));
  CHECK(here == there);
  CHECK(has(here, part));
}

}  // namespace

TEST_CASE("static is the same in a process of its own") {
  PluginDir folder;
  const std::string hosts =
      folder.write("hosts.txt", "# two\nworker 0 a:1 one\nps 3 [fd00::2]:1\n");
  const std::string wrong = folder.write("wrong.txt", "worker 0 a:1\nworker 1 b.1:1\n");
  check_same("static",
             R"({"cluster_spec": {"worker": ["a:1", "[fd00::2]:1"], "ps": {"3": "p:1"}},
                 "task_type": "worker", "task_id": 1, "num_accelerators": {"GPU": 8}})",
             "worker 1 '' [fd00::2]:1");
  check_same("static", "{\"file\": \"" + hosts + "\"}", "ps 3 '' [fd00::2]:1");
  check_same("static", "{\"file\": \"" + wrong + "\"}", "wrong.txt:2:10: 'b.1:1'");
  check_same("static", "{\"file\": \"" + folder.path() + "/none\"}", "NOT_FOUND: ");
  check_same("static", R"({"cluster_spec": {"worker": ["-a:1"]}})",
             "option: /cluster_spec/worker/0");
  check_same("static", "{}", "INVALID_ARGUMENT: ");
}

TEST_CASE("tf_config is the same in a process of its own") {
  ::setenv("TF_CONFIG", R"({"cluster": {"chief": ["c:1"], "worker": ["a:1", "b:1"]},
                            "task": {"type": "evaluator", "index": 0}})",
           1);
  check_same("tf_config", "{}", "I am evaluator 0, ");
  ::setenv("TF_CONFIG", R"({"cluster": {"worker": ["a:1",]}})", 1);
  check_same("tf_config", "{}", "TF_CONFIG");
  ::unsetenv("TF_CONFIG");
  check_same("tf_config", "{}", "NOT_FOUND: ");
  check_same("tf_config", R"({"config": {"cluster": {"worker": ["a"]}}})",
             "option: /config/cluster/worker/0");
}

TEST_CASE("exec is the same in a process of its own") {
  PluginDir folder;
  const auto cat = [&](const std::string& text) {
    return "{\"command\": [\"cat\", \"" + folder.write("printed", text) + "\"]}";
  };
  check_same("exec", cat("worker 0 a:1 one\nworker 1 b:1 two\n"), "worker 1 'two' b:1");
  check_same("exec", cat(R"([{"targets": ["a:1"], "labels": {"job": "ps", "rack": "7"}}])"),
             "rack=7");
  check_same("exec", cat(R"({"cluster": {"worker": ["a:1"]}, "complete": false, "jobs": {"worker":
                             {"expected": 2, "missing": [{"index": 1, "name": "w", "reason": "Pending"}]}}})"),
             "missing 1 'w': Pending");
  check_same("exec", cat("{"), "DATA_LOSS: ");
  check_same("exec", R"({"command": ["/bin/sh", "-c", "echo no such rack >&2; exit 11"]})",
             "no such rack");
  check_same("exec", R"({"command": ["/bin/echo", "worker 0 a:1"], "maximum_size": 4})",
             "RESOURCE_EXHAUSTED: ");
  check_same("exec", R"({"command": ["/nowhere/program"]})", "NOT_FOUND: ");
}
