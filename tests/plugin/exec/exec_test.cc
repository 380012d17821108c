// The exec backend, through its built plugin.
#include <doctest/doctest.h>

#include "tests/plugin/support/fake_core.h"

using fake::Answer;
using fake::World;

namespace {

World printing(const std::string& output, int64_t status = 0, const std::string& complaint = "") {
  World world;
  world.run = [=](const fake::Program&) {
    fake::Run run;
    run.exit_status = status;
    run.output = output;
    run.error_output = complaint;
    return run;
  };
  return world;
}

Answer ask(const std::string& output, const std::string& more = "") {
  return fake::ask("exec", R"({"command": ["roster", "--all"], "job": "worker")" + more + "}",
                   printing(output));
}

}  // namespace

TEST_CASE("the program is run with its arguments as they are, and has its own time") {
  const auto answer =
      fake::ask("exec", R"({"command": ["./roster", "$HOME *", ""], "timeout_seconds": 7})",
                printing("worker 0 a:1\n"));

  CHECK(answer.cluster() == "worker:0=a:1");
  REQUIRE(answer.programs.size() == 1);
  CHECK(answer.programs[0].arguments == std::vector<std::string>{"./roster", "$HOME *", ""});
  CHECK(answer.programs[0].timeout_ns == 7'000'000'000);
}

TEST_CASE("what is printed is known by its look") {
  CHECK(ask("# the lab\nworker 0 a:1 node-a\nps 3 [fd00::2]:2\n").cluster() ==
        "worker:0=a:1 ps:3=[fd00::2]:2");
  CHECK(ask(R"({"worker": ["a:1", "b:1"], "ps": {"3": "c:1"}})").cluster() ==
        "worker:0=a:1 worker:1=b:1 ps:3=c:1");
  CHECK(ask(R"({"cluster": {"worker": ["a:1"], "ps": ["p:1"]}, "rpc_layer": "grpc"})")
            .attributes.at("rpc_layer") == "grpc");
  CHECK(ask(R"({"sparseCluster": {"worker": {"4": "a:1"}}})").cluster() == "worker:4=a:1");
  CHECK(ask(R"([{"targets": ["b-10:1", "b-9:1"], "labels": {"job": "ps"}}, {"targets": ["a:1"]}])")
            .cluster() == "ps:b-10:1=b-10:1 ps:b-9:1=b-9:1 worker:a:1=a:1");
  CHECK(ask("{}").code == MUSTER_OK);
  CHECK(ask("[]").code == MUSTER_OK);
}

TEST_CASE("TF_CONFIG's task says which task this process is") {
  const auto answer =
      ask(R"({"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}})");
  REQUIRE(answer.identities.size() == 1);
  CHECK(answer.identities[0].index == 1);
  CHECK(answer.identities[0].evidence == "the program says so by 'task'");
}

TEST_CASE("muster's own answer keeps names, attributes, what is missing, and who asks") {
  const auto answer = ask(R"({"cluster": {"worker": ["a:1"], "ps": {"3": "c:1"}},
    "task": {"type": "worker", "index": 0, "evidence": ["HOSTNAME is node-a"]},
    "rpc_layer": "grpc", "environment": "", "complete": false, "stale": true,
    "jobs": {"worker": {"found": 1, "expected": 2,
                        "missing": [{"index": 1, "name": "node-b", "reason": "Pending"}]},
             "ps": {"found": 1, "expected": null, "missing": []}},
    "tasks": [{"job": "worker", "index": 0, "name": "node-a", "address": "a:1",
               "attributes": {"zone": "z"}},
              {"job": "ps", "index": 3, "name": "", "address": "c:1", "attributes": {}}],
    "attributes": {"flavour": "plain"}, "warnings": ["the disk is full"], "time": "later"})");

  REQUIRE(answer.code == MUSTER_OK);
  CHECK(answer.cluster() == "worker:0=a:1 ps:3=c:1");
  CHECK(answer.tasks[0].name == "node-a");
  CHECK(answer.tasks[0].attributes.at("zone") == "z");
  CHECK(answer.missing_text() == "worker:1 node-b (Pending)");
  CHECK(answer.expected == std::map<std::string, int64_t>{{"worker", 2}});
  CHECK(answer.attributes ==
        std::map<std::string, std::string>{{"flavour", "plain"}, {"rpc_layer", "grpc"}});
  CHECK(answer.warnings ==
        std::vector<std::string>{"the program says that its answer is stale", "the disk is full"});
  REQUIRE(answer.identities.size() == 1);
  CHECK(answer.identities[0].evidence == "the program says so: HOSTNAME is node-a");
}

TEST_CASE("an answer that contradicts itself is no answer") {
  struct Case {
    const char* rest;
    const char* told;
  };
  for (const Case& wrong :
       {Case{R"("tasks": [])", "/tasks: task 0 of job 'worker' is in 'cluster' and not here"},
        Case{R"("tasks": [{"job": "worker", "index": 0, "address": "b:1"}])",
             "/tasks/0: 'cluster' has no task 0 of job 'worker' at 'b:1'"},
        Case{R"("complete": false)",
             "/complete: it is false, and neither 'missing' nor 'expected' says of what"},
        Case{R"("complete": true, "jobs": {"worker": {"missing": [{"index": 0, "reason": "?"}]}})",
             "/jobs/worker/missing/0: task 0 of job 'worker' is there already"},
        Case{R"("complete": true, "task": {"type": "worker", "index": 7})",
             "/task: the cluster has no task 7 of job 'worker'"},
        Case{R"("complete": true, "jobs": {"worker": {"expected": -1}})",
             "/jobs/worker/expected: it is no number from 0 to 2147483647"},
        Case{R"("complete": true, "complete": true)", "the key 'complete' is there twice"}}) {
    const auto answer = ask(std::string(R"({"cluster": {"worker": ["a:1"]}, )") + wrong.rest + "}");
    CHECK(answer.code == MUSTER_E_DATA_LOSS);
    CHECK(answer.message == std::string("the program 'roster' printed what cannot be read as "
                                        "'answer': standard output: ") +
                                wrong.told);
  }
}

TEST_CASE("the place of what is wrong is told, and nothing of the rest counts") {
  struct Case {
    const char* printed;
    const char* told;
  };
  for (const Case& wrong :
       {Case{"worker 0 a:1\nworker x b:1\n",
             "'lines': standard output:2:8: the index 'x' is no number from 0 to 2147483647"},
        Case{"Traceback (most recent call last):\n",
             "'lines': standard output:1:29: 'last):' is one column too many; a line is: job index "
             "address [name]"},
        Case{"{\"worker\": [\"a:1\",\n \"b\"]}",
             "'cluster': standard output:2:2: task 1 of job 'worker': 'b' is not an address: it "
             "has no port, as in 'b:8470'; at '\"b\"]}'"},
        Case{"{\"worker\": [\"a:1\"]",
             "'cluster': standard output:1:19: this is not JSON: Missing a comma or '}' after an "
             "object member; at the end of the line"},
        Case{"{\"worker\": [\"a:1\"]} and more",
             "'cluster': standard output:1:21: this is not JSON: The document root must not be "
             "followed by other values; at 'and more'"},
        Case{R"([{"targets": ["a:1", "b"]}])",
             "'file_sd': standard output: /0/targets/1: 'b' is not an address: it has no port, as "
             "in 'b:8470'"},
        Case{R"([{"targets": ["a:1", "a:1"]}])",
             "'file_sd': standard output: /0/targets/1: 'a:1' of job 'worker' is there twice"},
        Case{R"([{"targets": ["a:1"], "labels": {"index": "0"}}, {"targets": ["b:1"]}])",
             "'file_sd': standard output: /1/targets/0: some targets of job 'worker' have the "
             "label 'index', and others not"},
        Case{R"([{"labels": {}}])", "'file_sd': standard output: /0: it has no list 'targets'"},
        Case{R"({"cluster": {"worker": "a:1"}})",
             "'tf_config': standard output:1:24: the job 'worker' is a text, not a list of "
             "addresses nor a map of them by index; at '\"a:1\"}}'"}}) {
    const auto answer = ask(wrong.printed);
    CHECK(answer.code == MUSTER_E_DATA_LOSS);
    CHECK(answer.message ==
          std::string("the program 'roster' printed what cannot be read as ") + wrong.told);
  }
}

TEST_CASE("targets of file_sd have ranks and names where their labels say them") {
  const auto answer = ask(R"([
    {"targets": ["a:1"], "labels": {"index": "1", "instance": "node-a", "zone": "z", "__meta": "m"}},
    {"targets": ["b:1"], "labels": {"index": "0"}}])");
  CHECK(answer.cluster() == "worker:1=a:1 worker:0=b:1");
  CHECK(answer.tasks[0].name == "node-a");
  CHECK(answer.tasks[0].attributes == std::map<std::string, std::string>{{"zone", "z"}});
}

TEST_CASE("a format that is given is the one that is read") {
  CHECK(ask(R"({"cluster": ["a:1"]})", R"(, "format": "cluster")").cluster() == "cluster:0=a:1");
  const auto answer = ask("worker 0 a:1\n", R"(, "format": "tf_config")");
  CHECK(answer.code == MUSTER_E_DATA_LOSS);
}

TEST_CASE("a program that fails is told with its status and its last words") {
  const auto failed = [](int64_t status, const std::string& complaint) {
    return fake::ask("exec", R"({"command": ["roster"]})",
                     printing("worker 0 a:1\n", status, complaint));
  };
  CHECK(failed(3, "  no such rack\n").message ==
        "the program 'roster' failed with exit status 3: no such rack");
  CHECK(failed(3, "").code == MUSTER_E_UNAVAILABLE);
  CHECK(failed(139, "").tasks.empty());
  // The muster command's own statuses mean the same here.
  CHECK(failed(11, "").code == MUSTER_E_NOT_FOUND);
  CHECK(failed(12, "").code == MUSTER_E_INVALID_ARGUMENT);
  CHECK(failed(13, "").code == MUSTER_E_PERMISSION_DENIED);
  CHECK(failed(15, "").code == MUSTER_E_DEADLINE_EXCEEDED);
  const auto loud = failed(1, std::string(5000, 'x') + "the end");
  CHECK(loud.message.size() < 1100);
  CHECK(loud.message.substr(loud.message.size() - 7) == "the end");
}

TEST_CASE("exit status 10 is an incomplete answer, which has to say what is missing") {
  const auto incomplete = [](const std::string& printed) {
    return fake::ask("exec", R"({"command": ["muster"]})", printing(printed, 10));
  };
  CHECK(incomplete(R"({"cluster": {"worker": ["a:1"]}, "complete": false,
                       "jobs": {"worker": {"found": 1, "expected": 2, "missing": []}}})")
            .code == MUSTER_OK);
  for (const char* printed :
       {"worker 0 a:1\n", R"({"worker": ["a:1"]})", R"({"cluster": {"worker": ["a:1"]}})",
        R"({"cluster": {"worker": ["a:1"]}, "complete": true})"}) {
    const auto answer = incomplete(printed);
    CHECK(answer.code == MUSTER_E_DATA_LOSS);
    CHECK(answer.message.find("printed nothing that says what is missing") != std::string::npos);
  }
}

TEST_CASE("a program that is not there, or that prints nothing, lets a chain go on") {
  CHECK(fake::ask("exec", R"({"command": ["roster"]})").code == MUSTER_E_NOT_FOUND);
  const auto answer = ask(" \n");
  CHECK(answer.code == MUSTER_E_NOT_FOUND);
  CHECK(answer.message == "the program 'roster' printed nothing: no cluster is said there");
}

TEST_CASE("a refused push ends the call with its code") {
  for (int64_t n = 0; n < 4; ++n) {
    World world = printing(R"({"cluster": {"worker": ["a:1"]}, "rpc_layer": "grpc",
        "complete": true, "jobs": {"worker": {"expected": 1}}})");
    world.refused_push = n;
    CHECK(fake::ask("exec", R"({"command": ["roster"]})", world).code == MUSTER_E_INTERNAL);
  }
}
