#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "core/spec/cluster_spec.h"
#include "core/spec/natural_order.h"

namespace muster {
namespace {

bool before(std::string_view a, std::string_view b) {
  return natural_compare(a, b) < 0 && natural_compare(b, a) > 0;
}

TEST_CASE("digits compare as numbers, the rest as bytes") {
  CHECK(before("worker-2", "worker-10"));
  CHECK(before("worker-9-1", "worker-10-0"));
  CHECK(before("a", "b"));
  CHECK(before("a", "a1"));
  CHECK(before("", "a"));
  CHECK(before("Z", "a"));
  CHECK(before("a2b", "a10"));
  CHECK(before("2", "10"));
  CHECK(before("rack2node10", "rack10node2"));
  CHECK(natural_compare("worker-1", "worker-1") == 0);
  CHECK(natural_compare("", "") == 0);
}

TEST_CASE("equal numbers with fewer leading zeros come first, and only as the last word") {
  CHECK(before("a1", "a01"));
  CHECK(before("a01", "a001"));
  CHECK(before("a0", "a00"));
  CHECK(before("a01", "a2"));
  CHECK(before("a01-1", "a1-2"));
  CHECK(before("a1-01", "a01-1"));
}

TEST_CASE("runs of digits of any length are told apart") {
  const std::string many(5000, '9');
  CHECK(before("n" + many, "n1" + std::string(5000, '0')));
  CHECK(before("n" + many + "8", "n" + many + "9"));
  CHECK(before("n18446744073709551615", "n18446744073709551616"));
}

TEST_CASE("a digit and another byte compare by their bytes, bytes beyond ASCII last") {
  CHECK(before("a-", "a1"));
  CHECK(before("a1", "aa"));
  CHECK(before("a~", "a\xc3\xa4"));
}

TEST_CASE("the order is strict and total on thousands of texts") {
  std::mt19937 random(7);  // NOLINT: the same texts in each run
  std::vector<std::string> texts;
  for (int i = 0; i < 120; ++i) {
    std::string text;
    for (unsigned length = random() % 5; length > 0; --length) text += "0012a-"[random() % 6];
    texts.push_back(text);
  }
  for (const auto& a : texts) {
    for (const auto& b : texts) {
      const int order = natural_compare(a, b);
      REQUIRE((order == 0) == (a == b));
      REQUIRE((order < 0) == (natural_compare(b, a) > 0));
      if (order >= 0) continue;
      for (const auto& c : texts) {
        if (natural_compare(b, c) < 0) REQUIRE(natural_compare(a, c) < 0);
      }
    }
  }
}

TEST_CASE("many texts are put into the order that comparing each pair gives") {
  std::mt19937 random(11);  // NOLINT: the same texts in each run
  // What all begin with, and what each goes on with.
  for (const char* start : {"", "w-", "w-1", "w-00", "rack1node"}) {
    for (const auto& [bytes, count] :
         {std::pair("0123456789", 400), {"0012a-", 400}, {"09:/", 400}, {"0012a-", 60}}) {
      std::vector<std::string> texts;
      for (int i = 0; i < count; ++i) {
        std::string text = start;
        for (unsigned length = random() % (i % 2 == 0 ? 30 : 5); length > 0; --length)
          text += bytes[random() % std::string_view(bytes).size()];
        texts.push_back(text);
        if (i % 7 == 0) texts.push_back(text);
      }
      std::vector<uint32_t> expected(texts.size());
      for (uint32_t i = 0; i < expected.size(); ++i) expected[i] = i;
      std::stable_sort(expected.begin(), expected.end(), [&](uint32_t a, uint32_t b) {
        return natural_compare(texts[a], texts[b]) < 0;
      });
      REQUIRE(natural_order({texts.begin(), texts.end()}) == expected);
    }
  }
  CHECK(natural_order({}).empty());
  CHECK(natural_order({"w-10", "w-2"}) == std::vector<uint32_t>{1, 0});
}

}  // namespace
}  // namespace muster
