// What a plugin says about itself: core/config/descriptor.h.
#include "core/config/descriptor.h"

#include <doctest/doctest.h>

using namespace muster;

namespace {

std::string message(std::string_view json) {
  const Result<Descriptor> descriptor = parse_descriptor(json);
  REQUIRE_FALSE(descriptor.ok());
  CHECK(descriptor.error().code == Code::kInvalidArgument);
  CHECK(descriptor.error().detail("duty") == "MP-2");
  return descriptor.error().message;
}

}  // namespace

TEST_CASE("a whole descriptor gives every field") {
  const Result<Descriptor> descriptor = parse_descriptor(R"({
    "name": "gce", "version": "1.2.3", "abi": {"major": 1, "minor": 4}, "description": "Instances.",
    "options": {"type": "object", "properties": {"project": {"type": "string", "pattern": "^\\d+$"}}},
    "extensions": ["muster.watch/1"], "services": ["muster.http/1", "muster.clock/1"],
    "homepage": "https://example.com", "license": "Apache-2.0", "newer": {"unknown": [1, 2]}
  })");

  REQUIRE(descriptor.ok());
  CHECK(descriptor->name == "gce");
  CHECK(descriptor->version == "1.2.3");
  CHECK(descriptor->abi_major == 1);
  CHECK(descriptor->abi_minor == 4);
  CHECK(descriptor->description == "Instances.");
  CHECK(descriptor->options_schema ==
        R"({"type":"object","properties":{"project":{"type":"string","pattern":"^\\d+$"}}})");
  CHECK(descriptor->extensions == std::vector<std::string>{"muster.watch/1"});
  CHECK(descriptor->services == std::vector<std::string>{"muster.http/1", "muster.clock/1"});
  CHECK(descriptor->homepage == "https://example.com");
  CHECK(descriptor->license == "Apache-2.0");
}

TEST_CASE("a plugin that says nothing of options takes none") {
  const Result<Descriptor> descriptor =
      parse_descriptor(R"({"name": "x", "version": "1", "abi": {"major": 1, "minor": 0}})");
  REQUIRE(descriptor.ok());
  CHECK(descriptor->options_schema == R"({"type":"object","additionalProperties":false})");
}

TEST_CASE("the error of a wrong descriptor names the key") {
  CHECK(message("{}") == "the descriptor is wrong: 'name' is missing (MP-2)");
  CHECK(message(R"({"name": 3})") ==
        "the descriptor is wrong: 'name' is a number, not a text (MP-2)");
  CHECK(message(R"({"name": "Gce", "version": "1", "abi": {"major": 1, "minor": 0}})")
            .find("'name' is 'Gce': a backend's name is") != std::string::npos);
  CHECK(message(R"({"name": "x", "version": "", "abi": {"major": 1, "minor": 0}})") ==
        "the descriptor is wrong: 'version' is empty (MP-2)");
  CHECK(message(R"({"name": "x", "version": "1"})") ==
        "the descriptor is wrong: 'abi' is missing (MP-2)");
  CHECK(message(R"({"name": "x", "version": "1", "abi": {"major": 1}})") ==
        "the descriptor is wrong: 'abi' has no 'minor' (MP-2)");
  CHECK(message(R"({"name": "x", "version": "1", "abi": {"major": -1, "minor": 0}})")
            .find("'abi.major' is not a whole number") != std::string::npos);
  CHECK(
      message(R"({"name": "x", "version": "1", "abi": {"major": 1, "minor": 0}, "options": []})") ==
      "the descriptor is wrong: 'options' is an array, not an object (MP-2)");
  CHECK(
      message(
          R"({"name": "x", "version": "1", "abi": {"major": 1, "minor": 0}, "services": ["a", 1]})") ==
      "the descriptor is wrong: 'services' has a number in it, not only texts (MP-2)");
  CHECK(message(R"({"name": "x", "name": "y", "version": "1", "abi": {"major": 1, "minor": 0}})") ==
        "the descriptor is wrong: 'name' stands twice (MP-2)");
}

TEST_CASE("what is no JSON object is told with line and column") {
  CHECK(message("{\n  \"name\": x}").find("it is not JSON: line 2, column 11") !=
        std::string::npos);
  CHECK(message("").find("it is not JSON: line 1, column 1") != std::string::npos);
  CHECK(message("[]") == "the descriptor is wrong: it is an array, not an object (MP-2)");
  CHECK(message("{\"name\": \"\xff\"}").find("it is not JSON") != std::string::npos);
}

TEST_CASE("an escape of half a character is refused wherever it stands") {
  for (const char* half :
       {R"("options":{"a":"\udd27"})", R"("options":{"\udd27":1})", R"("license":"\udd27")"}) {
    CAPTURE(half);
    CHECK(message(std::string(R"({"name":"x","version":"1","abi":{"major":1,"minor":0},)") + half +
                  "}")
              .starts_with("the descriptor is wrong: a text in it is not UTF-8"));
  }
}

TEST_CASE("a descriptor nested a million deep is refused without harm") {
  CHECK(message(std::string(1'000'000, '[')) ==
        "the descriptor is wrong: it nests deeper than 100 (MP-2)");
  CHECK(message(std::string(2'000'000, ' ')).find("more than 1048576") != std::string::npos);
}
