// The tf_config backend, through its built plugin.
#include <doctest/doctest.h>

#include "tests/plugin/support/fake_core.h"

using fake::Answer;
using fake::ask;
using fake::World;

namespace {

Answer ask_variable(const std::string& text, const std::string& options = "{}") {
  World world;
  world.variables["TF_CONFIG"] = text;
  return ask("tf_config", options, world);
}

}  // namespace

TEST_CASE("TF_CONFIG gives cluster, identity, rpc_layer and environment") {
  const auto answer =
      ask_variable(R"({"cluster": {"chief": ["c:1"], "worker": ["a:1", "[fd00::2]:1"]},
      "task": {"type": "worker", "index": 1}, "rpc_layer": "grpc", "environment": "cloud", "model_dir": "/m"})");

  CHECK(answer.code == MUSTER_OK);
  CHECK(answer.cluster() == "chief:0=c:1 worker:0=a:1 worker:1=[fd00::2]:1");
  REQUIRE(answer.identities.size() == 1);
  CHECK(answer.identities[0].job == "worker");
  CHECK(answer.identities[0].index == 1);
  CHECK(answer.identities[0].evidence == "variable TF_CONFIG says so by 'task'");
  CHECK(answer.attributes.at("rpc_layer") == "grpc");
  CHECK(answer.attributes.at("environment") == "cloud");
  CHECK(answer.attributes.count("master") == 0);
}

TEST_CASE("what is said of the cluster may stand behind the tasks") {
  const auto answer = ask_variable(
      R"({"rpc_layer": "grpc", "cluster": {"worker": {"3": "a:1", "1": "b:1"}}, "session_master": "grpc://c:1"})");
  CHECK(answer.cluster() == "worker:3=a:1 worker:1=b:1");
  CHECK(answer.attributes.at("master") == "grpc://c:1");
}

TEST_CASE("options win over what the text says") {
  const auto answer = ask_variable(
      R"({"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}, "rpc_layer": "grpc"})",
      R"({"task_type": "worker", "task_id": 0, "rpc_layer": "", "environment": "google"})");
  CHECK(answer.identities.at(0).index == 0);
  CHECK(answer.attributes.at("rpc_layer") == "");
  CHECK(answer.attributes.at("environment") == "google");
}

TEST_CASE("the text may come from another variable, a file, or the options") {
  const std::string text = R"({"cluster": {"worker": ["a:1", "b:2"]}})";
  World world;
  world.variables["OTHER"] = text;
  world.files["/tf.json"] = text;
  CHECK(ask("tf_config", R"({"variable": "OTHER"})", world).cluster() ==
        "worker:0=a:1 worker:1=b:2");
  CHECK(ask("tf_config", R"({"file": "/tf.json"})", world).cluster() ==
        "worker:0=a:1 worker:1=b:2");
  CHECK(ask("tf_config", R"({"config": )" + text + "}").cluster() == "worker:0=a:1 worker:1=b:2");
  CHECK(ask("tf_config", R"({"config": "{\"cluster\": {\"worker\": [\"a:1\"]}}"})").cluster() ==
        "worker:0=a:1");
  CHECK(ask("tf_config", R"({"file": "/f", "variable": "OTHER"})").message ==
        "give one of 'variable', 'file' and 'config', not several");
}

TEST_CASE("no variable and a blank one let a chain go on, in their own words") {
  const auto unset = ask("tf_config", "{}");
  CHECK(unset.code == MUSTER_E_NOT_FOUND);
  CHECK(unset.message == "the environment variable 'TF_CONFIG' is not set");
  const auto blank = ask_variable(" \n");
  CHECK(blank.code == MUSTER_E_NOT_FOUND);
  CHECK(blank.message == "variable TF_CONFIG is set, but blank: no cluster is said there");
}

TEST_CASE("an index is converted as TensorFlow converts it, and told where that is odd") {
  const auto index = [](const std::string& written) {
    return ask_variable(
        R"({"cluster": {"7": ["a:1", "b:1", "c:1"]}, "task": {"type": 7, "index": )" + written +
        "}}");
  };
  CHECK(index("2").identities.at(0).job == "7");
  CHECK(index("2").identities.at(0).index == 2);
  CHECK(index("\"1\"").identities.at(0).index == 1);
  CHECK(index("1.9").identities.at(0).index == 1);
  CHECK(index("1.9").warnings.at(0) ==
        "variable TF_CONFIG: 'index' of 'task' is 1.9, taken as 1 as TensorFlow does");
  CHECK(index("true").identities.at(0).index == 1);
  for (const std::string wrong :
       {"-1", "\"one\"", "null", "[]", "{}", "1e300", "\"\"", "99999999999"}) {
    CAPTURE(wrong);
    CHECK(index(wrong).code == MUSTER_E_INVALID_ARGUMENT);
    CHECK(index(wrong).message.rfind("variable TF_CONFIG:1:72: 'index' of 'task' is ", 0) == 0);
  }
}

TEST_CASE("nulls are told plainly") {
  CHECK(ask_variable(R"({"cluster": null})").message ==
        "variable TF_CONFIG:1:13: 'cluster' is null, not a map of jobs; leave it out when there is "
        "none; at 'null}'");
  CHECK(ask_variable(R"({"task": null})").message ==
        "variable TF_CONFIG:1:10: 'task' is null, not a map of 'type' and 'index'; leave it out "
        "when there is none; "
        "at 'null}'");
  CHECK(ask_variable(R"({"cluster": {"worker": null}})").code == MUSTER_E_INVALID_ARGUMENT);
  CHECK(ask_variable(R"({"cluster": {"worker": [null]}})").code == MUSTER_E_INVALID_ARGUMENT);
  CHECK(ask_variable(R"({"task": {"type": null}})").code == MUSTER_E_INVALID_ARGUMENT);
  CHECK(ask_variable(R"({"session_master": null, "rpc_layer": null, "environment": null})").code ==
        MUSTER_OK);
}

TEST_CASE("what is no JSON is told with line, column and a few characters, never the whole") {
  struct Case {
    const char* text;
    const char* told;
  };
  for (const Case& wrong :
       {Case{"{\"cluster\": {\n  \"worker\" [\"a:1\"]}}",
             "variable TF_CONFIG:2:12: this is not JSON: Missing a colon after a name of object "
             "member; at "
             "'[\"a:1\"]}}'"},
        Case{
            "[]",
            "variable TF_CONFIG:1:1: this is a list, not a map with 'cluster' and 'task'; at '[]'"},
        Case{"{} x",
             "variable TF_CONFIG:1:4: this is not JSON: The document root must not be followed by "
             "other values; at "
             "'x'"},
        Case{"{\"model_dir\": tru, \"secret_thing\": \"0123456789012345678901234567890123456789\"}",
             nullptr},
        Case{"{\"cluster\": {\"worker\": [\"a:1\"", nullptr},
        Case{"{\"cluster\": {\"worker\": [\"\xC3\x28:1\"]}}", nullptr}, Case{"{", nullptr},
        Case{"\"", nullptr}, Case{"null", nullptr},
        Case{"{\"cluster\": {}, \"cluster\": {}}", nullptr},
        Case{"{\"cluster\": {}, \"sparseCluster\": {}}", nullptr},
        Case{"{\"cluster\": {\"w\": [\"a:1\"], \"w\": [\"a:1\"]}}", nullptr},
        Case{"{\"task\": {\"index\": 1, \"index\": 2}}", nullptr}}) {
    CAPTURE(wrong.text);
    const auto answer = ask_variable(wrong.text);
    CHECK(answer.code == MUSTER_E_INVALID_ARGUMENT);
    if (wrong.told != nullptr) CHECK(answer.message == wrong.told);
    CHECK(answer.message.find("456789012345678901234567890") == std::string::npos);
  }
}

TEST_CASE("a wrong address is told at its place; in a map of the options, by a pointer") {
  CHECK(ask_variable("{\"cluster\": {\n\"worker\": [\"a:1\", \"b\"]}}").message ==
        "variable TF_CONFIG:2:19: task 1 of job 'worker': 'b' is not an address: it has no port, "
        "as in "
        "'b:8470'; at "
        "'\"b\"]}}'");
  const auto answer = ask("tf_config", R"({"config": {"cluster": {"worker": {"4": "b"}}}})");
  CHECK(answer.message ==
        "task 4 of job 'worker': 'b' is not an address: it has no port, as in 'b:8470'");
  CHECK(answer.details.at("option") == "/config/cluster/worker/4");
}

TEST_CASE("master without arguments is this process itself for no task and for one") {
  CHECK(ask_variable("{}").attributes.at("master") == "");
  CHECK(ask_variable("{}").code == MUSTER_OK);
  const auto one = ask_variable(R"({"cluster": {"worker": ["a:1"]}})");
  CHECK(one.attributes.at("master") == "");
  CHECK(one.cluster() == "worker:0=a:1");
  CHECK(ask_variable(R"({"cluster": {"worker": {"0": "a:1"}}})").attributes.at("master") == "");
  CHECK(ask_variable(R"({"cluster": {"worker": {"1": "a:1"}}})").attributes.count("master") == 0);
  CHECK(ask_variable(R"({"cluster": {"worker": []}})").attributes.at("master") == "");
  CHECK(ask_variable(R"({"cluster": {"worker": ["a:1"], "ps": []}})").attributes.count("master") ==
        0);
  CHECK(ask_variable(R"({"cluster": {"worker": ["a:1"]}, "session_master": "x"})")
            .attributes.at("master") == "x");
  CHECK(ask_variable(R"({"session_master": ""})").attributes.at("master") == "");
}

TEST_CASE("an evaluator is outside of the cluster, and is who it says") {
  const auto answer = ask_variable(
      R"({"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "evaluator", "index": 0}})");
  CHECK(answer.code == MUSTER_OK);
  CHECK(answer.identities.at(0).job == "evaluator");
  CHECK(answer.identities.at(0).index == 0);
  CHECK(answer.warnings.empty());
  CHECK(ask_variable(R"({"task": {"type": "worker", "index": 3}})").identities.at(0).index == 3);
  CHECK(ask_variable(R"({"cluster": {"worker": ["a:1"]}, "task": {"type": "evaluator"}})")
            .warnings.size() == 1);
  CHECK(ask_variable(R"({"cluster": {"worker": ["a:1"], "evaluator": ["e:1"]},
      "task": {"type": "evaluator", "index": 0}})")
            .identities.size() == 1);
}

TEST_CASE("a task that is not in the cluster is told") {
  const auto answer = ask_variable(
      R"({"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 2}})");
  CHECK(answer.code == MUSTER_E_INVALID_ARGUMENT);
  CHECK(answer.message ==
        "variable TF_CONFIG: this process is said to be task 2 of job 'worker', which is not in "
        "the cluster: that "
        "job has 2 tasks, the highest index is 1");
  CHECK(ask_variable(
            R"({"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "boss", "index": 0}})")
            .code == MUSTER_E_INVALID_ARGUMENT);
}

TEST_CASE("a task without an index is known when its job has one task, and else told") {
  CHECK(
      ask_variable(
          R"({"cluster": {"chief": ["c:1"], "worker": ["a:1", "b:1"]}, "task": {"type": "chief"}})")
          .identities.at(0)
          .index == 0);
  const auto unknown =
      ask_variable(R"({"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker"}})");
  CHECK(unknown.identities.empty());
  CHECK(unknown.warnings.size() == 1);
}

TEST_CASE("Kubeflow's sparse cluster says of a worker and of a parameter server what it means") {
  const auto worker = ask_variable(
      R"({"sparseCluster": {"worker": {"2": "w2:2222"}, "ps": ["ps0:2222", "ps1:2222"]},
      "task": {"type": "worker", "index": 2}})");
  CHECK(worker.cluster() == "worker:2=w2:2222 ps:0=ps0:2222 ps:1=ps1:2222");
  CHECK(worker.identities.at(0).index == 2);

  const auto server = ask_variable(
      R"({"sparseCluster": {"worker": {}, "ps": ["ps1:2222"]}, "task": {"type": "ps", "index": 1}})");
  CHECK(server.cluster() == "ps:1=ps1:2222");
  CHECK(server.identities.at(0).index == 1);

  const auto alone = ask_variable(R"({"task": {"type": "worker", "index": 0},
      "sparseCluster": {"worker": {"0": "w0:2222"}, "ps": null}})");
  CHECK(alone.cluster() == "worker:0=w0:2222");
  CHECK(alone.code == MUSTER_OK);
}

TEST_CASE("a hundred thousand tasks go through, in a file and by index") {
  std::string list = "{\"cluster\": {\"worker\": [", map = "{\"cluster\": {\"worker\": {";
  for (int n = 0; n < 100000; ++n) {
    const std::string address = "\"worker-" + std::to_string(n) + ".svc:8470\"";
    list += (n ? "," : "") + address;
    map += std::string(n ? "," : "") + "\"" + std::to_string(99999 - n) + "\":" + address;
  }
  World world;
  world.files["/list"] = list + "]}}";
  world.files["/map"] = map + "}}}";
  CHECK(ask("tf_config", R"({"file": "/list"})", world).tasks.size() == 100000);
  CHECK(ask("tf_config", R"({"file": "/map"})", world).tasks.size() == 100000);
}

TEST_CASE("a refused push ends the call with its code") {
  for (int64_t n = 0; n < 7; ++n) {
    World world;
    world.refused_push = n;
    world.variables["TF_CONFIG"] =
        R"({"cluster": {"a": ["a:1", "b:1"], "b": ["c:1"]}, "task": {"type": "a", "index": 0}, "rpc_layer": "grpc"})";
    CHECK(ask("tf_config", "{}", world).code == MUSTER_E_INTERNAL);
  }
}
