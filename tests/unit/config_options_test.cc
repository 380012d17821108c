// Options against the schema of a plugin, and the command line's shorthand.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/unit/config_world.h"

using namespace muster;

namespace {

Result<Config> roster(const ConfigWorld& world, const std::string& options) {
  return world.parse("cluster: {backend: roster, options: " + options + "}");
}

Result<Config> shorthand(const ConfigWorld& world, const std::string& backend,
                         const std::vector<std::string>& options) {
  return shorthand_config(backend, options, {"plugins"}, world.environment(), world.descriptors());
}

}  // namespace

TEST_CASE("defaults are filled in behind what is written, also within objects that are there") {
  const ConfigWorld world;
  CHECK(roster(world, "{deep: false, members: {}}")->cluster.options_json ==
        R"({"deep":false,"members":{},"port":8470})");
  CHECK(roster(world, "{members: {}, auth: {user: u}}")->cluster.options_json ==
        R"({"members":{},"auth":{"user":"u","realm":"muster"},"port":8470,"deep":true})");
}

TEST_CASE("defaults come through $ref, allOf and the items of lists, not out of alternatives") {
  ConfigWorld world;
  world.backend(
      "x",
      R"({"type": "object", "definitions": {"d": {"type": "object", "properties": {"p": {"default": 1}}}},
    "properties": {"a": {"$ref": "#/definitions/d"}, "l": {"items": {"$ref": "#/definitions/d"}}},
    "allOf": [{"properties": {"b": {"default": 2}}}], "anyOf": [{"properties": {"c": {"default": 3}}}, {}]})");
  CHECK(world.parse("cluster: {backend: x, options: {a: {}, l: [{}, {p: 5}]}}")
            ->cluster.options_json == R"({"a":{"p":1},"l":[{"p":1},{"p":5}],"b":2})");
}

TEST_CASE("what the schema marks writeOnly is a secret, wherever it is nested") {
  ConfigWorld world;
  world.set("TOKEN", "from-environment");
  const auto secrets = [&](const char* options) { return roster(world, options)->cluster.secrets; };
  CHECK(secrets("{members: {}, token: hunter2, auth: {user: u, password: pass word}}") ==
        std::vector<std::string>{"hunter2", "pass word"});
  CHECK(secrets("{members: {}, token: \"${TOKEN}\"}") ==
        std::vector<std::string>{"from-environment"});
  CHECK(secrets("{members: {}}").empty());

  world.backend(
      "x",
      R"({"type": "object", "properties": {"keys": {"writeOnly": true}, "list": {"items": {"$ref": "#/definitions/s"}},
    "map": {"patternProperties": {"^p": {"writeOnly": true}}, "additionalProperties": {"anyOf": [{"writeOnly": true}, {}]}}},
    "definitions": {"s": {"type": "string", "writeOnly": true}}})");
  CHECK(world
            .parse("cluster: {backend: x, options: {keys: {a: s1, b: [s2, 77]}, list: [s3], map: "
                   "{p: s4, q: s5}}}")
            ->cluster.secrets == std::vector<std::string>{"s1", "s2", "77", "s3", "s4", "s5"});
}

TEST_CASE("what a command gets behind a flag that sounds secret is a secret") {
  ConfigWorld world;
  world.backend("exec", R"({"properties": {"command": {"items": {"type": "string"}}}})");
  for (const char* backend : {"exec", "open"}) {
    const auto config = world.parse(
        std::string("cluster: {backend: ") + backend +
        ", options: {command: [./p, --token, hunter2, --api-key=hunter3, --token-file, f, "
        "--password, --private-key-path=k, -v, x]}}");
    REQUIRE(config.ok());
    CHECK(config->cluster.secrets == std::vector<std::string>{"hunter2", "hunter3"});
    CHECK_FALSE(
        has(show_place(*config, config->cluster.option_marks.at("/command"), "wrong"), "hunter"));
  }
}

TEST_CASE(
    "no form of a secret is in an error: quoted, escaped, on several lines, of a wrong type") {
  const ConfigWorld world;
  for (const char* token :
       {"hunter2", "\"hunter2\"", "'hunter2'", "'hunter2''hunter2'", "\"\\x68unter2\\\"hunter2\"",
        "[hunter2]", "{hunter2: hunter2}", "!!str hunter2", "&a hunter2", "&a \"hunter2\"",
        "\"hunter2\n    hunter2\"", "hunter2\n    hunter2", "\"hunter2 ${X:-hunter2}\"",
        "${X:-hunter2}"}) {
    const std::string text =
        std::string("cluster:\n  backend: roster\n  options: {members: {}, token: ") + token +
        ", prt: 1}\n";
    CAPTURE(text);
    const std::string error = world.error(text);
    CHECK(has(error, "unknown option 'prt'"));
    CHECK_FALSE(has(error, "hunter2"));
    CHECK_FALSE(has(error, "unter2"));
  }
  const std::string block = world.error(
      "cluster:\n  backend: roster\n  options:\n    token: |\n      hunter2\n      hunter2\n    "
      "prt: 1\n");
  CHECK(has(block, "unknown option 'prt'"));
  CHECK_FALSE(has(block, "hunter2"));
}

TEST_CASE("a line that is no YAML shows nothing behind a key that sounds secret") {
  const ConfigWorld world;
  for (const char* text :
       {"cluster: {options: {token: hunter2, a: ]", "a:\n  password: x: hunter2",
        "api_key: \"hunter2\" hunter2", "cluster:\n  private_key: |\n    hunter2\n   hunter2\n"}) {
    CAPTURE(text);
    const std::string error = world.error(text);
    CHECK_FALSE(error.empty());
    CHECK_FALSE(has(error, "hunter2"));
  }
}

TEST_CASE("marks of options are found by JSON pointer") {
  const Result<Config> config = ConfigWorld().parse(
      "cluster:\n  backend: open\n  options:\n    a/b: {c~d: [x, y]}\n    é: é\n");
  REQUIRE(config.ok());
  const auto place = [&](const char* pointer) {
    const Mark mark = config->cluster.option_marks.at(pointer);
    return std::pair(mark.line, mark.column);
  };
  CHECK(place("") == std::pair(4, 5));
  CHECK(place("/a~1b/c~0d/1") == std::pair(4, 20));
  CHECK(place("/é") == std::pair(5, 8));
  CHECK(ConfigWorld().parse("cluster: {backend: bare}")->cluster.option_marks.at("").column == 20);
}

TEST_CASE("a schema that lists its properties takes no others, unless it says so") {
  ConfigWorld world;
  world.backend("listed", R"({"type": "object", "properties": {"a": {}}})");
  world.backend("more",
                R"({"type": "object", "properties": {"a": {}}, "additionalProperties": true})");
  CHECK(has(world.error("cluster: {backend: listed, options: {b: 1}}"),
            "unknown option 'b' of backend 'listed'"));
  CHECK(world.error("cluster: {backend: more, options: {b: 1}}").empty());
}

TEST_CASE("alternatives are told as such") {
  ConfigWorld world;
  world.backend(
      "x",
      R"({"type": "object", "properties": {"path": {}, "url": {}, "n": {"anyOf": [{"type": "integer"}, {"type": "string", "enum": ["all"]}]}},
    "oneOf": [{"required": ["path"]}, {"required": ["url"]}]})");
  CHECK(has(world.error("cluster: {backend: x}"), "backend 'x' needs option 'path' or 'url'"));
  CHECK(has(world.error("cluster: {backend: x, options: {path: 1, url: 2}}"),
            "of the options 'path' and 'url' only one can be given"));
  CHECK(has(world.error("cluster: {backend: x, options: {path: 1, n: [1]}}"),
            "option 'n' must be an integer or a text, not a list"));
}

TEST_CASE("a reason that valijson does not name is still an error") {
  ConfigWorld world;
  world.backend("x", R"({"type": "object", "propertyNames": {"maxLength": 2}})");
  CHECK(has(world.error("cluster: {backend: x, options: {long: 1}}"),
            "the options of backend 'x' are not what the JSON Schema of its plugin asks for"));
}

TEST_CASE("a plugin whose schema cannot be used is told at the backend") {
  ConfigWorld world;
  for (
      const char* schema :
      {"{", "[]", "{\"properties\": 5}", R"({"properties": {"a": {"pattern": "("}}})",
       R"({"$ref": "http://127.0.0.1/x"})", R"({"$ref": "#"})",
       R"({"$ref": "#/definitions/a", "definitions": {"a": {"$ref": "#/definitions/b"}, "b": {"$ref": "#/definitions/a"}}})",
       R"({"type": 7})"}) {
    CAPTURE(schema);
    world.backend("x", schema);
    CHECK(has(world.error("cluster: {backend: x, options: {a: b}}"),
              "/etc/muster/job.yaml:1:20: the "));
  }
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "{\"not\":";
  world.backend("x", deep + "{}" + std::string(100000, '}'));
  CHECK(has(world.error("cluster: {backend: x}"), "cannot be used"));
}

TEST_CASE(
    "format binds nothing, and a long text does not exhaust the stack of a regular expression") {
  ConfigWorld world;
  world.backend(
      "x",
      R"({"type": "object", "properties": {"format": {"format": "date"}, "a": {"type": "string", "pattern": "^(a|b)*$"},
    "pem": {"type": "string"}}})");
  CHECK(world.error("cluster: {backend: x, options: {format: [1]}}").empty());
  const std::string large(300000, 'a');
  CHECK(world.error("cluster: {backend: x, options: {pem: " + large + "}}").empty());
  CHECK(has(world.error("cluster: {backend: x, options: {a: " + large + "}}"),
            "longer than 512 bytes"));
}

TEST_CASE("a shorthand is a configuration of one backend") {
  ConfigWorld world;
  world.set("Z", "east");
  const Result<Config> config = shorthand(
      world, "roster",
      {"members.worker=[a, b]", "members.ps.1=c", "port=12", "zone=${Z}", "token=\"77777\""});
  REQUIRE(config.ok());
  CHECK(config->name == "<command line>");
  CHECK(config->cluster.path == "cluster");
  CHECK(
      config->cluster.options_json ==
      R"({"members":{"worker":["a","b"],"ps":{"1":"c"}},"port":12,"zone":"east","token":"77777","deep":true})");
  CHECK(config->cluster.secrets == std::vector<std::string>{"77777"});
  CHECK(config->plugin_search.front().front() == '/');
  CHECK(shorthand(world, "open", {"a\\.b.c=1", "d=", "e=~"})->cluster.options_json ==
        R"({"a.b":{"c":1},"d":"","e":null})");
  CHECK(show_place(*config, config->cluster.option_marks.at("/port"), "taken") ==
        "<command line>:4:9: taken\n  -O port=12\n          ^");
  CHECK(show_place(*config, config->cluster.option_marks.at("/token"), "short") ==
        "<command line>:6:10: short\n  -O token=REDACTED\n           ^");
}

TEST_CASE("a value that is dropped is no less secret: of a key that stands there twice") {
  for (const char* text :
       {"cluster:\n  backend: roster\n  options:\n    token: hunter2\n    token: hunter2-b\n",
        "cluster:\n  backend: roster\n  options: {members: {}, token: hunter2, token: hunter2}\n",
        "cluster:\n  backend: roster\n  options: {auth: {password: hunter2, password: hunter2}}\n",
        "cluster: {backend: roster, options: {members: {}}, options: {prt: hunter2}}\n",
        "token: hunter2\ntoken: hunter2\n", "x: {token: [hunter2]}\nx: {token: [hunter2]}\n",
        "cluster: {backend: roster, options: {<<: {token: hunter2}, members: {}}}\n",
        "cluster: {backend: roster, options: {[token]: hunter2, members: {}}}\n"}) {
    const std::string error = ConfigWorld().error(text);
    CAPTURE(error);
    CHECK_FALSE(error.empty());
    CHECK_FALSE(has(error, "hunter2"));
  }
  CHECK(has(ConfigWorld().error("rpc_layer: grpc\nrpc_layer: http\n"), "rpc_layer: http"));
}

TEST_CASE("an error about an option names the variable and never says its value") {
  ConfigWorld world;
  world.set("HOST", "canary of \x1b a host").set("PORT", "canary-port").set("ONE", "1");
  const auto config = roster(
      world,
      "{members: {worker: [\"${HOST}\", \"10.0.0.1:${PORT}\", \"${ONE}\"]}, zone: \"${PORT}\"}");
  REQUIRE(config.ok());
  const ResolverConfig& leaf = config->cluster;
  CHECK(name_variables(leaf, "/members/worker/0", "'canary of \\x1b a host' is wrong") ==
        "'${HOST}' is wrong");
  CHECK(name_variables(leaf, "/members", "'canary of \x1b a host' and '10.0.0.1:canary-port'") ==
        "'${HOST}' and '10.0.0.1:${PORT}'");
  CHECK(name_variables(leaf, "/members", "'canary of \\x1b a...' is cut") == "'${HOST}...' is cut");
  CHECK(name_variables(leaf, "/members/worker/1", "the port 'canary-port' and 1") ==
        "the port '${PORT}' and 1");
  // Another option's value is not what the message is about, and a short one stands in other words.
  CHECK(name_variables(leaf, "/members/worker/0", "canary-port") == "canary-port");
  CHECK(name_variables(leaf, "/member", "canary-port") == "canary-port");
  CHECK(name_variables(leaf, "/members/worker/2", "task 1") == "task 1");
}

TEST_CASE("a wrong shorthand is told at the flag that is wrong") {
  const ConfigWorld world;
  const auto error = [&](const std::vector<std::string>& options) {
    const Result<Config> config = shorthand(world, "roster", options);
    return config ? "" : config.error().message;
  };
  CHECK(error({"members={}", "port=http"}) ==
        "<command line>:3:9: option 'port' must be an integer from 1 to 65535, not the text "
        "\"http\"\n"
        "  -O port=http\n          ^");
  CHECK(error({"members={}", "prot=1"}) ==
        "<command line>:3:4: unknown option 'prot' of backend 'roster'; did you mean 'port'?\n  -O "
        "prot=1\n     ^");
  CHECK(has(error({"members"}), "an option is written NAME=VALUE"));
  CHECK(has(error({"=5"}), "an option is written NAME=VALUE"));
  CHECK(has(error({"members={}", "members={}"}),
            "option 'members' is here twice; the first is at 2:4"));
  CHECK(has(error({"members=1", "members.a=2"}),
            "option 'members.a' is within 'members', which got a value at 2:4"));
  CHECK(has(error({"a..b=1"}), "has an empty part"));
  CHECK(has(error({"members={"}), "<command line>:2:13: not YAML"));
  CHECK_FALSE(has(error({"token=hunter2: hunter3: ["}), "hunter"));
  CHECK(has(shorthand(world, "nowhere", {}).error().message,
            "<command line>:1:11: cannot find the plugin"));
  CHECK(shorthand(world, "nowhere", {}).error().code == Code::kNotFound);
}
