// The states of a stream, by a clock that nobody waits for: what is told after how long, and how often the server is asked.
#include <doctest/doctest.h>

#include "tests/plugin/kubernetes/api.h"
#include "tests/plugin/support/fake_watch.h"

namespace {

using namespace fake;

constexpr const char* kSelector = R"({"job_to_label_mapping": {"worker": "app=t"}})";

std::string event(const char* type, const std::string& name, int version,
                  const std::string& ip = "10.8.0.9") {
  PodText pod{name, ip};
  pod.metadata = R"("resourceVersion": ")" + std::to_string(version) + "\"";
  return std::string(R"({"type":")") + type + R"(","object":)" + pod_json(pod) + "}\n";
}

std::string bookmark(int version) {
  return R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":")" +
         std::to_string(version) + "\"}}}\n";
}

const std::string kExpired =
    R"({"type":"ERROR","object":{"kind":"Status","message":"too old","reason":"Expired","code":410}})"
    "\n";

Response failing(int32_t code, const char* words) {
  Response response;
  response.code = code;
  response.message = words;
  return response;
}
Response reset() { return failing(MUSTER_E_UNAVAILABLE, "the connection was reset"); }
Response refused() { return failing(MUSTER_E_UNAVAILABLE, "connection refused"); }

StreamText open() { return {}; }
StreamText broken(double at_s) { return {{}, at_s, reset()}; }
StreamText ended(const std::string& body, double at_s = 0) { return {{{at_s, body}}, at_s, {}}; }

// A world with one pod, whose requests for a list take their time or fail from a time on.
struct Scene {
  Watched watched;
  World world = lab({{"app=t", {{"w-0", "10.8.0.1"}}}});

  explicit Scene(std::function<StreamText(const Request&)> stream, double until_s = 60) {
    watched.stream = std::move(stream);
    watched.until_s = until_s;
  }
  // Of streams that are not the same at each time: seconds since the watch began.
  explicit Scene(const std::function<StreamText(const Request&, double)>& stream, double until_s)
      : Scene([this, stream](const Request& request) { return stream(request, now_s()); },
              until_s) {}
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  double now_s() const { return watched.now_s() - 1; }
  // From `from_s` to `to_s` lists are answered so.
  Scene& lists(double from_s, double to_s, const Response& answer) {
    world.serve = [this, from_s, to_s, answer, before = world.serve](const Request& request) {
      const double now = now_s();
      return now >= from_s && now < to_s ? answer : before(request);
    };
    return *this;
  }
  Scene& run(const char* options = kSelector) {
    ask_watch("kubernetes", options, watched, world);
    return *this;
  }
  size_t count(std::string_view kind, std::string_view part = "", double from_s = 0) const {
    return watched.times(kind, part, from_s).size();
  }
  double first(std::string_view kind, std::string_view part = "", double from_s = 0) const {
    const auto times = watched.times(kind, part, from_s);
    return times.empty() ? 1e9 : times[0];
  }
};

Response blackhole() {
  Response response;
  response.takes_s = 1e6;
  return response;
}

}  // namespace

// ---- Quiet and healthy ----------------------------------------------------------------------

TEST_CASE("a quiet cluster whose load balancer resets idle streams is never a failure") {
  for (const double idle_s : {5.0, 20.0, 55.0}) {
    CAPTURE(idle_s);
    Scene scene([&](const Request&) { return broken(idle_s); }, 3600);
    scene.run();
    CHECK(scene.count("failure") == 0);
    CHECK(scene.count("answer") >= 1);
    // A list each 90 s shows that the source is there, for no stream says so.
    CHECK(scene.count("list") <= 42);
    CHECK(scene.count("watch") <= 3600 / idle_s + 45);
  }
}

TEST_CASE("streams that the server ends without an event, each after a while, are healthy") {
  Scene scene([](const Request&) { return ended("", 240); }, 3600);
  scene.world.variables["unused"] = "";
  scene.run(R"({"job_to_label_mapping": {"worker": "app=t"}, "watch_silence": 300})");
  CHECK(scene.count("failure") == 0);
  CHECK(scene.count("list") == 1);
}

TEST_CASE("a stream that broke after a bookmark is healthy, however short it was") {
  int version = 884210;
  Scene scene(
      [&](const Request&) -> StreamText {
        return {{{0.2, bookmark(++version)}}, 0.3, reset()};
      },
      300);
  scene.run();
  CHECK(scene.count("failure") == 0);
  CHECK(scene.count("list") == 1);
  CHECK(scene.count("watch") <= 601);
}

TEST_CASE("a quiet stream is a word on progress after 30 s, and is listed again after 90 s") {
  Scene scene([](const Request&) { return open(); }, 200);
  scene.run();
  CHECK(scene.first("progress", "has said nothing for 30 s") == doctest::Approx(30).epsilon(0.01));
  const auto lists = scene.watched.times("list");
  REQUIRE(lists.size() == 3);
  CHECK(lists[1] == doctest::Approx(90.3).epsilon(0.01));
  CHECK(scene.count("failure") == 0);
}

// ---- Forgotten versions ---------------------------------------------------------------------

TEST_CASE("after 410 the pauses do not grow where events came between") {
  int version = 900000;
  Scene scene(
      [&](const Request&) -> StreamText {
        return {{{2, event("MODIFIED", "w-0", ++version)}, {3, kExpired}}};
      },
      120);
  scene.run();
  CHECK(scene.count("failure") == 0);
  const auto lists = scene.watched.times("list");
  REQUIRE(lists.size() > 30);
  for (size_t n = 1; n < lists.size(); ++n) CHECK(lists[n] - lists[n - 1] < 4.1);
}

TEST_CASE("a server that forgets each version at once is asked less and less, and that is told") {
  Scene scene([](const Request&) { return ended(kExpired); }, 60);
  scene.run();
  CHECK(scene.first("failure", "forgets each version") < 5);
  CHECK(scene.count("list") < 40);
}

// ---- What is no stream of events ------------------------------------------------------------

TEST_CASE("an answer that is no events is told at once as DATA_LOSS") {
  const std::string data_loss = std::to_string(MUSTER_E_DATA_LOSS) + " ";
  for (const std::string body :
       {"<html>login</html>", "<html>\n", R"({"kind":"PodList","items":[]})",
        R"({"kind":"Status","code":200})", "[]", "null", "k8s", "OK"}) {
    CAPTURE(body);
    Scene scene([&](const Request&) { return ended(body); }, 60);
    scene.run();
    REQUIRE(scene.count("failure") >= 1);
    CHECK(scene.first("failure", "cannot be understood") < 0.1);
    CHECK(scene.watched.last("failure").rfind(data_loss, 0) == 0);
    CHECK(scene.watched.requests < 40);
  }
}

TEST_CASE(
    "streams of one event that is known, and an end, are asked for with pauses, and that is told") {
  Scene scene([](const Request&) { return ended(event("MODIFIED", "w-0", 999)); }, 60);
  scene.run();
  CHECK(scene.first("failure", "end at once, without anything new") < 6);
  CHECK(scene.watched.requests < 100);
}

TEST_CASE("streams of one new event and an end are followed, with a pause after each") {
  int version = 999000;
  Scene scene([&](const Request&) { return ended(event("MODIFIED", "w-0", ++version)); }, 60);
  scene.run();
  CHECK(scene.count("failure") == 0);
  CHECK(scene.watched.requests <= 122);
}

TEST_CASE("where streams end at once and nothing was ever streamed the core is told to poll") {
  Scene scene([](const Request&) { return ended(""); }, 20);
  scene.run();
  CHECK(scene.watched.last("failure").rfind(std::to_string(MUSTER_E_UNIMPLEMENTED), 0) == 0);
}

TEST_CASE("empty pages without an end are told, and not asked for without one") {
  Scene scene([](const Request&) { return open(); }, 30);
  int page = 0;
  scene.world.serve = [&](const Request&) {
    Response response;
    response.body = list_json({}, "token-" + std::to_string(++page));
    return response;
  };
  scene.run();
  CHECK(scene.first("failure", "does not go on") < 1);
  CHECK(scene.watched.last("failure").rfind(std::to_string(MUSTER_E_DATA_LOSS), 0) == 0);
  CHECK(scene.watched.requests < 100);
}

// ---- Failing --------------------------------------------------------------------------------

TEST_CASE("an API server that is away for two seconds is no failure and no list") {
  Scene scene(
      [&](const Request&, double now) -> StreamText {
        if (now < 10) return {{}, 10 - now, reset()};
        return now < 11 ? StreamText{{}, 0, refused()} : open();
      },
      13);
  scene.run();
  CHECK(scene.count("failure") == 0);
  CHECK(scene.count("list") == 1);
}

TEST_CASE(
    "refused connections are told within five seconds, and one list follows when the server is "
    "back") {
  Scene scene(
      [&](const Request&, double now) -> StreamText {
        if (now < 10) return {{}, 10 - now, reset()};
        return now < 40 ? StreamText{{}, 0, refused()} : open();
      },
      100);
  scene.lists(10, 40, refused()).run();
  CHECK(scene.first("failure", "connection refused") < 15);
  CHECK(scene.first("progress", "connection refused") < 11.1);
  CHECK(scene.count("answer") == 2);
  CHECK(scene.first("answer", "", 10) < 49);
  // One that succeeds.
  CHECK(scene.count("watch", "", 40) == 1);
}

TEST_CASE("a server that becomes a blackhole when its streams break is told within 15 s") {
  Scene scene(
      [&](const Request&, double now) {
        return now < 10     ? StreamText{{}, 10 - now, reset()}
               : now < 10.5 ? StreamText{{}, 0, reset()}
                            : open();
      },
      100);
  scene.lists(5, 100, blackhole()).run();
  CHECK(scene.first("failure") < 25);
}

TEST_CASE("a server that is a blackhole from the beginning is told within 10 s") {
  Scene scene([](const Request&) { return open(); }, 60);
  scene.lists(0, 100, blackhole()).run();
  CHECK(scene.first("failure") == doctest::Approx(10).epsilon(0.01));
  CHECK(scene.first("progress") < 1);
}

TEST_CASE("a blackhole behind a silent stream is told 10 s after the silence became too long") {
  Scene scene([](const Request&) { return open(); }, 200);
  scene.lists(5, 200, blackhole()).run();
  CHECK(scene.first("progress", "has said nothing") < 31);
  CHECK(scene.first("failure") < 101);
}

TEST_CASE("streams that are refused with 503 are told after the third, whatever lists say") {
  Scene scene(
      [](const Request&) -> StreamText {
        return {{}, 0, status_json(503, "x", "away")};
      },
      30);
  scene.run();
  CHECK(scene.first("failure", "503") < 4);
  CHECK(scene.count("watch", "", 0) < 40);
}

TEST_CASE("a server that asks for a long wait is told at once, and is not asked before") {
  Scene scene(
      [](const Request&) -> StreamText {
        Response busy = status_json(429, "TooManyRequests", "busy");
        busy.headers["Retry-After"] = "30";
        return {{}, 0, busy};
      },
      29);
  scene.run();
  CHECK(scene.count("failure") == 1);
  CHECK(scene.count("list") == 1);
  CHECK(scene.count("watch") == 1);
  CHECK(scene.count("progress", "asked to wait") == 1);
}

// ---- Gone -----------------------------------------------------------------------------------

namespace {

std::string job_json(int version) {
  return R"({"kind": "Job", "metadata": {"name": "train", "uid": "u1", "resourceVersion": ")" +
         std::to_string(version) +
         R"("}, "spec": {"completionMode": "Indexed", "completions": 1, "parallelism": 1, "selector": {"matchLabels": {"job-name": "train"}}}})";
}

PodText job_pod() {
  return {"train-0",
          "10.8.0.1",
          "Running",
          {{"batch.kubernetes.io/controller-uid", "u1"}, {kIndex, "0"}},
          owned_by("Job", "train", "u1")};
}

}  // namespace

TEST_CASE("an object that is not there is told, and its creation is an event") {
  Scene scene(
      [&](const Request& request, double now) -> StreamText {
        if (request.url.find("fieldSelector=metadata.name%3Dtrain") == std::string::npos)
          return open();
        return {{{100 - now, R"({"type":"ADDED","object":)" + job_json(7) + "}\n"}}};
      },
      110);
  const auto there = lab({{"job-name=train", {job_pod()}}},
                         {{"/apis/batch/v1/namespaces/default/jobs/train", job_json(7)}});
  const auto gone = lab({{"job-name=train", {job_pod()}}});
  scene.world.serve = [&](const Request& request) {
    return scene.now_s() < 99.9 ? gone.serve(request) : there.serve(request);
  };
  scene.run(R"({"job": "train", "watch_silence": 300})");
  CHECK(scene.first("failure", "there is no Job") < 0.1);
  CHECK(scene.count("failure") == 1);
  CHECK(scene.first("progress", "is not there yet") < 3);
  CHECK(scene.first("answer", "10.8.0.1") < 100.2);
  CHECK(scene.count("get") == 2);
}

TEST_CASE("no pod of a selector is told, and the first one is an event") {
  Scene scene(
      [&](const Request&, double now) -> StreamText {
        return {{{50 - now, event("ADDED", "w-9", 884300)}}};
      },
      60);
  scene.world = lab({});
  scene.run();
  CHECK(scene.first("failure", "no pod") < 0.1);
  CHECK(scene.count("failure") == 1);
  CHECK(scene.first("answer", "10.8.0.9") < 50.2);
  CHECK(scene.count("list") == 2);
}

TEST_CASE("what is not there is told again after five minutes") {
  Scene scene([](const Request&) { return open(); }, 700);
  scene.world = lab({});
  scene.run(R"({"job": "train"})");
  const auto failures = scene.watched.times("failure", "there is no Job");
  REQUIRE(failures.size() == 3);
  CHECK(failures[1] == doctest::Approx(301).epsilon(0.01));
  CHECK(failures[2] == doctest::Approx(602).epsilon(0.01));
}

TEST_CASE("an object that is deleted is told, and the next of its name is an event") {
  Scene scene(
      [&](const Request& request, double now) -> StreamText {
        if (request.url.find("fieldSelector=metadata.name%3Dtrain") == std::string::npos)
          return open();
        const std::string line = R"("object":)" + job_json(now < 20 ? 8 : 9) + "}\n";
        if (now < 20) return {{{20 - now, R"({"type":"DELETED",)" + line}}};
        return {{{40 - now, R"({"type":"ADDED",)" + line}}};
      },
      60);
  const auto there = lab({{"job-name=train", {job_pod()}}},
                         {{"/apis/batch/v1/namespaces/default/jobs/train", job_json(7)}});
  const auto gone = lab({{"job-name=train", {job_pod()}}});
  scene.world.serve = [&](const Request& request) {
    const double now = scene.now_s();
    return now > 19.9 && now < 39.9 ? gone.serve(request) : there.serve(request);
  };
  scene.run(R"({"job": "train"})");
  CHECK(scene.count("failure") == 1);
  CHECK(scene.first("failure", "there is no Job") < 20.1);
  CHECK(scene.first("answer", "10.8.0.1", 30) < 40.2);
}

TEST_CASE(
    "objects that the cluster does not know are looked for each five seconds at most, and not "
    "more") {
  Scene scene(
      [](const Request&) -> StreamText {
        return {{},
                0,
                status_json(404, "NotFound", "the server could not find the requested resource")};
      },
      120);
  scene.world = lab({});
  scene.run(R"({"jobset": "train"})");
  CHECK(scene.count("failure") == 1);
  const auto gets = scene.watched.times("get");
  REQUIRE(gets.size() > 20);
  CHECK(gets.size() < 60);
  for (size_t n = 1; n < gets.size(); ++n) CHECK(gets[n] - gets[n - 1] < 5.1);
}
