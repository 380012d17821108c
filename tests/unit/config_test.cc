// muster.yaml as a whole: the tree of resolvers and everything beside it.
#include "core/config/config.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "tests/unit/config_world.h"

using namespace muster;
using namespace std::chrono_literals;

TEST_CASE("the tree of resolvers has the paths that errors and answers use") {
  const ConfigWorld world;
  const Result<Config> config = world.parse(R"(
cluster:
  merge:
    - backend: roster
      options: {members: {worker: ["a:1"]}}
      timeout: 5s
    - chain:
        - {backend: bare, isolate: false}
        - {backend: open, options: {b: 1, a: 2}}
      timeout: 1h30m
expect: {worker: 16, ps: 0}
rpc_layer: grpc
environment: ""
task: {type: worker, index: 3}
timeout: 500ms
plugins:
  search: [/opt/site/muster/, plugins, ../more]
  sha256: {inhouse: 9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08}
)");
  REQUIRE(config.ok());
  const ResolverConfig& merge = config->cluster;
  CHECK(merge.kind == ResolverConfig::Kind::kMerge);
  CHECK(merge.path == "cluster");
  REQUIRE(merge.children.size() == 2);
  CHECK(merge.children[0].backend == "roster");
  CHECK(merge.children[0].path == "cluster.merge[0]");
  CHECK(merge.children[0].timeout == 5s);
  CHECK(merge.children[0].mark.line == 4);
  CHECK(merge.children[0].mark.column == 7);
  CHECK(merge.children[0].options_json ==
        R"({"members":{"worker":["a:1"]},"port":8470,"deep":true})");
  const ResolverConfig& chain = merge.children[1];
  CHECK(chain.kind == ResolverConfig::Kind::kChain);
  CHECK(chain.timeout == 90min);
  REQUIRE(chain.children.size() == 2);
  CHECK(chain.children[0].path == "cluster.merge[1].chain[0]");
  CHECK(chain.children[0].options_json == "{}");
  CHECK(chain.children[0].isolate == false);
  CHECK(chain.children[1].options_json == R"({"b":1,"a":2})");
  CHECK(config->expect == std::vector<std::pair<std::string, int64_t>>{{"worker", 16}, {"ps", 0}});
  CHECK(config->rpc_layer == "grpc");
  CHECK(config->environment == "");
  CHECK(config->task_type == "worker");
  CHECK(config->task_id == 3);
  CHECK(config->timeout == 500ms);
  CHECK(config->plugin_search ==
        std::vector<std::string>{"/opt/site/muster", "/etc/muster/plugins", "/etc/muster/../more"});
  CHECK(config->plugin_sha256.at("inhouse") ==
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08");
  CHECK(world.search_at_lookup == config->plugin_search);
}

TEST_CASE("what a text does not say has the documented default or is absent") {
  const Result<Config> config = ConfigWorld().parse("cluster: {backend: bare}");
  REQUIRE(config.ok());
  CHECK(config->timeout == 30s);
  CHECK_FALSE(config->rpc_layer.has_value());
  CHECK_FALSE(config->task_type.has_value());
  CHECK_FALSE(config->cluster.timeout.has_value());
  CHECK(config->expect.empty());
}

TEST_CASE("each backend's descriptor is looked up once") {
  const ConfigWorld world;
  REQUIRE(
      world.parse("cluster: {chain: [{backend: bare}, {backend: bare}, {backend: open}]}").ok());
  CHECK(world.lookups == std::vector<std::string>{"bare", "open"});
}

TEST_CASE("the code tells a missing plugin from an untrusted one, and from a wrong configuration") {
  ConfigWorld world;
  world.failing_backend("untrusted", Code::kPermissionDenied, "not trusted");
  world.failing_backend("wrong", Code::kInvalidArgument, "not a plugin");
  const auto code = [&](const char* text) { return world.parse(text).error().code; };
  CHECK(code("cluster: {backend: nowhere}") == Code::kNotFound);
  CHECK(code("cluster: {chain: [{backend: nowhere}, {backend: nowhere}]}") == Code::kNotFound);
  CHECK(code("cluster: {backend: untrusted}") == Code::kPermissionDenied);
  CHECK(code("cluster: {backend: wrong}") == Code::kInvalidArgument);
  CHECK(code("cluster: {backend: nowhere, optoins: {}}") == Code::kInvalidArgument);
}

TEST_CASE("more than 64 resolvers within each other are refused, 64 are not") {
  const ConfigWorld world;
  const auto nested = [](int count) {
    std::string text = "{backend: bare}";
    for (int i = 1; i < count; ++i) text = "{chain: [" + text + "]}";
    return "cluster: " + text;
  };
  CHECK(world.error(nested(64)).empty());
  CHECK(has(world.error(nested(65)), "more than 64 resolvers within each other"));
}

TEST_CASE("a place found after parsing is shown like one found before, without secrets") {
  const Result<Config> config = ConfigWorld().parse(
      "cluster:\n  backend: roster\n  options: {members: {}, token: hunter2, zone: nowhere}\n");
  REQUIRE(config.ok());
  const Mark mark = config->cluster.option_marks.at("/zone");
  CHECK(mark.line == 3);
  CHECK(show_place(*config, mark, "there is no zone 'nowhere'") ==
        "/etc/muster/job.yaml:3:48: there is no zone 'nowhere'\n"
        "    options: {members: {}, token: REDACTED, zone: nowhere}\n"
        "                                                  ^");
  CHECK(show_place(*config, Mark{99, 99}, "beyond") ==
        "/etc/muster/job.yaml:99:99: beyond\n  \n  ^");
}

TEST_CASE("a file is read by its absolute name, and only a regular file is") {
  const ConfigWorld world;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("muster-config-test-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "job.yaml").string();
  std::ofstream(file) << "cluster: {backend: bare}\nplugins: {search: [here]}\n";
  const auto load = [&](const std::string& path) {
    return load_config(path, world.environment(), world.descriptors());
  };

  const Result<Config> config = load(file);
  REQUIRE(config.ok());
  CHECK(config->name == file);
  CHECK(config->plugin_search == std::vector<std::string>{(folder / "here").string()});

  CHECK(load((folder / "none.yaml").string()).error().code == Code::kNotFound);
  CHECK(load((folder / "none.yaml").string()).error().message ==
        "cannot read the configuration '" + (folder / "none.yaml").string() +
            "': there is no such file");
  CHECK(has(load(folder.string()).error().message, "it is a directory"));
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(has(load((folder / "pipe").string()).error().message, "it is not a regular file"));
  CHECK(has(load("/dev/zero").error().message, "it is not a regular file"));
  CHECK(load("").error().code == Code::kInvalidArgument);
  if (::geteuid() != 0) {
    std::filesystem::permissions(file, std::filesystem::perms::none);
    CHECK(load(file).error().code == Code::kPermissionDenied);
  }
  std::ofstream(folder / "big.yaml") << std::string((size_t{4} << 20) + 10, '#');
  CHECK(has(load((folder / "big.yaml").string()).error().message, "longer than 4 MiB"));
  std::filesystem::remove_all(folder);
}

TEST_CASE("durations have units in falling order and bounds") {
  CHECK(*parse_duration("30s") == 30s);
  CHECK(*parse_duration("500ms") == 500ms);
  CHECK(*parse_duration("1h30m") == 90min);
  CHECK(*parse_duration("1h2m3s4ms") == 1h + 2min + 3s + 4ms);
  CHECK(*parse_duration("168h") == 168h);
  for (const char* text :
       {"", "30", "s", "30 s", "-1s", "+1s", "1m1h", "1s1s", "1.5s", "0s", "0h0ms", "169h", "1d",
        "99999999999999999999s", "1s ", "9223372036854775807h", "1h9223372036854775807ms"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text).ok());
  }
  CHECK(parse_duration("30").error().message ==
        "'30' is not a duration: write '30s', '500ms' or '1h30m'");
}

TEST_CASE("what to expect is a list of jobs and counts") {
  CHECK(*parse_expect("worker=16,ps=1") ==
        std::vector<std::pair<std::string, int64_t>>{{"worker", 16}, {"ps", 1}});
  CHECK(*parse_expect("a=b=2") == std::vector<std::pair<std::string, int64_t>>{{"a=b", 2}});
  for (const char* text : {"", "worker", "worker=", "=1", "worker=-1", "worker=1,",
                           "worker=1,worker=2", "worker=1x", "worker=99999999999999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_expect(text).ok());
  }
  CHECK(parse_expect("worker=1048576").ok());
  CHECK(parse_expect("worker=1048577").error().message ==
        "'worker=1048577' does not say what to expect: '1048577' is not a count of 0 to 1048576; "
        "write 'worker=16,ps=1'");
}

TEST_CASE("the nearest known word is near, or there is none") {
  const std::vector<std::string> known = {"options", "backend", "timeout"};
  CHECK(nearest("optoins", known) == "options");
  CHECK(nearest("option", known) == "options");
  CHECK(nearest("Backend", known) == "backend");
  CHECK(nearest("colour", known).empty());
  CHECK(nearest("x", known).empty());
  CHECK(nearest("", known).empty());
  CHECK(nearest("ts", {"t"}) == "t");
}
