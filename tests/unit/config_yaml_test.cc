// Values: YAML 1.2's core schema, ${VAR}, aliases, JSON.
#include <doctest/doctest.h>

#include "tests/unit/config_world.h"

using namespace muster;

TEST_CASE("plain scalars have the types of YAML 1.2's core schema, and keep their order") {
  const ConfigWorld world;
  CHECK(
      world.options("{z: 8470, y: \"8470\", x: '8470', w: true, v: yes, u: no, t: on, s: ~, r: "
                    "null, q: , p: -3}") ==
      R"({"z":8470,"y":"8470","x":"8470","w":true,"v":"yes","u":"no","t":"on","s":null,"r":null,"q":null,"p":-3})");
  CHECK(
      world.options("{a: 0o17, b: 0x1F, c: 010, d: 1e3, e: .5, f: +7, g: 1_000, h: 12:30, i: 0b1, "
                    "j: 1., k: -0}") ==
      R"({"a":15,"b":31,"c":10,"d":1000.0,"e":0.5,"f":7,"g":"1_000","h":"12:30","i":"0b1","j":1.0,"k":0})");
  CHECK(
      world.options("{a: 9223372036854775807, b: -9223372036854775808, c: 18446744073709551615, d: "
                    "2026-01-31}") ==
      R"({"a":9223372036854775807,"b":-9223372036854775808,"c":18446744073709551615,"d":"2026-01-31"})");
}

TEST_CASE("a number that no JSON reader holds is refused, not rounded") {
  const ConfigWorld world;
  CHECK(has(world.options("{a: 18446744073709551616}"),
            "the number 18446744073709551616 is too large"));
  CHECK(has(world.options("{a: .inf}"), "no infinite number"));
  CHECK(has(world.options("{a: 1e999}"), "no infinite number"));
}

TEST_CASE("tags of the core schema say the type") {
  const ConfigWorld world;
  CHECK(world.options("{a: !!str 12, b: !!int \"3\", c: !!float 2, d: ! 5, e: !!seq [1], f: !!map "
                      "{g: 1}, h: !!null ''}") ==
        R"({"a":"12","b":3,"c":2.0,"d":"5","e":[1],"f":{"g":1},"h":null})");
}

TEST_CASE("numbers are keys as they are written") {
  CHECK(ConfigWorld().options("{1: a, 03: b, true: c}") == R"({"1":"a","03":"b","true":"c"})");
}

TEST_CASE("the value of a variable in a plain scalar is typed, in quotes it stays a text") {
  ConfigWorld world;
  world.set("PORT", "8470").set("FLAG", "true").set("HOST", "node-1").set("EMPTY", "");
  CHECK(world.options("{a: ${PORT}, b: \"${PORT}\", c: '${PORT}', d: ${FLAG}, e: ${HOST}:${PORT}, "
                      "f: x${EMPTY}y}") ==
        R"({"a":8470,"b":"8470","c":"8470","d":true,"e":"node-1:8470","f":"xy"})");
}

TEST_CASE("a default stands in for a variable that is unset or empty") {
  ConfigWorld world;
  world.set("EMPTY", "").set("SET", "s");
  CHECK(world.options("{a: ${U:-8470}, b: ${EMPTY:-7}, c: ${SET:-x}, d: ${U:-}, e: ${EMPTY}, f: "
                      "\"${U:-a, b: [c]}\"}") ==
        R"({"a":8470,"b":7,"c":"s","d":"","e":"","f":"a, b: [c]"})");
  CHECK(world.options("[${U:-a}, ${U:-[b]}]").find("mapping") != std::string::npos);
  CHECK(world.options("{l: [${U:-a}, ${U:-[b]}, ${U:-x#y}, ${U:-http://h}]}") ==
        R"({"l":["a","[b]","x#y","http://h"]})");
}

TEST_CASE("two dollars are one, and a dollar alone is itself") {
  ConfigWorld world;
  world.set("A", "value");
  CHECK(world.options("{a: $${A}, b: $A, c: a$, d: \"$$\", e: '$$$${A}', f: ^x$}") ==
        R"({"a":"${A}","b":"$A","c":"a$","d":"$","e":"$${A}","f":"^x$"})");
}

TEST_CASE("keys are never interpolated, and braces in them stay") {
  ConfigWorld world;
  world.set("A", "value");
  CHECK(world.options("{\"${A}\": 1}") == R"({"${A}":1})");
  CHECK(world.options("{${A}: 1}") == R"({"${A}":1})");
}

TEST_CASE("an error never shows the value of a variable") {
  ConfigWorld world;
  world.set("PASSWORD", "hunter2").set("BAD", "\xff");
  for (const char* text :
       {"cluster: ${PASSWORD}", "cluster: {backend: ${PASSWORD}/}", "timeout: ${PASSWORD}",
        R"(cluster: {backend: roster, options: {port: ${PASSWORD}, zone: "${PASSWORD} !"}})",
        "cluster: {backend: roster, options: {mode: ${PASSWORD}}}",
        "cluster: {backend: open}\nexpect: {worker: ${PASSWORD}}", "task: ${PASSWORD}"}) {
    CAPTURE(text);
    const std::string error = world.error(text);
    CHECK_FALSE(error.empty());
    CHECK_FALSE(has(error, "hunter2"));
  }
  CHECK(has(world.error("cluster: ${BAD}"), "environment variable 'BAD' is not UTF-8"));
}

TEST_CASE("an alias is the value of its anchor") {
  CHECK(ConfigWorld().options("{a: &x {p: 1}, b: *x, c: [*x, *x], d: &y 5, e: *y}") ==
        R"({"a":{"p":1},"b":{"p":1},"c":[{"p":1},{"p":1}],"d":5,"e":5})");
}

TEST_CASE("JSON of any kind is read: escapes, surrogate pairs, tabs, no spaces") {
  const ConfigWorld world;
  const Result<Config> config = world.parse(
      "{\"cluster\":{\"backend\":\"open\",\"options\":{\n\t\"a\":\"\\u00e9\\ud83d\\ude00\\/"
      "\\\\ud83d\",\"b\":[1,2.5,-1e2,true,null],"
      "\"c\":{},\"d\":\"\\t\\n\\\"\",\"e\":\"http://x:1/#y\"}}}");
  REQUIRE(config.ok());
  CHECK(config->cluster.options_json ==
        "{\"a\":\"\xC3\xA9\xF0\x9F\x98\x80/"
        "\\\\ud83d\",\"b\":[1,2.5,-100.0,true,null],\"c\":{},\"d\":\"\\t\\n\\\"\",\"e\":\"http://"
        "x:1/#y\"}");
  CHECK(world.options(R"({'a': '\ud83d\ude00', b: \ud83d\ude00})") ==
        R"({"a":"\\ud83d\\ude00","b":"\\ud83d\\ude00"})");
}

TEST_CASE("a byte order mark and the line ends of Windows change nothing") {
  const ConfigWorld world;
  const Result<Config> config = world.parse(
      "\xEF\xBB\xBF"
      "cluster:\r\n  backend: open\r\n  options:\r\n    a: b\r\n    c: |\r\n      d\r\n      "
      "e\r\n");
  REQUIRE(config.ok());
  CHECK(config->cluster.mark.line == 2);
  CHECK(config->cluster.mark.column == 3);
  CHECK(config->cluster.options_json == R"({"a":"b","c":"d\ne\n"})");
}

TEST_CASE("a deep or endless text ends with an error, in bounded time") {
  const ConfigWorld world;
  const auto repeat = [](const char* text, size_t count) {
    std::string all;
    for (size_t i = 0; i < count; ++i) all += text;
    return all;
  };
  for (const char* text : {"[", "{", "- ", "? ", "{a: ", "[[", "!a ", "&a ", "'", "\"",
                           "a: ", "${A", "|\n", "%", "\n"}) {
    CAPTURE(text);
    CHECK_FALSE(world.error(repeat(text, 20000)).empty());
    CHECK_FALSE(world.error("cluster: " + repeat(text, 20000)).empty());
  }
  CHECK(has(world.error(std::string((size_t{4} << 20) + 1, '#')), "longer than 4 MiB"));
}
