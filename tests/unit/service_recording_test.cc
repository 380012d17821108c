// Recording a resolve, and replaying it.
#include <unistd.h>

#include <doctest/doctest.h>

#include <chrono>

#include <random>

#include "core/service/recording.h"
#include "core/service/recording_text.h"
#include "service_world.h"

using namespace muster;
using namespace muster::testing;

namespace {

const muster_environment_v1* environment() {
  return World::service<muster_environment_v1>(MUSTER_ENVIRONMENT_V1);
}
const muster_clock_v1* clock_service() { return World::service<muster_clock_v1>(MUSTER_CLOCK_V1); }

// What a plugin might do in one resolve, told as text.
std::string story(World& world, const std::string& file) {
  std::string told = std::to_string(clock_service()->realtime_ns(world.call())) + "\n";
  const char* text = nullptr;
  uint64_t size = 0;
  muster_error error;
  for (const char* name : {"MUSTER_TEST_SET", "MUSTER_TEST_UNSET"}) {
    const int32_t code = environment()->get_variable(world.call(), name, &text, &size);
    told += code == MUSTER_OK ? std::string(text, size) + "\n" : "unset\n";
  }
  const int32_t named = environment()->get_hostname(world.call(), &text, &size);
  told += named == MUSTER_OK ? std::string(text, size) + "\n" : "no name\n";
  for (const std::string& path : {file, file + ".none"}) {
    const int32_t code =
        environment()->read_file(world.call(), path.c_str(), 4096, 0, &text, &size, &error);
    told += code == MUSTER_OK ? std::string(text, size)
                              : std::to_string(code) + error.error.message + "\n";
  }
  const auto tell = [&](Get& get) {
    get.send(world);
    told += std::to_string(get.code) + " " + std::to_string(get.response.status) + " " +
            get.text() + get.streamed + " " + get.error.error.message + " " +
            get.error.error.detail("hint") + "\n";
    for (uint64_t i = 0; i < get.response.header_count; ++i)
      told += std::string(get.response.headers[i].value) + "\n";
  };
  Get page("http://api.test/pods");
  tell(page);
  Get again("http://api.test/pods");
  tell(again);
  Get broken("http://api.test/broken", "POST");
  tell(broken.body("{\"a\":1}"));
  Get streamed("http://api.test/stream");
  tell(streamed.stream());
  const std::vector<RequestRecord> records = world.inside().requests();
  for (const RequestRecord& record : records) {
    told += record.method + record.url + std::to_string(record.status) + record.error +
            std::to_string(record.milliseconds) + "ms " + std::to_string(record.bytes) + "#" +
            std::to_string(record.attempt) + "\n";
  }
  told += std::to_string(world.session().milliseconds("cluster", told.size() % 7)) + "\n";
  return told;
}

std::vector<Answer> script() {
  return {Answer::of(200, {{"Content-Type", "application/json"}},
                     "{\"items\":[{\"n\":\"a b\"},{}],\"x\":[]}\n"),
          Answer::of(503, {{"Retry-After", "0"}}, "busy\n\nvery\n"),
          Answer::of(200, {}, std::string("\xff\x00\x01 bytes", 9)), Answer::broken(),
          Answer::of(200, {}, "streamed in pieces")};
}

std::string recorded(const RecordedResolvers& resolvers) {
  return write_recording(resolvers, Secrets());
}

// The message of what is wrong with a recording, or "".
std::string wrong(const std::string& text) {
  const Result<RecordedResolvers> read = read_recording(text, "r.yaml");
  return read ? "" : read.error().message;
}

}  // namespace

TEST_CASE(
    "a replay tells the same story byte for byte, without network, environment, files and "
    "waiting") {
  const Folder folder;
  const std::string file = folder.write("roster", "worker-0\n  worker-1: x\n\n");
  const std::string recording = folder.path("recording.yaml");
  std::string first;
  {
    const Variable variable("MUSTER_TEST_SET", "some \"value\"\n");
    FakeTransport transport(script());
    auto session = Session::record(nullptr, std::make_shared<Secrets>());
    World world(session, transport.library());
    first = story(world, file);
    REQUIRE(session->write(recording).ok());
  }
  std::filesystem::remove(file);
  const Result<std::shared_ptr<Session>> session =
      Session::replay(recording, nullptr, std::make_shared<Secrets>());
  REQUIRE_MESSAGE(session.ok(), session.error().message);
  World world(*session, nullptr);
  CHECK(story(world, file) == first);
  CHECK(contains(first, "streamed in pieces"));
  CHECK(contains(first, "busy") == false);  // it was tried again
}

TEST_CASE("the host's name is this machine's, and in a replay that of the machine that recorded") {
  const auto hostname = [](const std::shared_ptr<Session>& session) {
    World world(session, nullptr);
    const char* name = nullptr;
    uint64_t size = 0;
    const int32_t code = environment()->get_hostname(world.call(), &name, &size);
    if (code != MUSTER_OK) return std::to_string(code);
    CHECK(name[size] == '\0');
    return std::string(name, size);
  };
  char own[257] = {};
  REQUIRE(::gethostname(own, sizeof own - 1) == 0);
  CHECK(hostname(Session::live(nullptr, nullptr)) == own);
  auto recording = Session::record(nullptr, nullptr);
  CHECK(hostname(recording) == own);
  CHECK(contains(recording->recording()->text(Secrets()), "hostname: \"" + std::string(own)));

  const Folder folder;
  const auto replay = [&](const std::string& more) {
    return *Session::replay(
        folder.write("r.yaml", "muster_recording: 1\nresolvers:\n- path: \"cluster\"\n" + more),
        nullptr, nullptr);
  };
  CHECK(hostname(replay("  hostname: \"worker-7\"\n")) == "worker-7");
  CHECK(hostname(replay("")) == std::to_string(MUSTER_E_NOT_FOUND));
}

TEST_CASE(
    "who plays the servers himself has the rest replayed; what was not recorded is not there") {
  const Variable variable("MUSTER_TEST_SET", "of this process");
  RecordedResolver recorded;
  recorded.times = {1'000'000'000};
  recorded.variables = {{"MUSTER_TEST_SET", "of the recording"}};
  recorded.files = {{"/roster", "worker-0", std::nullopt}};
  FakeTransport transport(
      {Answer::of(503, {{"Retry-After", "3"}}, "busy"), Answer::of(200, {}, "played")});
  World world(Session::replay_but_exchanges(
                  std::make_unique<Recording>(RecordedResolvers{{"cluster", recorded}}), nullptr,
                  std::make_shared<Secrets>()),
              transport.library());
  const char* text = nullptr;
  uint64_t size = 0;
  REQUIRE(environment()->get_variable(world.call(), "MUSTER_TEST_SET", &text, &size) == MUSTER_OK);
  CHECK(std::string(text, size) == "of the recording");
  REQUIRE(environment()->read_file(world.call(), "/roster", 99, 0, &text, &size, nullptr) ==
          MUSTER_OK);
  CHECK(std::string(text, size) == "worker-0");
  muster_error error;
  CHECK(environment()->read_file(world.call(), "/etc/passwd", 9999, 0, &text, &size, &error) ==
        MUSTER_E_NOT_FOUND);
  CHECK(error.error.message == "'/etc/passwd' does not exist");

  // Retried as over a network, and no time passes.
  const int64_t before = monotonic_ns();
  Get get("http://api.test/pods");
  get.send(world);
  CHECK(get.text() == "played");
  CHECK(transport.seen.size() == 2);
  CHECK(monotonic_ns() - before < kSecond);
  CHECK(clock_service()->monotonic_ns(world.call()) - monotonic_ns() > 2 * kSecond);
}

TEST_CASE("a recording is readable: one item a block, JSON laid out, in the order of asking") {
  RecordedResolvers resolvers;
  resolvers[""].times = {1'769'860'800'123'000'000};
  RecordedResolver& resolver = resolvers["cluster.merge[0]"];
  resolver.milliseconds = 12;
  resolver.variables = {{"KUBECONFIG", std::nullopt}, {"HOME", "/root"}};
  resolver.files = {
      {"~/.kube/config", "a: 1\nb: 2\n", std::nullopt},
      {"/none", "", Error{Code::kNotFound, "'/none' does not exist", {{"hint", "make it"}}}}};
  RecordedExchange exchange;
  exchange.method = "GET";
  exchange.url = "https://10.0.0.1/pods?limit=2";
  exchange.headers = {{"Accept", "application/json"}};
  exchange.milliseconds = 3;
  exchange.status = 200;
  exchange.response_headers = {{"Content-Type", "application/json"}};
  exchange.response_body = R"({"items":[{"name":"a"}]})";
  exchange.bytes = exchange.response_body.size();
  resolver.exchanges = {exchange};
  CHECK(
      recorded(resolvers) ==
      R"(# What one resolve asked of its surroundings, and what it was answered: muster resolve --replay
# gives the same answer from it. Secrets read REDACTED. The format: recording.md of muster's SDK.
muster_recording: 1
resolvers:

  - path: ""
    times:
      - "2026-01-31T12:00:00.123000000Z"

  - path: "cluster.merge[0]"
    milliseconds: 12
    variables:
      HOME: "/root"
      KUBECONFIG: null
    files:
      - file: "~/.kube/config"
        content: |
          a: 1
          b: 2
      - file: "/none"
        error: NOT_FOUND
        message: "'/none' does not exist"
        details:
          - hint: "make it"
    requests:
      - method: "GET"
        url: "https://10.0.0.1/pods?limit=2"
        headers:
          - Accept: "application/json"
        milliseconds: 3
        status: 200
        response_headers:
          - Content-Type: "application/json"
        response:
          json: |-
            {
             "items": [
              {
               "name": "a"
              }
             ]
            }
)");
}

TEST_CASE("a recording has no secret in it, has mode 0600, and is there whole or not at all") {
  const Folder folder;
  auto secrets = std::make_shared<Secrets>();
  auto session = Session::record(nullptr, secrets);
  FakeTransport transport(
      {Answer::of(200, {{"Set-Cookie", "sid=topsecret"}}, "{\"access_token\":\"topsecret-1\"}"),
       Answer::of(200, {}, "you are hunter22")});
  World world(session, transport.library());
  Get token("https://h/token", "POST");
  token.flags(MUSTER_HTTP_SECRET_BODY).body("assertion=topsecret-2").send(world);
  Get use("https://h/use?access_token=topsecret-3&q=hunter22");
  use.header("Authorization", "Bearer topsecret-4").send(world);
  const std::string secret_file = folder.write("key", "topsecret-5\n");
  REQUIRE(session->read_file("cluster", secret_file, 100, true).ok());
  secrets->add("hunter22");  // learned after it was used

  const std::string path = folder.write("recording.yaml", "old");
  chmod(path.c_str(), 0644);
  REQUIRE(session->write(path).ok());
  const std::string text = read_whole(path);
  CAPTURE(text);
  CHECK_FALSE(contains(text, "topsecret"));
  CHECK_FALSE(contains(text, "hunter22"));
  CHECK(contains(text, "response: \"REDACTED\""));
  CHECK(contains(text, "you are REDACTED"));
  struct stat info {};
  REQUIRE(stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 07777) == 0600);

  // Not NOT_FOUND: that is a cluster that is not there.
  CHECK(session->write(folder.path("none/recording.yaml")).error().code ==
        Code::kFailedPrecondition);
  // Not a real device: a core that is wrong here, run as root, would take its name away.
  REQUIRE(mkfifo(folder.path("pipe").c_str(), 0600) == 0);
  CHECK(session->write(folder.path("pipe")).error().code == Code::kFailedPrecondition);
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path("")))
    files += entry.exists() ? 1 : 0;
  CHECK(files == 3);  // no temporary one is left
  CHECK(Session::live(nullptr, nullptr)->write(path).error().code == Code::kInternal);

  auto replay = Session::replay(path, nullptr, std::make_shared<Secrets>());
  REQUIRE(replay.ok());
  World again(*replay, nullptr);
  Get other("https://h/token", "POST");
  CHECK(other.flags(MUSTER_HTTP_SECRET_BODY).body("assertion=of another day").send(again) ==
        MUSTER_OK);
  CHECK(other.text() == "REDACTED");
  CHECK((*replay)->read_file("cluster", secret_file, 100, true).value() == "REDACTED");
}

TEST_CASE("the retries of a replay are those of the recording, and cost no time") {
  const Folder folder;
  const std::string path = folder.path("r.yaml");
  {
    FakeTransport transport({Answer::of(503, {{"Retry-After", "1"}}),
                             Answer::of(503, {{"Retry-After", "100"}}, "late")});
    auto session = Session::record(nullptr, nullptr);
    World world(session, transport.library(), 10 * kSecond);
    Get get("http://h/");
    REQUIRE(get.send(world) == MUSTER_OK);
    REQUIRE(session->write(path).ok());
  }
  World world(*Session::replay(path, nullptr, nullptr), nullptr,
              1000 * kSecond);  // time enough for a third attempt
  const int64_t start = monotonic_ns();
  Get get("http://h/");
  CHECK(get.send(world) == MUSTER_OK);
  CHECK(get.text() == "late");
  CHECK(world.inside().requests().size() == 2);
  CHECK(clock_service()->sleep_ns(world.call(), 500 * kSecond) == MUSTER_OK);
  CHECK(clock_service()->monotonic_ns(world.call()) - start > 500 * kSecond);
  CHECK(clock_service()->sleep_ns(world.call(), 600 * kSecond) == MUSTER_E_DEADLINE_EXCEEDED);
  CHECK(monotonic_ns() - start < kSecond);
}

TEST_CASE(
    "a request that is not in the recording is named with the nearest ones, and no chain goes on") {
  RecordedResolvers resolvers;
  for (const char* url : {"http://h/pods?limit=1", "http://other/x", "http://h/pods?limit=2",
                          "http://h/nodes", "http://h/pods?limit=2"}) {
    RecordedExchange exchange;
    exchange.method = "GET";
    exchange.url = url;
    exchange.status = 200;
    resolvers["cluster"].exchanges.push_back(exchange);
  }
  Recording recording(resolvers);
  const auto asked = recording.exchange("cluster", "GET", "http://h/pods?limit=3", "");
  REQUIRE_FALSE(asked.ok());
  CHECK(asked.error().code == Code::kInvalidArgument);
  CHECK(asked.error().message ==
        "GET http://h/pods?limit=3 is not in the recording for 'cluster'; the nearest recorded:\n  "
        "GET http://h/pods?limit=1\n"
        "  GET http://h/pods?limit=2\n  GET http://h/nodes");
  CHECK(recording.exchange("cluster", "GET", "http://h/nodes", "").ok());
  CHECK(contains(recording.exchange("cluster", "GET", "http://h/nodes", "").error().message,
                 "more often than the one time"));
  CHECK(contains(recording.exchange("cluster", "GET", "http://other/x", "body").error().message,
                 "with another body"));
  CHECK(contains(recording.exchange("elsewhere", "GET", "http://h/", "").error().message,
                 "has no request of 'elsewhere'"));
  CHECK(recording.file("cluster", "/x").error().code == Code::kInvalidArgument);
}

TEST_CASE("answers of one key come in their order, of each resolver its own") {
  RecordedResolvers resolvers;
  const auto add = [&](const std::string& path, const std::string& url, const std::string& body) {
    RecordedExchange exchange;
    exchange.method = "GET";
    exchange.url = url;
    exchange.status = 200;
    exchange.response_body = body;
    resolvers[path].exchanges.push_back(exchange);
  };
  add("a", "http://h/", "a1");
  add("a", "http://i/", "i1");
  add("a", "http://h/", "a2");
  add("b", "http://h/", "b1");
  Recording recording(resolvers);
  CHECK(recording.exchange("b", "GET", "http://h/", "")->response_body == "b1");
  CHECK(recording.exchange("a", "GET", "http://h/", "")->response_body == "a1");
  CHECK(recording.exchange("a", "GET", "http://h/", "")->response_body == "a2");
  CHECK(recording.exchange("a", "GET", "http://i/", "")->response_body == "i1");
}

TEST_CASE("any text comes back from a recording as it was") {
  std::mt19937 random(7);
  const std::vector<std::string> parts = {"a",
                                          " ",
                                          "  ",
                                          "\n",
                                          "\n\n",
                                          "\t",
                                          "\r",
                                          ":",
                                          ": ",
                                          "#",
                                          " #",
                                          "-",
                                          "- ",
                                          "|",
                                          "\"",
                                          "'",
                                          "\\",
                                          "{",
                                          "}",
                                          "[",
                                          "]",
                                          ",",
                                          "&x",
                                          "*x",
                                          "!t",
                                          "%",
                                          "---\n",
                                          "...\n",
                                          "?",
                                          "null",
                                          "~",
                                          "\xC2\x85",
                                          "\x1b",
                                          "\x7f",
                                          "\xE2\x80\xA8",
                                          "\xEF\xBB\xBF",
                                          "\xF0\x9F\x99\x82",
                                          "\xff",
                                          "é",
                                          "{\"a\":\"b\"}",
                                          "true"};
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (size_t i = random() % 12; i > 0; --i) text += parts[random() % parts.size()];
    if (round == 0) text = std::string("\0", 1);
    CAPTURE(text);
    RecordedResolvers resolvers;
    RecordedResolver& resolver = resolvers[round % 2 == 0 ? "" : "cluster"];
    resolver.variables["V"] = text;
    resolver.files = {{"f", text, std::nullopt}};
    RecordedExchange exchange;
    exchange.method = "POST";
    exchange.url = "http://h/";
    exchange.body = text;
    exchange.status = 200;
    exchange.response_body = "{" + text;
    exchange.bytes = exchange.response_body.size();
    resolver.exchanges = {exchange};
    const std::string written = recorded(resolvers);
    CAPTURE(written);
    const Result<RecordedResolvers> read = read_recording(written, "r");
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    const RecordedResolver& back = read->begin()->second;
    REQUIRE(back.variables.at("V") == text);
    REQUIRE(back.files.at(0).content == text);
    REQUIRE(back.exchanges.at(0).body == text);
    REQUIRE(back.exchanges.at(0).response_body == "{" + text);
    REQUIRE(recorded(*read) == written);
  }
}

TEST_CASE("a recording asks for text where the server is offered a choice") {
  const auto asked_for = [](const std::shared_ptr<Session>& session, const char* accept) {
    FakeTransport transport({Answer::of(200, {}, "{}")});
    World world(session, transport.library());
    Get get("http://h/");
    get.header("Accept", accept);
    CHECK(get.send(world) == MUSTER_OK);
    return transport.seen.at(0).headers.at("Accept");
  };
  const auto secrets = std::make_shared<Secrets>();
  const char* both = "application/vnd.kubernetes.protobuf,application/json";
  CHECK(asked_for(Session::live(nullptr, secrets), both) == both);
  CHECK(asked_for(Session::record(nullptr, secrets), both) == "application/json");
  CHECK(asked_for(Session::record(nullptr, secrets), "application/x-protobuf") ==
        "application/x-protobuf");
}

TEST_CASE("a body that is broken JSON comes back as it was") {
  for (const std::string body :
       {"{\"}\n", "[\"]\n", "{\"\\}\n", "{\"a\":\"}\n", "{}}", "[}\n", "{\"a\" :1}"}) {
    CAPTURE(body);
    RecordedExchange exchange;
    exchange.method = "GET";
    exchange.url = "http://h/";
    exchange.status = 200;
    exchange.response_body = body;
    RecordedResolvers resolvers;
    resolvers["cluster"].exchanges = {exchange};
    const Result<RecordedResolvers> read = read_recording(recorded(resolvers), "r");
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    CHECK(read->at("cluster").exchanges.at(0).response_body == body);
  }
}

TEST_CASE("what is wrong with a recording is told with its place") {
  CHECK(wrong("hello") ==
        "r.yaml:1:1: this is not a recording of muster: it has no 'muster_recording: 1'");
  CHECK(wrong("") ==
        "r.yaml:1:1: this is not a recording of muster: it has no 'muster_recording: 1'");
  CHECK(wrong("muster_recording: 2\nresolvers: []") ==
        "r.yaml:1:19: the recording has version '2'; this muster reads version 1");
  CHECK(wrong("muster_recording: 1\nresolvers: {}") == "r.yaml:2:12: 'resolvers' has to be a list");
  CHECK(wrong("muster_recording: 1\nresolvers:\n  - path: a\n    hose: 1\n") ==
        "r.yaml:4:5: the key 'hose' is not known here; known are path, milliseconds, times, "
        "variables, hostname, files, terminal, programs, requests");
  CHECK(wrong("muster_recording: 1\nresolvers:\n  - path: a\n  - path: a\n") ==
        "r.yaml:4:5: the path 'a' stands here twice");
  CHECK(wrong("muster_recording: 1\nmuster_recording: 1\n") ==
        "r.yaml:2:1: the key 'muster_recording' stands here twice");
  const std::string head = "muster_recording: 1\nresolvers:\n  - path: a\n";
  CHECK(contains(wrong(head + "    times: [\"2026-02-31T00:00:00.000000000Z\"]\n"),
                 "r.yaml:4:13: '2026-02-31T00:00:00.000000000Z' is not a time"));
  CHECK(wrong(head + "    milliseconds: -1\n") ==
        "r.yaml:4:19: 'milliseconds' has to be a whole number of 0 to 1099511627776");
  CHECK(contains(wrong(head + "    requests:\n      - method: GET\n        url: x\n"),
                 "r.yaml:5:9: a request has either 'status' or 'error'"));
  CHECK(contains(
      wrong(
          head +
          "    requests:\n      - {method: GET, url: x, status: 200, response: {base64: \"!\"}}\n"),
      "this is not base64"));
  CHECK(contains(wrong(head + "    files: [{file: x, error: BAD, message: m}]\n"),
                 "'BAD' is not the name of an error"));
  CHECK(contains(wrong(head + "    variables: &a {X: *a}\n"), "r.yaml:4:"));
  CHECK(contains(wrong("a: [b\n"), "r.yaml:"));
  CHECK(contains(wrong("muster_recording: 1\n---\nx: 1\n"), "a second document"));
  CHECK(wrong(std::string(100000, '[')) != "");
  CHECK(wrong(std::string(100000, '{')) != "");
}

TEST_CASE("a recording that is not UTF-8 is told with the place of the first wrong byte") {
  CHECK(wrong("muster_recording: 1\nresolvers:\n- path: \"a\xff\"\n") ==
        "r.yaml:3:11: this is not UTF-8");
  CHECK(wrong("muster_recording: 1\nresolvers:\n- path: \"é\"\n") == "");
}

TEST_CASE("a recording that cannot be read is told with its path") {
  const Folder folder;
  const auto none = Session::replay(folder.path("none"), nullptr, nullptr);
  CHECK(none.error().code == Code::kNotFound);
  CHECK(contains(none.error().message, folder.path("none")));
  const std::string path = folder.write("bad", "x: [");
  CHECK(contains(Session::replay(path, nullptr, nullptr).error().message, path + ":1:"));
}

TEST_CASE("times before 2262 come back to the nanosecond, and no other form is taken") {
  for (const int64_t time :
       {int64_t{0}, int64_t{1'769'860'800'123'456'789}, int64_t{9'190'000'000'000'000'001}}) {
    CHECK(parse_time(time_text(time)) == time);
  }
  for (const char* bad : {"", "2026-01-31", "2026-01-31T12:00:00Z",
                          "2026-01-31T12:00:00.000000000+", "9999-01-31T12:00:00.000000000Z"}) {
    CHECK_FALSE(parse_time(bad).has_value());
  }
}

TEST_CASE("a proxy's user and password are in no recording, however short or wrongly written") {
  for (const char* url : {"http://ann:pw@proxy:3128", "ann:pw@proxy", "http://ann:p@w@proxy:3128",
                          "socks9://ann:pw@proxy", "http://ann:p/w@proxy", "ann:pw@"}) {
    CAPTURE(url);
    const Variable variable("HTTP_PROXY", url);
    const Folder folder;
    auto session = Session::record(nullptr, nullptr);
    session->variable("cluster", "HTTP_PROXY");
    REQUIRE(session->write(folder.path("r.yaml")).ok());
    const std::string text = read_whole(folder.path("r.yaml"));
    CHECK_MESSAGE(!contains(text, "ann"), text);
    CHECK_MESSAGE(!contains(text, "pw"), text);
    CHECK(contains(text, "REDACTED@"));
  }
}

TEST_CASE("what is plainly no recording is refused without being parsed") {
  std::string huge = "a: 1\n";
  while (huge.size() < (size_t{64} << 20)) huge += "- [x, y, {z: 1}]\n";
  const auto begun = std::chrono::steady_clock::now();
  const auto read = read_recording(huge, "r.yaml");
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(1));
  REQUIRE_FALSE(read.ok());
  CHECK(contains(read.error().message, "r.yaml:1:1: this is not a recording of muster"));
}

TEST_CASE("a recording that is not read by its deadline is DEADLINE_EXCEEDED") {
  std::string block = "muster_recording: 1\nresolvers:\n  - path: cluster\n    times:\n";
  std::string flow = "muster_recording: 1\nresolvers: [{path: cluster, times: [";
  while (block.size() < (size_t{16} << 20)) block += "      - \"2026-01-31T12:00:00.123000000Z\"\n";
  while (flow.size() < (size_t{16} << 20)) flow += "\"2026-01-31T12:00:00.123000000Z\", ";
  for (const std::string& text : {block, flow + "]}]\n"}) {
    const auto read = read_recording(text, "r.yaml", monotonic_ns() + 20'000'000);
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().code == Code::kDeadlineExceeded);
    CHECK(contains(read.error().message, "r.yaml: the deadline came when "));
    CHECK(contains(read.error().message, " of 16384 KiB were read"));
  }
}

TEST_CASE("a large recording in YAML's flow form is refused without being parsed") {
  std::string flow = R"({"muster_recording": 1, "resolvers": [{"path": "", "times": [)";
  while (flow.size() < (size_t{2} << 20)) flow += R"("2026-01-31T12:00:00.123000000Z", )";
  const auto read = read_recording(flow, "r.yaml");
  REQUIRE_FALSE(read.ok());
  CHECK(contains(read.error().message,
                 "r.yaml:1:1: a file of more than 1 MiB is taken in YAML's block form"));
}
