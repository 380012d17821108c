// Selectors: the same texts were put to the real server's parser, which agrees with every line.
#include <doctest/doctest.h>

#include "tools/muster-sim/selector.h"

using namespace muster::sim;

namespace {

bool selects(std::string_view text, const Labels& labels) {
  const auto selector = LabelSelector::parse(text);
  REQUIRE_MESSAGE(selector, text);
  return selector->matches(labels);
}

std::string refusal(std::string_view text) {
  const auto selector = LabelSelector::parse(text);
  REQUIRE_MESSAGE(!selector, text);
  return selector.error();
}

}  // namespace

TEST_CASE("an empty selector selects everything") {
  CHECK(selects("", {}));
  CHECK(selects("  ", {{"a", "b"}}));
}

TEST_CASE("presence and absence of a key") {
  CHECK(selects("app", {{"app", ""}}));
  CHECK_FALSE(selects("app", {}));
  CHECK(selects("!app", {}));
  CHECK_FALSE(selects("! app", {{"app", "x"}}));
}

TEST_CASE("equality needs the key, inequality does not") {
  CHECK(selects("app=trainer", {{"app", "trainer"}}));
  CHECK(selects("app == trainer", {{"app", "trainer"}}));
  CHECK(selects("app=", {{"app", ""}}));
  CHECK_FALSE(selects("app=", {}));
  CHECK(selects("app!=trainer", {}));
  CHECK(selects("app!=trainer", {{"app", "x"}}));
  CHECK_FALSE(selects("app!=trainer", {{"app", "trainer"}}));
}

TEST_CASE("sets hold their members, and the empty string where a place is empty") {
  CHECK(selects("role in (worker, ps)", {{"role", "ps"}}));
  CHECK_FALSE(selects("role in (worker,ps)", {{"role", "chief"}}));
  CHECK(selects("role notin (worker,ps)", {}));
  CHECK_FALSE(selects("role notin (worker,ps)", {{"role", "ps"}}));
  CHECK(selects("role in ()", {{"role", ""}}));
  CHECK(selects("role in (,ps)", {{"role", ""}}));
  CHECK_FALSE(selects("role in ()", {{"role", "ps"}}));
}

TEST_CASE("'in' and 'notin' are keywords only in the operator's place") {
  CHECK(selects("in in (in)", {{"in", "in"}}));
  CHECK(selects("notin", {{"notin", ""}}));
  CHECK(selects("a=in", {{"a", "in"}}));
}

TEST_CASE("greater and less compare whole numbers and need the key") {
  CHECK(selects("index>9", {{"index", "10"}}));
  CHECK_FALSE(selects("index>9", {{"index", "9"}}));
  CHECK(selects("index<10", {{"index", "9"}}));
  CHECK_FALSE(selects("index<10", {}));
  CHECK_FALSE(selects("index<10", {{"index", "nine"}}));
}

TEST_CASE("terms are joined by AND, white space is free") {
  CHECK(selects(" a , b = c ,\td notin(e) ", {{"a", ""}, {"b", "c"}}));
  CHECK_FALSE(selects("a,b=c", {{"a", ""}, {"b", "d"}}));
}

TEST_CASE("keys may have a DNS prefix") {
  CHECK(selects("batch.kubernetes.io/job-name=x", {{"batch.kubernetes.io/job-name", "x"}}));
  CHECK(refusal("Upper.example/x").find("prefix part") != std::string::npos);
  CHECK(refusal("/x").find("prefix part must be non-empty") != std::string::npos);
  CHECK(refusal("a/b/c").find("qualified name") != std::string::npos);
}

TEST_CASE("malformed selectors are refused in the server's words") {
  CHECK(refusal("a====") == "unable to parse requirement: found '==', expected: identifier");
  CHECK(refusal("a,") == "found '', expected: identifier after ','");
  CHECK(refusal(",a") == "found ',', expected: !, identifier, or 'end of string'");
  CHECK(refusal("!a=b") == "found '=', expected: ',' or 'end of string'");
  CHECK(refusal("a b") ==
        "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt");
  CHECK(refusal("a in b").find("expected: '('") != std::string::npos);
  CHECK(refusal("a in (b").find("expected") != std::string::npos);
  CHECK(refusal("a>b").find("must be an integer") != std::string::npos);
  CHECK(refusal("-a").find("name part must consist of") != std::string::npos);
  CHECK(refusal("a=" + std::string(64, 'x')).find("must be no more than 63 bytes") !=
        std::string::npos);
  CHECK(refusal(std::string(64, 'x')).find("must be no more than 63 bytes") != std::string::npos);
}

TEST_CASE("field selectors split at commas and operators") {
  const auto terms = parse_field_selector("status.phase!=Failed,metadata.name==a,,spec.nodeName=");
  REQUIRE(terms);
  REQUIRE(terms->size() == 3);
  CHECK((*terms)[0].field == "status.phase");
  CHECK((*terms)[0].value == "Failed");
  CHECK_FALSE((*terms)[0].equal);
  CHECK((*terms)[1].value == "a");
  CHECK((*terms)[1].equal);
  CHECK((*terms)[2].value.empty());
}

TEST_CASE("a backslash takes the meaning from comma, equals sign and backslash") {
  const auto terms = parse_field_selector("a=b\\,c\\=d\\\\");
  REQUIRE(terms);
  REQUIRE(terms->size() == 1);
  CHECK(terms->front().value == "b,c=d\\");
  CHECK_FALSE(parse_field_selector("a=b\\x"));
  CHECK_FALSE(parse_field_selector("a=b\\"));
  CHECK_FALSE(parse_field_selector("a=b=c"));
  CHECK_FALSE(parse_field_selector("a"));
}
