// What is told of an option that its plugin's JSON Schema does not take: one keyword, one value, one sentence.
#include <doctest/doctest.h>

#include "tests/unit/config_world.h"

using namespace muster;

namespace {

// The errors of `x: VALUE` where the schema of x is this one, without places and excerpts, one a line.
std::string said(const std::string& schema, const std::string& value) {
  ConfigWorld world;
  world.set("FATS", "fats");
  world.backend("b", R"({"type": "object", "properties": {"x": )" + schema + "}}");
  const std::string error = world.error("cluster: {backend: b, options: {x: " + value + "}}");
  const std::string file = "/etc/muster/job.yaml:";
  std::string sentences;
  for (size_t at = error.find(file); at != std::string::npos; at = error.find(file, at + 1)) {
    const size_t begin = error.find(": ", at) + 2;
    if (!sentences.empty()) sentences += '\n';
    sentences += error.substr(begin, error.find('\n', begin) - begin);
  }
  return sentences;
}

struct Said {
  const char* schema;
  const char* value;
  const char* sentence;
};

void check(std::initializer_list<Said> table) {
  for (const Said& one : table) {
    CAPTURE(one.schema);
    CAPTURE(one.value);
    CHECK(said(one.schema, one.value) == one.sentence);
  }
}

}  // namespace

TEST_CASE("a number out of range is told the bounds that there are") {
  check({
      {R"({"minimum": 3})", "2", "option 'x' must be at least 3, not the number 2"},
      {R"({"maximum": 3})", "4", "option 'x' must be at most 3, not the number 4"},
      {R"({"minimum": 3, "maximum": 5})", "2",
       "option 'x' must be between 3 and 5, not the number 2"},
      {R"({"exclusiveMinimum": 3})", "3", "option 'x' must be more than 3, not the number 3"},
      {R"({"exclusiveMaximum": 3})", "3", "option 'x' must be less than 3, not the number 3"},
      {R"({"exclusiveMinimum": 1, "exclusiveMaximum": 3})", "3",
       "option 'x' must be more than 1 and less than 3, not the number 3"},
      {R"({"multipleOf": 4})", "6", "option 'x' must be a multiple of 4, not the number 6"},
      {R"({"const": "a"})", "b", R"(option 'x' must be a, not the text "b")"},
  });
}

TEST_CASE("a size out of range is told the bounds that there are, and the size") {
  check({
      {R"({"minItems": 2})", "[1]", "option 'x' must have at least 2 entries; it has 1"},
      {R"({"maxItems": 1})", "[1, 2]", "option 'x' must have at most 1 entry; it has 2"},
      {R"({"maxItems": 2})", "[1, 2, 3]", "option 'x' must have at most 2 entries; it has 3"},
      {R"({"minItems": 2, "maxItems": 2})", "[1]", "option 'x' must have 2 entries; it has 1"},
      {R"({"minItems": 1, "maxItems": 1})", "[]", "option 'x' must have 1 entry; it is empty"},
      {R"({"minItems": 1, "maxItems": 2})", "[]",
       "option 'x' must have 1 to 2 entries; it is empty"},
      {R"({"minProperties": 1})", "{}", "option 'x' must have at least 1 key; it is empty"},
      {R"({"maxProperties": 1})", "{a: 1, b: 2}", "option 'x' must have at most 1 key; it has 2"},
      {R"({"maxLength": 1})", "äö", "option 'x' must have at most 1 character; it has 2"},
      {R"({"maxLength": 1})", "${FATS}", "option 'x' must have at most 1 character"},
      {R"({"minLength": 5, "writeOnly": true})", "fats",
       "option 'x' must have at least 5 characters"},
      {R"({"items": [{}], "additionalItems": false})", "[1, 2]",
       "option 'x' has more entries than the schema allows"},
  });
}

TEST_CASE("a value of the wrong type is told the right ones, and how it would be one") {
  check({
      {R"({"type": "string"})", "5",
       "option 'x' must be a text, not the number 5; a text that looks so is written in quotes"},
      {R"({"type": "string"})", "1.5",
       "option 'x' must be a text, not the number 1.5; a text that looks so is written in quotes"},
      {R"({"type": "string"})", "true",
       "option 'x' must be a text, not true; a text that looks so is written in quotes"},
      {R"({"type": "string"})", "[a]", "option 'x' must be a text, not a list"},
      {R"({"type": "boolean"})", "\"true\"",
       R"(option 'x' must be true or false, not the text "true"; write it without quotes)"},
      {R"({"type": "boolean"})", "yes", R"(option 'x' must be true or false, not the text "yes")"},
      {R"({"type": "boolean"})", "1", "option 'x' must be true or false, not the number 1"},
      {R"({"type": "number"})", "\"2\"",
       R"(option 'x' must be a number, not the text "2"; write it without quotes)"},
      {R"({"type": "number"})", "\"2.5\"",
       R"(option 'x' must be a number, not the text "2.5"; write it without quotes)"},
      {R"({"type": "integer"})", "\"2.5\"", R"(option 'x' must be an integer, not the text "2.5")"},
      {R"({"type": "integer"})", "\"true\"",
       R"(option 'x' must be an integer, not the text "true")"},
      {R"({"type": "array"})", "a",
       R"(option 'x' must be a list, not the text "a"; a list of one is written [...])"},
      {R"({"type": "array"})", "{a: 1}", "option 'x' must be a list, not a mapping"},
      {R"({"type": "array"})", "", "option 'x' must be a list, not nothing (null)"},
      {R"({"type": ["string", "null"]})", "[]",
       "option 'x' must be a text or nothing (null), not a list"},
      {R"({"type": ["object", "integer", "null"]})", "a",
       "option 'x' must be a mapping, an integer or nothing (null), not the text \"a\""},
      {R"({"type": "integer", "minimum": 1, "maximum": 9})", "a",
       R"(option 'x' must be an integer from 1 to 9, not the text "a")"},
      {R"({"type": "integer", "minimum": 1})", "a",
       R"(option 'x' must be an integer, not the text "a")"},
      {R"({"type": ["boolean", "number"], "minimum": 1, "maximum": 9})", "a",
       R"(option 'x' must be true or false or a number from 1 to 9, not the text "a")"},
      {R"({"type": "integer", "writeOnly": true})", "fats",
       "option 'x' must be an integer, not a text"},
      {R"({"anyOf": [{"type": "integer"}, {"type": ["integer", "boolean"]}]})", "a",
       R"(option 'x' must be an integer or true or false, not the text "a")"},
      {R"({"items": [{"type": "integer"}, {"type": "string"}], "additionalItems": {"type": "boolean"}})",
       "[1, [], 7]",
       "option 'x[1]' must be a text, not a list\noption 'x[2]' must be true or false, not the "
       "number 7"},
  });
}

TEST_CASE("a text is shown on one line and shortened, never within a character") {
  check({
      {R"({"type": "integer"})", R"("one\ntwo")",
       R"(option 'x' must be an integer, not the text "one...")"},
      {R"({"type": "integer"})", "0123456789_0123456789_0123456789_0123456789",
       R"(option 'x' must be an integer, not the text "0123456789_0123456789_0123456789_0123456...")"},
      {R"({"type": "integer"})", "0123456789_0123456789_0123456789_012345ä",
       R"(option 'x' must be an integer, not the text "0123456789_0123456789_0123456789_012345...")"},
      {R"({"type": "integer"})", R"("a\eb")",
       R"(option 'x' must be an integer, not the text "a?b")"},
  });
}

TEST_CASE("a value that is none of the choices is told them, and the nearest unless it is hidden") {
  check({
      {R"({"enum": ["fast", "slow"]})", "fats",
       R"(option 'x' must be 'fast' or 'slow', not the text "fats"; did you mean 'fast'?)"},
      {R"({"enum": ["fast", "slow", "slow"]})", "${FATS}",
       "option 'x' must be 'fast' or 'slow', not a text"},
      {R"({"enum": ["fast", "slow"], "writeOnly": true})", "fats",
       "option 'x' must be 'fast' or 'slow', not a text"},
      {R"({"enum": [1, 2, "three"]})", "3",
       "option 'x' must be '1', '2' or 'three', not the number 3"},
      {R"({"enum": ["a", "b"]})", "quite other",
       R"(option 'x' must be 'a' or 'b', not the text "quite other")"},
  });
}

TEST_CASE("an unknown key is told with its path, also beside patterns") {
  check({
      {R"({"properties": {"mode": {}, "zone": {}}, "additionalProperties": false})", "{mdoe: 1}",
       "unknown option 'x.mdoe' of backend 'b'; did you mean 'mode'?"},
      {R"({"properties": {"mode": {}, "zone": {}}, "additionalProperties": false})", "{other: 1}",
       "unknown option 'x.other' of backend 'b'; known are 'mode', 'zone'"},
      {R"({"properties": {"mode": {}}, "additionalProperties": false})", "{other: 1}",
       "unknown option 'x.other' of backend 'b'; known is 'mode'"},
      {R"({"patternProperties": {"^a": {}}, "additionalProperties": false})", "{a: 1, b: 2}",
       "unknown option 'x.b' of backend 'b'"},
  });
}

TEST_CASE("what is missing or excluded is told by name") {
  check({
      {R"({"required": ["a", "b"]})", "{}", "option 'x' needs 'a'\noption 'x' needs 'b'"},
      {R"({"anyOf": [{"required": ["a"]}, {"required": ["b"]}, {"required": ["c"]}]})", "{}",
       "option 'x' needs 'a', 'b' or 'c'"},
      {R"({"dependencies": {"a": ["b"], "c": ["d"]}})", "{c: 1}",
       "option 'x.c' needs option 'x.d' beside it"},
      {R"({"dependencies": {"a": {"required": ["b"]}}})", "{a: 1}", "option 'x' needs 'b'"},
      {R"({"not": {"required": ["a"]}})", "{a: 1}", "option 'x.a' cannot be given here"},
      {R"({"not": {"anyOf": [{"required": ["a", "b"]}, {"required": ["b", "c"]}]}})",
       "{a: 1, b: 2}", "of the options 'x.a' and 'x.b' only one can be given"},
      {R"({"not": {"type": "integer"}})", "5",
       "option 'x' is not what the JSON Schema of its plugin asks for (Target should not validate "
       "against schema specified in 'not' constraint.)"},
      {R"({"contains": {"type": "integer"}})", "[a]",
       "option 'x' has no entry of the kind that its schema asks for"},
  });
}
