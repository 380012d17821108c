// Fields that decide who is a member: absent, null and another type are three things.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/support/strict_json.h"

namespace {

using muster::support::Range;
using muster::support::StrictJson;

constexpr Range kRange = {0, 1000};

// A document, and what its reader found wrong.
class Document {
 public:
  explicit Document(const std::string& json)
      : text_(json), root_(parser_.parse(text_).value_unsafe()) {}
  StrictJson root() { return {root_, why}; }

  std::string why;

 private:
  const simdjson::padded_string text_;
  simdjson::dom::parser parser_;
  const simdjson::dom::element root_;
};

// What is wrong with {"spec": {"field": VALUE}}, or with {"spec": {}}, for who reads the field.
template <typename Read>
std::string wrong(const std::string& value, const Read& read) {
  Document document(value.empty() ? R"({"spec": {}})" : R"({"spec": {"field": )" + value + "}}");
  read(document.root());
  return document.why;
}

const auto kNumber = [](const StrictJson& at) { at.number("/spec/field", kRange); };
const auto kNumberOr = [](const StrictJson& at) { at.number_or("/spec/field", kRange, 1); };
const auto kText = [](const StrictJson& at) { at.text("/spec/field"); };
const auto kTextOr = [](const StrictJson& at) { at.text_or("/spec/field", "x"); };
const auto kFlag = [](const StrictJson& at) { at.flag("/spec/field"); };
const auto kFlagOr = [](const StrictJson& at) { at.flag_or("/spec/field", false); };
const auto kList = [](const StrictJson& at) { at.list("/spec/field"); };
const auto kListOr = [](const StrictJson& at) { at.list_or_none("/spec/field"); };
const auto kFields = [](const StrictJson& at) { at.fields("/spec/field"); };
const auto kFieldsOr = [](const StrictJson& at) { at.fields_or_none("/spec/field"); };

}  // namespace

TEST_CASE("a field that has to be there is wrong where it is absent, null or of another type") {
  CHECK(wrong("", kNumber) == "spec.field is not there, and a number is expected");
  CHECK(wrong("null", kNumber) == "spec.field is null, where a number is expected");
  CHECK(wrong(R"("4")", kNumber) == "spec.field is a text, where a number is expected");
  CHECK(wrong("", kText) == "spec.field is not there, and a text is expected");
  CHECK(wrong("null", kText) == "spec.field is null, where a text is expected");
  CHECK(wrong("5", kText) == "spec.field is a number, where a text is expected");
  CHECK(wrong(R"("")", kText) == "spec.field is an empty text");
  CHECK(wrong(R"("a\u0000b")", kText) == "spec.field is 'a\\x00b', which is no text");
  CHECK(wrong("", kFlag) == "spec.field is not there, and true or false is expected");
  CHECK(wrong(R"("true")", kFlag) == "spec.field is a text, where true or false is expected");
  CHECK(wrong("", kList) == "spec.field is not there, and a list is expected");
  CHECK(wrong("null", kList) == "spec.field is null, where a list is expected");
  CHECK(wrong("{}", kList) == "spec.field is a map, where a list is expected");
  CHECK(wrong("", kFields) == "spec.field is not there, and a map is expected");
  CHECK(wrong("[]", kFields) == "spec.field is a list, where a map is expected");
  CHECK(wrong("true", kFields) == "spec.field is true or false, where a map is expected");
}

TEST_CASE("a default is for a field that is absent, and for no other") {
  for (const auto& [value, read] :
       std::vector<std::pair<std::string, std::function<void(const StrictJson&)>>>{
           {"4", kNumberOr},
           {R"("a")", kTextOr},
           {"true", kFlagOr},
           {"[]", kListOr},
           {"{}", kFieldsOr}}) {
    CHECK(wrong("", read) == "");
    CHECK(wrong(value, read) == "");
    CHECK(wrong("null", read).rfind("spec.field is null, where ", 0) == 0);
    for (const char* other : {"4", R"("a")", "true", "[]", "{}"})
      if (other != value) CHECK_MESSAGE(wrong(other, read) != "", other);
  }
  Document document(R"({"a": 4, "b": "x", "c": true})");
  const StrictJson root = document.root();
  CHECK(root.number_or("/a", kRange, 1) == 4);
  CHECK(root.number_or("/z", kRange, 1) == 1);
  CHECK(root.text_or("/b", "y") == "x");
  CHECK(root.text_or("/z", "y") == "y");
  CHECK(root.flag_or("/c", false));
  CHECK(root.flag_or("/z", true));
  CHECK(document.why == "");
}

TEST_CASE("null is told apart from absent where the caller asks") {
  Document document(R"({"a": null, "b": 1})");
  const StrictJson root = document.root();
  CHECK(root.presence("/a") == StrictJson::Presence::kNull);
  CHECK(root.presence("/b") == StrictJson::Presence::kThere);
  CHECK(root.presence("/c") == StrictJson::Presence::kAbsent);
  CHECK(document.why == "");
}

TEST_CASE("a number is whole, and in its range") {
  CHECK(wrong("0", kNumber) == "");
  CHECK(wrong("1000", kNumber) == "");
  for (const char* odd : {"-1", "1001", "2.5", "1e3", "9223372036854775807", "9223372036854775808"})
    CHECK_MESSAGE(
        wrong(odd, kNumber).find("a whole number from 0 to 1000 is expected") != std::string::npos,
        odd);
  CHECK(wrong("-1", kNumberOr) ==
        "spec.field is -1, where a whole number from 0 to 1000 is expected");
}

TEST_CASE("what is on the way to a field is a map, or a list where the pointer has a number") {
  const auto deep = [](const StrictJson& at) { at.number_or("/spec/field/size", kRange, 1); };
  CHECK(wrong("", deep) == "");
  CHECK(wrong("{}", deep) == "");
  CHECK(wrong("null", deep) == "spec.field is null, where a map is expected");
  CHECK(wrong("7", deep) == "spec.field is a number, where a map is expected");
  CHECK(wrong("[]", deep) == "spec.field is a list, where a map is expected");
  const auto first = [](const StrictJson& at) { at.number("/spec/field/0/size", kRange); };
  CHECK(wrong("[]", first) == "spec.field[0].size is not there, and a number is expected");
  CHECK(wrong(R"([{"size": 3}])", first) == "");
  CHECK(wrong(R"([{"size": "3"}])", first) ==
        "spec.field[0].size is a text, where a number is expected");
  Document document("[1]");
  document.root().text("/name");
  CHECK(document.why == "the document is a list, where a map is expected");
}

TEST_CASE("the elements of a list and the fields of a map know their place") {
  Document document(
      R"({"items": [{"name": "a"}, {"name": "b", "sizes": {"x/y": {"n": []}}}, "c"]})");
  const std::vector<StrictJson> items = document.root().list("/items");
  REQUIRE(items.size() == 3);
  CHECK(items[0].text("/name") == "a");
  CHECK(items[2].text() == "c");
  const auto sizes = items[1].fields("/sizes");
  REQUIRE(sizes.size() == 1);
  CHECK(sizes[0].first == "x/y");
  CHECK(document.why == "");
  sizes[0].second.number("/n", kRange);
  CHECK(document.why == "items[1].sizes['x/y'].n is a list, where a number is expected");
}

TEST_CASE("an element that is no map is wrong as soon as a field of it is read") {
  Document document(R"({"items": [5]})");
  document.root().list("/items")[0].text_or("/name", "");
  CHECK(document.why == "items[0] is a number, where a map is expected");
}

TEST_CASE("a key with a slash or a tilde is found by a JSON pointer's escapes") {
  Document document(R"({"labels": {"a/b": "1", "a~b": "2", "a.b": 3}})");
  const StrictJson root = document.root();
  CHECK(root.text("/labels/a~1b") == "1");
  CHECK(root.text("/labels/a~0b") == "2");
  root.text("/labels/a.b");
  CHECK(document.why == "labels['a.b'] is a number, where a text is expected");
}

TEST_CASE("a key that stands twice is wrong, whichever of the two would be right") {
  Document field(R"({"spec": {"replicas": 4, "size": 1, "replicas": 1}})");
  field.root().number_or("/spec/replicas", kRange, 1);
  CHECK(field.why == "spec.replicas stands there twice");
  Document above(R"({"spec": {"replicas": 4}, "spec": {}})");
  above.root().number_or("/spec/replicas", kRange, 1);
  CHECK(above.why == "spec stands there twice");
  Document map(R"({"roles": {"worker": 1, "ps": 2, "worker": 3}})");
  CHECK(map.root().fields("/roles").empty());
  CHECK(map.why == "roles has the key 'worker' twice");
}

TEST_CASE("the first thing that is wrong is told, and a caller may add its own") {
  Document document(R"({"a": 1, "b": 2})");
  const StrictJson root = document.root();
  CHECK(root.text("/a") == "");
  CHECK(root.text("/b") == "");
  root.refuse("/b", "is none");
  CHECK(document.why == "a is a number, where a text is expected");
  Document own(R"({"mode": "Odd"})");
  own.root().refuse("/mode", "is no mode");
  CHECK(own.why == "mode is no mode");
}
