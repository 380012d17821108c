// The kubernetes backend's watch: its events as they arrive, in pieces of every size.
#include <doctest/doctest.h>

#include "plugins/kubernetes/events.h"

namespace {

using namespace muster::kubernetes;

const Wanted kWanted = {{"example.com/port"}, true};

std::string pod(const char* name, const char* version, const char* more = "") {
  return std::string(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")") + name +
         R"(","namespace":"ml","resourceVersion":")" + version +
         R"(","annotations":{"example.com/port":"7001"}},"status":{"phase":"Running","podIP":"10.8.0.1")" +
         more + "}}";
}
std::string event(const char* type, const std::string& object) {
  return std::string(R"({"type":")") + type + R"(","object":)" + object + "}\n";
}

// "changed ml/w-0 5", one a line; or what is wrong.
std::string told(std::string_view body, size_t step, size_t line_maximum = 1 << 20) {
  EventReader reader(kWanted, line_maximum);
  PodList texts;
  std::string out;
  for (size_t at = 0; at < body.size(); at += step) {
    const auto events = reader.take(body.substr(at, step), texts);
    if (!events) {
      CHECK(events.failure().code == MUSTER_E_DATA_LOSS);
      return events.failure().message;
    }
    for (const Event& event : *events) {
      static constexpr const char* kNames[] = {"changed", "deleted", "bookmark", "error"};
      out += kNames[static_cast<int>(event.kind)];
      if (event.kind == Event::Kind::kError)
        out += " " + std::to_string(event.code) + " " + event.status.reason + ": " +
               event.status.message;
      if (!event.pod.name.empty())
        out += " " + full_name(event.pod) + " " + event.pod.annotations[0].string() + " " +
               event.pod.ip.string();
      out += " " + event.version + "\n";
    }
  }
  if (!reader.between_events()) out += "and a part";
  return out;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("events are read in any pieces, each as soon as its line is whole") {
  const std::string body =
      event("ADDED", pod("w-0", "5")) +
      event(
          "BOOKMARK",
          R"({"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"6","creationTimestamp":null},"spec":{"containers":null},"status":{}})") +
      "\n" + event("MODIFIED", pod("w-0", "7")) + event("DELETED", pod("w-1", "8")) +
      event(
          "ERROR",
          R"({"kind":"Status","status":"Failure","message":"too old","reason":"Expired","code":410})");
  const std::string wanted =
      "changed ml/w-0 7001 10.8.0.1 5\nbookmark 6\nchanged ml/w-0 7001 10.8.0.1 7\n"
      "deleted ml/w-1 7001 10.8.0.1 8\nerror 410 Expired: too old \n";
  for (size_t step = 1; step < 100; ++step) CHECK(told(body, step) == wanted);
  CHECK(told(body, body.size()) == wanted);
  const std::string first = event("ADDED", pod("w-0", "5"));
  CHECK(told(first.substr(0, first.size() - 1), 9) == "and a part");
}

TEST_CASE("the type counts wherever it stands") {
  CHECK(told("{\"object\":" + pod("w-0", "5") + ",\"type\":\"DELETED\"}\n", 30) ==
        "deleted ml/w-0 7001 10.8.0.1 5\n");
}

TEST_CASE("what is no event of pods is DATA_LOSS with a reason") {
  CHECK(has(told("<html>\n", 3), "cannot be understood"));
  CHECK(has(told("{}\n", 3), "its type is ''"));
  CHECK(has(told(event("CHANGED", pod("w-0", "5")), 50), "its type is 'CHANGED'"));
  CHECK(has(told("{\"type\":\"ADDED\"}\n", 50), "no 'object'"));
  const std::string one = "\"object\":" + pod("w-0", "5");
  CHECK(has(told(R"({"type":"ADDED","type":"DELETED",)" + one + "}\n", 50),
            ": type stands there twice"));
  CHECK(has(told(R"({"type":"ADDED",)" + one + "," + one + "}\n", 50),
            ": object stands there twice"));
  CHECK(has(told(event("ADDED", pod("w-0", "")), 50), "no resourceVersion"));
  CHECK(has(told(event("BOOKMARK", "{}"), 50), "no resourceVersion"));
  CHECK(has(told(event("ADDED", pod("", "5")), 50), "a pod has no name"));
  CHECK(has(told(event("ADDED", pod("w-0", "5", R"(,"hostIP":3)")), 50), "bytes)"));
  CHECK(has(told("{\"type\":\"BOOKMARK\",\"object\":" + pod("w-0", "5") + "} x\n", 50), "follows"));
}

TEST_CASE("a line that does not end is not kept for ever") {
  const std::string body = event("ADDED", pod("w-0", "5"));
  CHECK(has(told(body, 20, 100), "longer than 100 bytes"));
  CHECK(has(told(body, body.size(), 100), "longer than 100 bytes"));
  CHECK(told(body + body, 20, body.size()) ==
        "changed ml/w-0 7001 10.8.0.1 5\nchanged ml/w-0 7001 10.8.0.1 5\n");
}

TEST_CASE("an object that is no pod is kept as it is written, with its name and version") {
  const std::string job =
      R"({"kind":"Job","metadata":{"labels":{"name":"no"},"name":"train","resourceVersion":"7"},"spec":{"note":"}\"]"}})";
  const std::string body = event("MODIFIED", job) + event("DELETED", job) +
                           event("BOOKMARK", R"({"metadata":{"resourceVersion":"8"}})");
  for (const size_t step : {size_t{1}, size_t{7}, body.size()}) {
    EventReader reader;
    PodList texts;
    std::vector<Event> all;
    for (size_t at = 0; at < body.size(); at += step) {
      auto events = reader.take(std::string_view(body).substr(at, step), texts);
      REQUIRE(events);
      for (Event& one : *events) all.push_back(std::move(one));
    }
    REQUIRE(all.size() == 3);
    CHECK(all[0].kind == Event::Kind::kChanged);
    CHECK(all[1].kind == Event::Kind::kDeleted);
    CHECK(all[0].json == job);
    CHECK(all[0].name == "train");
    CHECK(all[0].version == "7");
    CHECK(all[2].kind == Event::Kind::kBookmark);
    CHECK(all[2].version == "8");
  }
}

TEST_CASE("an object without a name or a version is no event") {
  for (const char* object : {R"({"metadata":{"resourceVersion":"7"}})",
                             R"({"metadata":{"name":"train"}})", R"({})", "7"}) {
    EventReader reader;
    PodList texts;
    const auto events = reader.take(event("ADDED", object), texts);
    REQUIRE_FALSE(events);
    CHECK(events.failure().code == MUSTER_E_DATA_LOSS);
  }
}
