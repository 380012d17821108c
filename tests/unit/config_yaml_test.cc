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

TEST_CASE("a number is what the core schema's forms say, and a text when it is nearly one") {
  const ConfigWorld world;
  CHECK(world.options("{a: -.5, b: +1.5, c: 5.e1, d: 1E+3, e: 1e-1, f: 0xaF, g: -7, h: .INF0}") ==
        R"({"a":-0.5,"b":1.5,"c":50.0,"d":1000.0,"e":0.1,"f":175,"g":-7,"h":".INF0"})");
  CHECK(
      world.options("{a: ., b: +, c: -, d: 1e, e: 1e+, f: 0x, g: 0o, h: 0o8, i: 0xg, j: e1, k: "
                    "1.2.3, l: -.e1, m: +0x1, n: \"\"}") ==
      R"({"a":".","b":"+","c":"-","d":"1e","e":"1e+","f":"0x","g":"0o","h":"0o8","i":"0xg","j":"e1","k":"1.2.3","l":"-.e1","m":"+0x1","n":""})");
  CHECK(has(world.options("{a: -9223372036854775809}"), "is too large"));
  CHECK(has(world.options("{a: -.inf}"), "no infinite number"));
}

TEST_CASE("a value that is not what its tag says is refused") {
  const ConfigWorld world;
  CHECK(world.options("{a: !!bool true, b: !!bool False, c: !!float -2, d: !!float 1.5, e: !!null "
                      "~, f: !!str true, g: ! [1], h: ! {i: 1}}") ==
        R"({"a":true,"b":false,"c":-2.0,"d":1.5,"e":null,"f":"true","g":[1],"h":{"i":1}})");
  for (const char* value : {"!!int 1.5", "!!int x", "!!float true", "!!bool 1", "!!bool yes",
                            "!!null 0", "!!float 18446744073709551616"}) {
    CAPTURE(value);
    CHECK(has(world.options("{a: " + std::string(value) + "}"), "this is not what its tag '!!"));
  }
  for (const char* value : {"!!set {a}", "!!seq {a: 1}", "!!map [1]", "!own [1]", "!!binary x"}) {
    CAPTURE(value);
    CHECK(has(world.options("{a: " + std::string(value) + "}"),
              "' is not known; no value needs a tag"));
  }
}

TEST_CASE("an alias stands for its value, whatever kind that has") {
  const ConfigWorld world;
  CHECK(
      world.options("{a: &a 5, b: *a, c: &c [1, *a], d: *c, e: &e \"x\", f: *e, g: &g !!str 7, "
                    "h: *g, i: &i {j: *c}, k: *i}") ==
      R"({"a":5,"b":5,"c":[1,5],"d":[1,5],"e":"x","f":"x","g":"7","h":"7","i":{"j":[1,5]},"k":{"j":[1,5]}})");
  std::string deep = "&a [1]";
  for (int i = 0; i < 150; ++i) deep = "[" + deep + "]";
  CHECK(has(world.options("{a: &d " + deep + ", b: " + std::string(60, '[') + "*d" +
                          std::string(60, ']') + "}"),
            "more than 200 lists and mappings within each other"));
}

TEST_CASE("escapes of JSON and of YAML give their characters") {
  const ConfigWorld world;
  CHECK(
      world.options(R"({a: "\u00E9", b: "\uD83D\uDE00", c: "\ud83d\ude00", d: "\x41", e: "\/"})") ==
      "{\"a\":\"\u00e9\",\"b\":\"\U0001F600\",\"c\":\"\U0001F600\",\"d\":\"A\",\"e\":\"/\"}");
  for (const char* half :
       {R"("\uD83D")", R"("\uD83Dx")", R"("\uDE00")", R"("\uD83D\u0041")", R"("\uDC00\uDC00")"}) {
    CAPTURE(half);
    CHECK(has(world.options("{a: " + std::string(half) + "}"),
              "not YAML: this escape is not a character of Unicode"));
  }
  CHECK(has(world.options(R"({a: "\N"})"), R"(use "\u0085" and "\u00a0")"));
}

TEST_CASE("characters that YAML does not hold are told with what to write") {
  const ConfigWorld world;
  CHECK(has(world.options("{a: \"x\x7fy\"}"), "the character U+007F cannot stand in YAML"));
  CHECK(has(world.options("{a: b}\rc"), "a carriage return without a newline behind it"));
  CHECK(has(world.error("cluster: {backend: open}\r"), "a carriage return without a newline"));
  CHECK(world.error("cluster: {backend: open}\r\n").empty());
}

TEST_CASE("texts in quotes and blocks keep what stands in them") {
  const ConfigWorld world;
  CHECK(world.options("{a: 'it''s', b: \"say \\\"no\\\"\", c: 'two\n  lines'}") ==
        R"({"a":"it's","b":"say \"no\"","c":"two lines"})");
  const Result<Config> blocks = world.parse(
      "cluster:\n  backend: open\n  options:\n    a: |\n      x\n      y\n    b: >\n      x\n   "
      "   y\n    c: |-\n      z\n    d: 1\n");
  REQUIRE(blocks.ok());
  CHECK(blocks->cluster.options_json == R"({"a":"x\ny\n","b":"x y\n","c":"z","d":1})");
}

TEST_CASE("a '$' that begins no variable is itself") {
  ConfigWorld world;
  world.set("A_1", "one");
  CHECK(world.options("{a: $, b: x$, c: $x, d: $$, e: $${A_1}, f: ${A_1}$, g: \"$1 ${A_1} $$\"}") ==
        R"({"a":"$","b":"x$","c":"$x","d":"$","e":"${A_1}","f":"one$","g":"$1 one $"})");
  for (const char* value :
       {"\"${\"", "\"${}\"", "\"${1A}\"", "\"${A_1\"", "\"${A-1}\"", "\"${A_1:x}\""}) {
    CAPTURE(value);
    CHECK(has(world.options("{a: " + std::string(value) + "}"),
              "'${' begins the name of an environment variable"));
  }
}
