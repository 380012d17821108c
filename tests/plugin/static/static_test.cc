// The static backend, through its built plugin.
#include <doctest/doctest.h>

#include "tests/plugin/support/fake_core.h"

using fake::ask;
using fake::World;

TEST_CASE("cluster_spec gives its tasks in the order in which they are written") {
  const auto answer = ask("static", R"({"cluster_spec": {
      "worker": ["10.0.0.1:8470", "[fd00::2]:8470"], "ps": {"3": "ps-3.svc:2222", "1": "ps-1.svc:2222"}}})");

  CHECK(answer.code == MUSTER_OK);
  CHECK(answer.cluster() ==
        "worker:0=10.0.0.1:8470 worker:1=[fd00::2]:8470 ps:3=ps-3.svc:2222 ps:1=ps-1.svc:2222");
  CHECK(answer.identities.empty());
  CHECK(answer.attributes.empty());
}

TEST_CASE("an empty cluster_spec is an answer, and a job may have no task") {
  CHECK(ask("static", R"({"cluster_spec": {}})").code == MUSTER_OK);
  const auto answer = ask("static", R"({"cluster_spec": {"worker": [], "ps": {}}})");
  CHECK(answer.code == MUSTER_OK);
  CHECK(answer.jobs == std::vector<std::string>{"worker", "ps"});
}

TEST_CASE(
    "what SimpleClusterResolver is given comes back: identity, environment, rpc_layer, "
    "accelerators") {
  const auto answer =
      ask("static", R"({"cluster_spec": {"worker": ["a:1", "b:1"]}, "task_type": "worker",
      "task_id": 1, "environment": "google", "rpc_layer": "grpc", "num_accelerators": {"GPU": 4}})");

  REQUIRE(answer.identities.size() == 1);
  CHECK(answer.identities[0].job == "worker");
  CHECK(answer.identities[0].index == 1);
  CHECK(answer.attributes.at("environment") == "google");
  CHECK(answer.attributes.at("rpc_layer") == "grpc");
  CHECK(answer.attributes.count("master") == 0);
  CHECK(answer.tasks[0].attributes.at("accelerator.type") == "GPU");
  CHECK(answer.tasks[0].attributes.at("accelerator.count") == "4");
}

TEST_CASE("accelerators of several types are told one by one") {
  const auto answer =
      ask("static",
          R"({"cluster_spec": {"worker": ["a:1"]}, "num_accelerators": {"GPU": 4, "TPU": 2}})");
  CHECK(answer.tasks.at(0).attributes ==
        std::map<std::string, std::string>{{"accelerator.count.GPU", "4"},
                                           {"accelerator.count.TPU", "2"}});
}

TEST_CASE("master gets its scheme once, and none where it names no address") {
  const auto master = [](const std::string& given) {
    return ask("static", R"({"cluster_spec": {}, "rpc_layer": "grpc", "master": ")" + given + "\"}")
        .attributes.at("master");
  };
  CHECK(master("10.0.0.1:8470") == "grpc://10.0.0.1:8470");
  CHECK(master("grpc://10.0.0.1:8470") == "grpc://10.0.0.1:8470");
  CHECK(master("") == "");
  CHECK(master("local") == "local");
}

TEST_CASE("an index that is written twice is told, also as 1 and 01") {
  const auto answer = ask("static", R"({"cluster_spec": {"ps": {"1": "a:1", "01": "b:1"}}})");
  CHECK(answer.code == MUSTER_E_INVALID_ARGUMENT);
  CHECK(answer.message == "index 1 of job 'ps' is there twice, here as '01'");
  CHECK(answer.details.at("option") == "/cluster_spec/ps/01");
}

TEST_CASE("indices out of order are no duplicates") {
  const auto answer =
      ask("static",
          R"({"cluster_spec": {"ps": {"7": "a:1", "2": "b:1", "5": "c:1", "2147483647": "d:1"}}})");
  CHECK(answer.code == MUSTER_OK);
  CHECK(answer.tasks.size() == 4);
}

TEST_CASE("what is no address is told with its place in the options") {
  struct Case {
    const char* address;
    const char* why;
  };
  for (const Case& wrong :
       {Case{"10.0.0.1", "it has no port, as in '10.0.0.1:8470'"},
        Case{"10.0.0.1:0", "the port '0' is out of range; ports are 1 to 65535"},
        Case{"10.0.0.1:010", "the port '010' starts with '0'"},
        Case{"fd00::2:8470",
             "an IPv6 address needs brackets and a port, as in '[fd00::2:8470]:8470'"},
        Case{"[fd00::2:8470", "the '[' has no ']' after it"},
        Case{"grpc://a:1",
             "it starts with the scheme 'grpc://'; write it without, the scheme is rpc_layer's"},
        Case{"a b:1", "it has a blank in it"},
        Case{"-a:1", "a label of the host '-a' starts with '-'"},
        Case{"a.1:1",
             "the host 'a.1' ends in a number, so it has to be an IPv4 address of four numbers "
             "from 0 to 255"}}) {
    const auto answer = ask("static", std::string(R"({"cluster_spec": {"worker": ["a:1", ")") +
                                          wrong.address + "\"]}}");
    CHECK(answer.code == MUSTER_E_INVALID_ARGUMENT);
    CHECK_FALSE(answer.created);
    CHECK(answer.message == "task 1 of job 'worker': '" + std::string(wrong.address) +
                                "' is not an address: " + wrong.why);
    CHECK(answer.details.at("option") == "/cluster_spec/worker/1");
  }
}

TEST_CASE("either cluster_spec or file is needed, and half an identity is none") {
  CHECK(ask("static", "{}").message == "one of 'cluster_spec' and 'file' is needed");
  CHECK(ask("static", R"({"cluster_spec": {}, "file": "/f"})").message ==
        "give either 'cluster_spec' or 'file', not both");
  const auto half = ask("static", R"({"cluster_spec": {}, "task_id": 0})");
  CHECK(half.message == "'task_id' says nothing without 'task_type'");
  CHECK(half.details.at("option") == "/task_id");
}

TEST_CASE("an identity that is not in the cluster is told") {
  const auto answer = ask(
      "static", R"({"cluster_spec": {"worker": ["a:1"]}, "task_type": "worker", "task_id": 1})");
  CHECK(answer.code == MUSTER_E_INVALID_ARGUMENT);
  CHECK(
      answer.message ==
      "the options say that this process is task 1 of job 'worker', which is not in cluster_spec");
}

TEST_CASE("a file of lines gives jobs, indices, addresses and names") {
  World world;
  world.files["/etc/roster"] =
      "# the lab\n"
      "\n"
      "worker 0 10.0.0.1:8470 node-a   # the big one\r\n"
      "worker 1\t[fd00::2]:8470\n"
      "ps 4 ps:2222";
  const auto answer =
      ask("static", R"({"file": "/etc/roster", "task_type": "ps", "task_id": 4})", world);

  CHECK(answer.code == MUSTER_OK);
  CHECK(answer.cluster() == "worker:0=10.0.0.1:8470 worker:1=[fd00::2]:8470 ps:4=ps:2222");
  CHECK(answer.tasks[0].name == "node-a");
  CHECK(answer.identities.size() == 1);
}

TEST_CASE("a wrong line of the file is told with line and column") {
  struct Case {
    const char* line;
    const char* told;
  };
  for (const Case& wrong :
       {Case{"worker", "/r:2:7: no index follows the job; a line is: job index address [name]"},
        Case{"worker 1",
             "/r:2:9: no address follows the index; a line is: job index address [name]"},
        Case{"worker x a:1", "/r:2:8: the index 'x' is no number from 0 to 2147483647"},
        Case{"worker -1 a:1", "/r:2:8: the index '-1' is no number from 0 to 2147483647"},
        Case{"worker 2 é",
             "/r:2:10: 'é' is not an address: the host 'é' has a character that is not ASCII; "
             "write such a name in its 'xn--' form"},
        Case{"worker 1 a:1 n more",
             "/r:2:16: 'more' is one column too many; a line is: job index address [name]"},
        Case{"worker 00 b:1", "/r:2:8: index 0 of job 'worker' stands in line 1 already"},
        Case{"wor\xFFker 1 b:1", "/r:2:1: the line is not UTF-8 text"}}) {
    World world;
    world.files["/r"] = std::string("worker 0 a:1\n") + wrong.line + "\n";
    const auto answer = ask("static", R"({"file": "/r"})", world);
    CHECK(answer.code == MUSTER_E_INVALID_ARGUMENT);
    CHECK(answer.message == wrong.told);
  }
}

TEST_CASE("a file that is not there lets a chain go on") {
  const auto answer = ask("static", R"({"file": "/none"})");
  CHECK(answer.created);
  CHECK(answer.code == MUSTER_E_NOT_FOUND);
}

TEST_CASE("a refused push ends the call with its code") {
  for (int64_t n = 0; n < 6; ++n) {
    World world;
    world.refused_push = n;
    const auto answer =
        ask("static", R"({"cluster_spec": {"worker": ["a:1", "b:1"]}, "rpc_layer": "grpc",
        "task_type": "worker", "task_id": 0, "num_accelerators": {"GPU": 1}})",
            world);
    CHECK(answer.code == MUSTER_E_INTERNAL);
  }
}
