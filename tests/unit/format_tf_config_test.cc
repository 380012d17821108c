#include <doctest/doctest.h>

#include <string>

#include "format_world.h"

namespace muster {
namespace {

using test::add;
using test::failure;
using test::full_answer;
using test::show;
using test::small_answer;

std::string refusal(std::string_view json) {
  const auto config = parse_tf_config(json);
  REQUIRE_FALSE(config.ok());
  CHECK(config.error().code == Code::kInvalidArgument);
  return config.error().message;
}

std::string cluster_refusal(std::string_view json) {
  const auto spec = cluster_from_json(json);
  REQUIRE_FALSE(spec.ok());
  return spec.error().message;
}

TfConfig read(std::string_view json) {
  auto config = parse_tf_config(json);
  REQUIRE_MESSAGE(config.ok(), config.error().message);
  return *config;
}

TEST_CASE("TF_CONFIG is written with what TensorFlow reads") {
  Snapshot answer = small_answer();
  answer.environment = "cloud";
  CHECK(
      show(answer, "tf_config") ==
      R"({"cluster": {"worker": ["10.0.0.1:8470", "10.0.0.2:8470"]}, "task": {"type": "worker", "index": 1}, "rpc_layer": "grpc", "environment": "cloud"})"
      "\n");
  answer.identity = {};
  answer.rpc_layer = answer.environment = "";
  CHECK(show(answer, "tf_config") ==
        "{\"cluster\": {\"worker\": [\"10.0.0.1:8470\", \"10.0.0.2:8470\"]}}\n");
  answer.has_own_master = true;
  answer.own_master = "grpc://x:1";
  CHECK(read(show(answer, "tf_config")).session_master == "grpc://x:1");
}

TEST_CASE("a sparse job is a map, an empty one a list (mends SPEC-3)") {
  ClusterSpec spec;
  add(spec, "ps", 1, "[fd00::1]:2");
  add(spec, "ps", 30, "ps-30.svc.cluster.local:65535");
  REQUIRE(spec.add_job("empty \"one\"").ok());
  add(spec, "worker", 0, "a:1");
  CHECK(
      cluster_to_json(spec) ==
      R"({"ps": {"1": "[fd00::1]:2", "30": "ps-30.svc.cluster.local:65535"}, "empty \"one\"": [], "worker": ["a:1"]})");
  CHECK(cluster_to_json(ClusterSpec()) == "{}");
}

TEST_CASE("TF_CONFIG speaks as the task that the options name") {
  FormatOptions options;
  options.task_type = "worker";
  options.task_id = 0;
  options.rpc_layer = "";
  Snapshot answer = small_answer();
  answer.has_own_master = true;
  answer.own_master = "grpc://x:1";
  CHECK(show(answer, "tf_config", options).find(R"("task": {"type": "worker", "index": 0}})") !=
        std::string::npos);
  options.task_id = 2;
  CHECK(failure(answer, "tf_config", options).code == Code::kNotFound);
  options.task_type =
      "evaluator";  // stands outside of the cluster, as Estimator wants it (TFCONFIG-6)
  CHECK(read(show(answer, "tf_config", options)).task.type == "evaluator");
}

TEST_CASE("lists and maps come back as they were") {
  for (const char* json :
       {R"({"worker": ["a:1", "b:2"], "ps": {"1": "c:3"}, "none": []})", "{}",
        R"({"w": {"2147483647": "a:1"}})", R"({"z": ["[::1]:1"], "a": ["b:1"]})"}) {
    const auto spec = cluster_from_json(json);
    REQUIRE_MESSAGE(spec.ok(), spec.error().message);
    CHECK(cluster_to_json(*spec) == json);
  }
}

TEST_CASE("a map whose indices are 0 to n-1 is a list, in whatever order it comes") {
  CHECK(cluster_to_json(*cluster_from_json(R"({"w": {"1": "b:1", "0": "a:1"}})")) ==
        R"({"w": ["a:1", "b:1"]})");
  CHECK(cluster_from_json(R"({"w": {}})")->find("w")->dense());
}

TEST_CASE("jobs keep their order, whatever they come from (mends SPEC-6)") {
  const auto spec = cluster_from_json(R"({"worker": ["a:1"], "ps": ["b:1"], "chief": ["c:1"]})");
  CHECK(spec->jobs()[0].name == "worker");
  CHECK(spec->jobs()[2].name == "chief");
}

TEST_CASE("what TensorFlow takes silently or fails on without a word is told with its place") {
  CHECK(cluster_refusal(R"({"w": {"1": "a:1", "01": "b:1"}})") ==
        "cluster: job 'w' has two tasks with index 1: 'a:1' and 'b:1'");  // SPEC-7
  CHECK(cluster_refusal(R"({"w": {"-1": "a:1"}})")
            .find("the key '-1' in cluster.w is not an index") == 0);  // SPEC-1
  CHECK(cluster_refusal(R"({"w": {"x": "a:1"}})").find("the key 'x'") == 0);
  CHECK(cluster_refusal(R"({"w": {"2147483648": "a:1"}})").find("the key '2147483648'") == 0);
  CHECK(cluster_refusal(R"({"w": {"": "a:1"}})").find("the key ''") == 0);
  CHECK(cluster_refusal(R"({"w": ["a:1", "b"]})") ==
        "cluster.w[1]: 'b' is not an address: it has no port, as in 'b:8470'");  // SPEC-4
  CHECK(cluster_refusal(R"({"w": {"3": "b"}})").find("cluster.w[\"3\"]: 'b' is not an address") ==
        0);
  CHECK(cluster_refusal(R"({"w": ["a:1", null]})") ==
        "cluster.w[1] is null instead of an address; where a task is missing, write the job as a "
        "map of index to address");
  CHECK(cluster_refusal(R"({"w": ["a:1", 7]})") ==
        "cluster.w[1] is a number instead of an address");
  CHECK(cluster_refusal(R"({"w": "a:1"})") ==
        "cluster.w is a string; write a list of addresses, or a map of index to address");
  CHECK(cluster_refusal(R"({"w": null})").find("cluster.w is null") == 0);
  CHECK(cluster_refusal(R"({"w": [], "w": []})") == "cluster has the job 'w' twice");
  CHECK(cluster_refusal(R"({"": []})").find("it is empty") != std::string::npos);
  CHECK(cluster_refusal(R"({"a\u0000b": []})").find("control character") != std::string::npos);
  CHECK(cluster_refusal("[]") == "cluster is a list; it has to be a map");
  CHECK(cluster_refusal("null") == "cluster is null; it has to be a map");
}

TEST_CASE("the whole text is judged before any of it is believed") {
  for (const char* json :
       {"", "  ", "{", "}", "{\"cluster\": {}", "{\"cluster\": {}} x", "{\"cluster\": {}}{}",
        "{\"x\": [1,,2]}", "{\"x\": tru}", "{'cluster': {}}", "{\"x\": \"\xff\"}",
        "{\"x\": \"\\ud800\"}", "{\"x\": 01}", "{\"cluster\": {},}"}) {
    CAPTURE(json);
    CHECK_FALSE(parse_tf_config(json).ok());
    CHECK_FALSE(cluster_from_json(json).ok());
  }
  CHECK(refusal("") == "TF_CONFIG is empty");
  CHECK(refusal("[1]").find("TF_CONFIG is a list") == 0);
  CHECK(refusal("{\"a\": " + std::string(100000, '[')).find("TF_CONFIG is not JSON") == 0);
}

TEST_CASE("task.type becomes text and task.index a number, as for TensorFlow") {
  CHECK(read(R"({"task": {"type": "worker", "index": "1"}})").task.index == 1);
  CHECK(read(R"({"task": {"type": 123456, "index": 0}})").task.type == "123456");
  CHECK(read(R"({"task": {"index": " 7 "}})").task.index == 7);
  CHECK(read(R"({"task": {"index": 1.0}})").task.index == 1);
  CHECK(read(R"({"task": {}})").task.index == -1);
  CHECK(read("{}").task.type == "");
  CHECK(read(R"({"task": {"type": "w", "index": 3}})").task.known());
}

TEST_CASE("task values that TensorFlow would bend are refused") {
  for (const char* index : {"1.9", "true", "null", "-1", "\"one\"", "\"-1\"", "\"\"", "\"1.5\"",
                            "[0]", "2147483648", "1e99", "\"99999999999999999999\""}) {
    CAPTURE(index);
    CHECK(refusal(std::string(R"({"task": {"index": )") + index + "}}").find("task.index is ") ==
          0);
  }
  for (const char* type : {"null", "true", "[]", "{}", "1.5"}) {
    CHECK(refusal(std::string(R"({"task": {"type": )") + type + "}}").find("task.type is ") == 0);
  }
  CHECK(refusal(R"({"task": {"type": ""}})").find("is not a job name") != std::string::npos);
}

TEST_CASE(
    "nulls are told plainly, or mean 'not set' where they do for TensorFlow (mends TFCONFIG-5)") {
  CHECK(refusal(R"({"cluster": null})") == "cluster is null; it has to be a map");
  CHECK(refusal(R"({"cluster": "x"})") == "cluster is a string; it has to be a map");
  CHECK(refusal(R"({"task": null})") == "task is null; it has to be a map");
  const TfConfig config =
      read(R"({"rpc_layer": null, "session_master": null, "environment": null})");
  CHECK_FALSE(config.rpc_layer.has_value());
  CHECK_FALSE(config.session_master.has_value());
  CHECK_FALSE(config.environment.has_value());
  CHECK(refusal(R"({"rpc_layer": 7})") == "rpc_layer is a number; write a string");
}

TEST_CASE("rpc_layer, environment and session_master are read, other keys are left alone") {
  const TfConfig config = read(
      R"({"rpc_layer": "grpc", "environment": "cloud", "session_master": "", "service": {"x": [1, {"y": null}]}, "model_dir": "/m"})");
  CHECK(*config.rpc_layer == "grpc");
  CHECK(*config.environment == "cloud");
  CHECK(config.session_master->empty());
  CHECK(config.cluster.empty());
}

TEST_CASE("Kubeflow's sparseCluster is read as a cluster, with Go's null for an empty list") {
  const TfConfig config = read(
      R"({"sparseCluster": {"worker": {"2": "w2:2222"}, "ps": null}, "task": {"type": "worker", "index": 2}})");
  CHECK(cluster_to_json(config.cluster) == R"({"worker": {"2": "w2:2222"}, "ps": []})");
  CHECK(refusal(R"({"cluster": {}, "sparseCluster": {}})")
            .find("there is a 'cluster' and a 'sparseCluster'") == 0);
}

TEST_CASE("a key that stands twice is refused") {
  for (const char* json :
       {R"({"cluster": {}, "cluster": {}})", R"({"task": {}, "task": {}})",
        R"({"rpc_layer": "a", "rpc_layer": "b"})", R"({"task": {"index": 1, "index": 2}})",
        R"({"task": {"type": "a", "type": "b"}})"}) {
    CHECK(refusal(json).find("stands twice") != std::string::npos);
  }
}

TEST_CASE("what was written is read back the same, whole") {
  FormatOptions options;
  options.incomplete = true;
  const TfConfig config = read(show(full_answer(), "tf_config", options));
  CHECK(config.cluster == full_answer().spec);
  CHECK(config.task.type == "worker");
  CHECK(config.task.index == 1);
  CHECK(*config.rpc_layer == "grpc");
}

// An unknown key sends a text the long way, through the JSON library.
TEST_CASE("a text means the same whether it is read in one pass or through the JSON library") {
  const std::string name63(63, 'a');
  for (
      const std::string& members : std::vector<std::string>{
          R"("cluster": {"worker": ["10.0.0.1:8470", "10.0.0.2:8470"], "ps": {"7": "a:1", "3": "b:2"}})",
          R"("cluster":{"worker":[]},"task":{"type":"worker","index":3},"rpc_layer":"grpc")",
          R"( "cluster" : { "worker" : [ "a:1" , "worker-1.training.default.svc.cluster.local:65535" ] } )",
          R"("cluster": {"w": ["10.0.0.256:1"]})",
          R"("cluster": {"w": ["10.0.0.01:1"]})",
          R"("cluster": {"w": ["1.2.3:1"]})",
          R"("cluster": {"w": ["a.1:1"]})",
          R"("cluster": {"w": ["-a:1"]})",
          R"("cluster": {"w": ["a.-b:1"]})",
          R"("cluster": {"w": ["a..b:1"]})",
          R"("cluster": {"w": ["a.b.:1"]})",
          R"("cluster": {"w": [".a:1"]})",
          R"("cluster": {"w": ["a-:1"]})",
          R"("cluster": {"w": ["a:0"]})",
          R"("cluster": {"w": ["a:01"]})",
          R"("cluster": {"w": ["a:65536"]})",
          R"("cluster": {"w": ["a:123456"]})",
          R"("cluster": {"w": ["a:"]})",
          R"("cluster": {"w": ["a:1 "]})",
          R"("cluster": {"w": ["a@b:1"]})",
          R"("cluster": {"w": ["aaaaaaaaaaaaaaaa{bbb:1"]})",
          R"("cluster": {"w": ["[fd00::1]:1", "b:1"]})",
          R"("cluster": {"w": ["a:1",]})",
          R"("cluster": {"w": ["a:1" "b:1"]})",
          R"("cluster": {"w": {"1": "a:1", "1": "b:1"}})",
          R"("cluster": {"w": {"01": "a:1", "-0": "b:1"}})",
          R"("cluster": {"w": {"2147483648": "a:1"}})",
          R"("cluster": {"w": ["a:1"], "w": ["b:1"]})",
          R"("cluster": {"": ["a:1"]})",
          R"("cluster": {"w": ["a:1"]}, "sparseCluster": {"w": ["a:1"]})",
          R"("task": {"type": "w", "index": 1.0})",
          R"("task": {"type": "w", "index": 01})",
          R"("task": {"type": "w", "index": 1e0})",
          R"("task": {"type": "w", "index": 2147483648})",
          R"("task": {"type": "", "type": "w"})",
          R"("task": {"index": 1, "index": 2})",
          R"("rpc_layer": "grpc", "rpc_layer": "")",
          R"("environment": null)",
          R"("cluster": {"w": [")" + name63 + R"(:1", ")" + name63 + R"(b:1", ")" + name63 + "." +
              name63 + R"(:1"]})",
      }) {
    CAPTURE(members);
    const auto quick = parse_tf_config("{" + members + "}");
    const auto slow = parse_tf_config("{\"unknown\": 0, " + members + "}");
    REQUIRE(quick.ok() == slow.ok());
    if (!quick.ok()) continue;
    CHECK(quick->cluster == slow->cluster);
    CHECK(cluster_to_json(quick->cluster) == cluster_to_json(slow->cluster));
    CHECK(quick->task.type == slow->task.type);
    CHECK(quick->task.index == slow->task.index);
    CHECK(quick->rpc_layer == slow->rpc_layer);
    CHECK(quick->environment == slow->environment);
  }
}

TEST_CASE("long hosts outlive what they were read with, and copies share them") {
  ClusterSpec copy;
  {
    std::string list = R"({"cluster": {"worker": [)";
    for (int i = 0; i < 3000; ++i)
      list += (i == 0 ? "\"" : ", \"") + std::string("worker-") + std::to_string(i) +
              ".training.default.svc:8470\"";
    auto config = read(list + "]}}");
    copy = config.cluster;
    config.cluster = {};
  }
  const Address last = copy.find("worker")->find(2999)->address;
  copy = {};
  CHECK(last.to_string() == "worker-2999.training.default.svc:8470");
}

TEST_CASE("TF_CONFIG that is nearly right is refused, whoever reads it first") {
  for (const char* json : {R"({"cluster": {"worker": ["h:1"]}} x)",
                           R"({"cluster": {"worker": ["h:1"]})",
                           R"({"cluster": {"worker": ["h:1"]}}})",
                           R"({"cluster": {"worker": ["h:1",]}})",
                           R"({"cluster": {"worker": [,"h:1"]}})",
                           R"({"cluster": {"worker": ["h:1" "h:2"]}})",
                           R"({"cluster": {"worker": ["h:1"}}})",
                           R"({"cluster": {"worker": ["h:1"],}})",
                           R"({"cluster": {"worker" ["h:1"]}})",
                           R"({"cluster": {worker": ["h:1"]}})",
                           R"({"cluster": {"worker: ["h:1"]}})",
                           R"({"cluster": {"worker": [h:1"]}})",
                           R"({"cluster": {"worker": ["h:1]}})",
                           R"({"cluster": {"worker": ["h:1x"]}})",
                           R"({"cluster": {"worker": ["h:1 "]}})",
                           R"({"cluster": {"worker": {"1x": "h:1"}}})",
                           R"({"cluster": {"worker": {"-1": "h:1"}}})",
                           R"({"cluster": {"worker": {"": "h:1"}}})",
                           R"({"cluster": {"worker": {"1": "h:1", "01": "h:2"}}})",
                           R"({"cluster": {"worker": {1: "h:1"}}})",
                           R"({"cluster": {"worker": {"2147483648": "h:1"}}})",
                           R"({"cluster": {"worker": ["h:1"], "worker": ["h:2"]}})",
                           R"({"cluster": {"worker": null}})",
                           R"({"sparseCluster": {"worker": 5}})",
                           R"({"cluster": {}, "cluster": {}})",
                           R"({"task": {}, "task": {}})",
                           R"({"task": {"type": "a", "type": "b"}})",
                           R"({"task": {"index": 1, "index": 1}})",
                           R"({"rpc_layer": "a", "rpc_layer": "b"})",
                           R"({"rpc_layer": "a\u0000b"})",
                           R"({"rpc_layer": grpc"})",
                           R"({"rpc_layer": "grpc})",
                           "{\"rpc_layer\": \"a\nb\"}",
                           R"({"rpc_layer": 5})",
                           R"({"session_master": 5})",
                           R"({"environment": []})"}) {
    CAPTURE(json);
    CHECK_FALSE(parse_tf_config(json).ok());
  }
  for (const char* index :
       {"01", "1x", "1 2", "0x1", "-1", "+1", "", "1.5", "2147483648", "12345678901", "[]", "{}",
        R"("1x")", R"("")", R"(" ")", R"("-1")", R"("2147483648")", R"("99999999999999999999")"}) {
    const std::string json =
        R"({"cluster": {"worker": ["h:1"]}, "task": {"type": "worker", "index": )" +
        std::string(index) + "}}";
    CAPTURE(json);
    CHECK_FALSE(parse_tf_config(json).ok());
  }
}

TEST_CASE("blanks may stand wherever JSON has them") {
  const TfConfig config = read(
      "\r\n\t {\t\"cluster\" : { \"worker\" : [ \"h:1\" ,\n\"g:2\" ] , \"ps\" : { \"3\" : \"p:1\" "
      "} , \"none\" : [ ] } , \"task\"\r:\t{ \"type\" : \"worker\" , \"index\" : 1 } , "
      "\"rpc_layer\" : \"grpc\" , \"environment\" : \"cloud\" , \"session_master\" : "
      "\"grpc://x:1\" }\n ");
  CHECK(config.cluster.task_count() == 3);
  CHECK(config.cluster.task_address("worker", 1)->to_string() == "g:2");
  CHECK(config.cluster.task_address("ps", 3)->to_string() == "p:1");
  CHECK(config.cluster.find("none") != nullptr);
  CHECK(config.task.type == "worker");
  CHECK(config.task.index == 1);
  CHECK(config.rpc_layer == "grpc");
  CHECK(config.environment == "cloud");
  CHECK(config.session_master == "grpc://x:1");
}

}  // namespace
}  // namespace muster
