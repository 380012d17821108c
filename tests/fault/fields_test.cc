// Each document of each backend's protocols, wrong at each place: the whole cluster, or a failure, or an answer that says what it lacks;
// never fewer members that look whole.
#include <stdlib.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/fault/protocol.h"

using namespace fault;
using fake::Answer;
using fake::Response;

namespace {

int64_t wanted_cases() {
  const char* more = getenv("MUSTER_FAULT_CASES");
  return more == nullptr ? 400 : atoll(more);
}

// .ci/run --long has the time to look into each element.
bool is_long() { return getenv("MUSTER_TEST_LONG") != nullptr; }

// 70,000 is a port that is none; as a number of members it is a right one, which takes its time.
bool is_count(const std::string& place) {
  for (const char* end : {"/replicas", "/size", "/parallelism", "/completions"})
    if (place.ends_with(end)) return true;
  return false;
}

// A sanitizer's build takes one of so many.
int64_t every() {
  static const char* const given = getenv("MUSTER_FAULT_EVERY");
  return given == nullptr ? 1 : std::max<int64_t>(atoll(given), 1);
}

uint64_t seed() {
  const char* given = getenv("MUSTER_FAULT_SEED");
  if (given != nullptr) return strtoull(given, nullptr, 10);
  // The same cases everywhere, so that a change is judged by what it does; others where there is time to look for more.
  return getenv("MUSTER_TEST_LONG") == nullptr ? 1 : std::random_device{}();
}

}  // namespace

TEST_CASE("the right answers of each protocol make the whole cluster") {
  for (const Protocol& protocol : protocols()) {
    CAPTURE(protocol.name);
    const Answer answer = ask(protocol);
    REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
    CHECK_MESSAGE(is_whole(answer), answer.missing_text());
    CHECK_MESSAGE(members(protocol, answer) == protocol.members, answer.cluster());
  }
}

TEST_CASE("a field of another type, at any place of any document, makes no smaller cluster") {
  int64_t cases = 0, number = 0;
  for (const Protocol& protocol : protocols()) {
    for (size_t n = 0; n < protocol.said.size(); ++n) {
      if (protocol.said[n].metadata) continue;
      for (size_t page = 0; page < protocol.said[n].pages.size(); ++page) {
        const std::string& json = protocol.said[n].pages[page];
        // Pages are alike too: what is in one is looked into in the last.
        const bool deep = is_long() || page + 1 == protocol.said[n].pages.size();
        for (const std::string& place : places(json, is_long()))
          for (const std::string& replacement : replacements()) {
            if (!deep && std::count(place.begin(), place.end(), '/') > 2) continue;
            const std::string changed = replaced(json, place, replacement);
            if (++number % every() != 0) continue;
            if (changed.empty() || (replacement == "70000" && is_count(place))) continue;
            CAPTURE(protocol.name);
            CAPTURE(protocol.said[n].path);
            CAPTURE(page);
            CAPTURE(place);
            CAPTURE(replacement.substr(0, 60));
            const Answer answer = ask(protocol, [&](size_t said, size_t of, Response& response) {
              if (said == n && of == page) response.body = changed;
            });
            check(protocol, answer, [&] {
              return says_another(protocol, protocol.said[n].path, json, place, replacement);
            });
            ++cases;
          }
      }
    }
  }
  MESSAGE(cases << " documents");
  CHECK(cases > 1000 / every());
}

TEST_CASE("an answer that is cut at any byte makes no smaller cluster") {
  for (const Protocol& protocol : protocols()) {
    for (size_t n = 0; n < protocol.said.size(); ++n) {
      const bool metadata = protocol.said[n].metadata;
      for (size_t page = 0; page < protocol.said[n].pages.size(); ++page) {
        const std::string& whole = protocol.said[n].pages[page];
        for (size_t size = 0; size < whole.size(); size += metadata ? 1 : 7) {
          CAPTURE(protocol.name);
          CAPTURE(protocol.said[n].path);
          CAPTURE(size);
          check(protocol, ask(protocol, [&](size_t said, size_t of, Response& response) {
                  if (said != n || of != page) return;
                  response.body.resize(size);
                  response.unframed = metadata;
                }));
        }
      }
    }
  }
}

TEST_CASE("no status but 200 makes a cluster, and each has a code that says what to do") {
  for (const Protocol& protocol : protocols())
    for (size_t n = 0; n < protocol.said.size(); ++n)
      for (size_t page = 0; page < protocol.said[n].pages.size(); ++page)
        for (int64_t status = 201; status <= 599; ++status) {
          CAPTURE(protocol.name);
          CAPTURE(protocol.said[n].path);
          CAPTURE(status);
          check(protocol, ask(protocol, [&](size_t said, size_t of, Response& response) {
                  if (said == n && of == page) response.status = status;
                }));
        }
}

TEST_CASE("what a seed makes of the documents makes no smaller cluster") {
  const uint64_t start = seed();
  MESSAGE("seed " << start << ", " << wanted_cases() << " cases");
  std::vector<Protocol> all = protocols();
  std::erase_if(all, [](const Protocol& one) { return one.said.front().metadata; });
  for (int64_t number = 0; number < wanted_cases(); ++number) {
    // Each case by itself, so that one is repeated without those before it.
    std::mt19937_64 random(start + static_cast<uint64_t>(number));
    const auto below = [&](size_t size) { return static_cast<size_t>(random() % size); };
    const Protocol& protocol = all[below(all.size())];
    std::map<std::pair<size_t, size_t>, std::string> bodies;
    bool another = false;
    std::string changes;
    for (size_t left = 1 + below(3); left > 0; --left) {
      const size_t n = below(protocol.said.size());
      const size_t page = below(protocol.said[n].pages.size());
      auto& body = bodies[{n, page}];
      if (body.empty()) body = protocol.said[n].pages[page];
      rapidjson::Document document;
      if (document.Parse(body.c_str()).HasParseError()) continue;
      const std::vector<std::string> all_places = places(body, true);
      if (all_places.empty()) continue;
      const std::string& place = all_places[below(all_places.size())];
      const std::string& replacement = replacements()[below(replacements().size())];
      const std::string changed = replaced(body, place, replacement);
      if (changed.empty()) continue;
      another = another || (replacement == "70000" && is_count(place)) ||
                says_another(protocol, protocol.said[n].path, body, place, replacement);
      changes += protocol.said[n].path + " " + place + " = " + replacement.substr(0, 60) + "; ";
      body = changed;
    }
    CAPTURE(start + static_cast<uint64_t>(number));
    CAPTURE(protocol.name);
    CAPTURE(changes);
    check(protocol,
          ask(protocol,
              [&](size_t said, size_t of, Response& response) {
                const auto found = bodies.find({said, of});
                if (found != bodies.end()) response.body = found->second;
              }),
          [&] { return another; });
  }
}
