#include <doctest/doctest.h>

#include <string>

#include "format_world.h"

namespace muster {
namespace {

using test::add;
using test::full_answer;

using namespace std::string_literals;

TEST_CASE(
    "ClusterDef is written as TensorFlow writes it: jobs by name, tasks by index, index 0 spelled "
    "out") {
  ClusterSpec spec;
  add(spec, "worker", 1, "b:2");
  add(spec, "worker", 0, "a:1");
  add(spec, "ps", 7, "p:3");
  REQUIRE(spec.add_job("empty").ok());
  CHECK(cluster_to_cluster_def(spec) ==
        "\x0a\x07\x0a\x05"
        "empty"
        "\x0a\x0d\x0a\x02"
        "ps"
        "\x12\x07\x08\x07\x12\x03"
        "p:3"
        "\x0a\x1a\x0a\x06"
        "worker"
        "\x12\x07\x08\x00\x12\x03"
        "a:1"
        "\x12\x07\x08\x01\x12\x03"
        "b:2"s);
}

TEST_CASE("ClusterDef comes back as the same spec, jobs by name") {
  const ClusterSpec& spec = full_answer().spec;
  const auto back = cluster_from_cluster_def(cluster_to_cluster_def(full_answer().spec));
  REQUIRE(back.ok());
  CHECK(*back == full_answer().spec);
  CHECK(back->jobs()[0].name == "ps");
  CHECK(cluster_from_cluster_def("")->empty());
  (void)spec;
}

TEST_CASE("a map's entries in any order, and with index 0 left out, are read") {
  const auto spec = cluster_from_cluster_def(
      "\x0a\x15\x0a\x01"
      "w"
      "\x12\x07\x08\x01\x12\x03"
      "b:2"
      "\x12\x05\x12\x03"
      "a:1"
      "\x18\x01"s);
  REQUIRE_MESSAGE(spec.ok(), spec.error().message);
  CHECK(spec->task_address("w", 0)->to_string() == "a:1");
  CHECK(spec->task_address("w", 1)->to_string() == "b:2");
}

TEST_CASE(
    "a ClusterDef that would lose or invent a task is refused (mends SPEC-1, SPEC-4, SPEC-5)") {
  const auto reason = [](const std::string& bytes) {
    const auto spec = cluster_from_cluster_def(bytes);
    REQUIRE_FALSE(spec.ok());
    CHECK(spec.error().code == Code::kInvalidArgument);
    return spec.error().message;
  };
  const std::string job =
      "\x0a\x0c\x0a\x01"
      "w"
      "\x12\x07\x08\x00\x12\x03"
      "a:1"s;
  REQUIRE(cluster_from_cluster_def(job).ok());
  CHECK(reason(job + job).find("job 'w' stands twice") != std::string::npos);
  CHECK(reason("\x0a\x15\x0a\x01"
               "w"
               "\x12\x07\x08\x00\x12\x03"
               "a:1"
               "\x12\x07\x08\x00\x12\x03"
               "b:1"s)
            .find("two tasks with index 0: 'a:1' and 'b:1'") != std::string::npos);
  CHECK(reason("\x0a\x0a\x0a\x01"
               "w"
               "\x12\x05\x08\x00\x12\x01"
               "a"s)
            .find("it has no port") != std::string::npos);
  CHECK(reason("\x0a\x15\x0a\x01"
               "w"
               "\x12\x10\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x12\x03"
               "a:1"s)
            .find("index -1") != std::string::npos);
  CHECK(reason("\x0a\x00"s).find("is not a job name: it is empty") != std::string::npos);
  CHECK(reason("\x0a\x05"
               "ab"s)
            .find("cut off") != std::string::npos);
  CHECK(reason("\x0a\x03\x0a\x01\xff"s).find("not valid UTF-8") != std::string::npos);
}

TEST_CASE("the text form is protobuf's") {
  ClusterSpec spec;
  add(spec, "w\xc3\xa4\"", 0, "a:1");
  REQUIRE(spec.add_job("empty").ok());
  CHECK(cluster_to_cluster_def_text(spec) ==
        "job {\n  name: \"empty\"\n}\njob {\n  name: \"w\\303\\244\\\"\"\n  tasks {\n    key: 0\n  "
        "  value: \"a:1\"\n  }\n}\n");
  CHECK(cluster_to_cluster_def_text(ClusterSpec()) == "");
}

}  // namespace
}  // namespace muster
