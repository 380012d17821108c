// The functions of muster.h, as they are promised there: each getter, each setting, each exit status.
#include <muster/muster.h>
#include <poll.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "core/host/handles.h"
#include "tests/loader/launcher.h"
#include "tests/loader/world.h"

using namespace muster;
using namespace muster::test;

namespace {

using Text = const char*(const muster_snapshot*, size_t*);
using NumberedText = const char*(const muster_snapshot*, size_t, size_t*);

// A getter's text, whose size and final NUL agree.
template <typename Getter, typename... Arguments>
std::string text(Getter getter, Arguments... arguments) {
  size_t size = 77;
  const char* data = getter(arguments..., &size);
  REQUIRE(data != nullptr);
  CHECK(std::strlen(data) == size);
  CHECK(getter(arguments..., nullptr) == data);
  return {data, size};
}

// An error's message and code, and nothing else of it.
struct Failure {
  int32_t code = 0;
  std::string message;
};
Failure take(int32_t code, muster_error* error) {
  Failure out{code, error == nullptr ? "" : muster_error_message(error, nullptr)};
  CHECK(muster_error_code(error) == code);
  muster_error_destroy(error);
  return out;
}

// A config of static over a roster, which is a file that a test writes anew.
struct Roster {
  explicit Roster(const std::string& more = "") : launcher({built("static")}, "") {
    write("chief 0 c.internal:1 head\nworker 1 [fd00::2]:8470 w-one\nworker 3 w3.internal:1\n");
    launcher.set("config_text", "cluster: {backend: static, options: {file: '" + file() +
                                    "', num_accelerators: {GPU: 8}" + more);
  }
  std::string file() const { return launcher.dir.path() + "/roster"; }
  void write(const std::string& lines) {
    launcher.dir.write("roster.new", lines);
    std::filesystem::rename(file() + ".new", file());
  }
  Launcher launcher;
};

// What opening says with these settings.
Failure opening(const std::vector<std::pair<const char*, const char*>>& settings) {
  Launcher launcher({built("static")}, "cluster: {backend: static, options: {cluster_spec: {}}}");
  for (const auto& [name, value] : settings)
    REQUIRE(muster_settings_set(launcher.settings, name, value, nullptr) == 0);
  muster_error* error = nullptr;
  const int32_t code = muster_open(launcher.settings, &launcher.cluster, &error);
  return take(code, error);
}

}  // namespace

TEST_CASE("every getter of a snapshot says what was resolved, and nothing of what is not there") {
  Roster roster(
      ", task_type: worker, task_id: 3, environment: google}}\nrpc_layer: grpc\n"
      "expect: {worker: 3}\n");
  roster.launcher.open();
  muster_snapshot* got = nullptr;
  REQUIRE(muster_resolve(roster.launcher.cluster, &got, nullptr) == 0);

  CHECK(muster_snapshot_complete(got) == 0);
  CHECK(muster_snapshot_stale(got) == 0);
  CHECK(std::string(muster_snapshot_state(got)) == "fresh");
  CHECK(muster_snapshot_stale_since_ms(got) == -1);
  CHECK(muster_snapshot_job_count(got) == 2);
  CHECK(text(muster_snapshot_job_name, got, size_t{0}) == "chief");
  CHECK(text(muster_snapshot_job_name, got, size_t{1}) == "worker");
  CHECK(text(muster_snapshot_job_name, got, size_t{2}) == "");
  CHECK(muster_snapshot_found(got, "worker") == 2);
  CHECK(muster_snapshot_found(got, "nobody") == 0);
  CHECK(muster_snapshot_found(got, nullptr) == 0);
  CHECK(muster_snapshot_expected(got, "worker") == 3);
  CHECK(muster_snapshot_expected(got, "chief") == -1);
  CHECK(muster_snapshot_expected(got, "nobody") == -1);

  REQUIRE(muster_snapshot_task_count(got) == 3);
  const std::vector<std::vector<std::string>> tasks = {
      {"chief", "0", "head", "c.internal:1"},
      {"worker", "1", "w-one", "[fd00::2]:8470"},
      {"worker", "3", "", "w3.internal:1"},
      {"", "-1", "", ""},
  };
  for (size_t n = 0; n < tasks.size(); ++n) {
    CAPTURE(n);
    CHECK(text(muster_snapshot_task_job, got, n) == tasks[n][0]);
    CHECK(std::to_string(muster_snapshot_task_index(got, n)) == tasks[n][1]);
    CHECK(text(muster_snapshot_task_name, got, n) == tasks[n][2]);
    CHECK(text(muster_snapshot_task_address, got, n) == tasks[n][3]);
    CHECK(text(muster_snapshot_task_attribute, got, n, "accelerator.count") == (n < 3 ? "8" : ""));
  }
  CHECK(text(muster_snapshot_task_attribute, got, size_t{0}, "no.such") == "");
  CHECK(text(muster_snapshot_task_attribute, got, size_t{0}, static_cast<const char*>(nullptr)) ==
        "");
  CHECK(text(muster_snapshot_address, got, "worker", int64_t{3}) == "w3.internal:1");
  CHECK(text(muster_snapshot_address, got, "worker", int64_t{2}) == "");
  CHECK(text(muster_snapshot_address, got, "nobody", int64_t{0}) == "");

  CHECK(text(muster_snapshot_task_type, got) == "worker");
  CHECK(muster_snapshot_task_id(got) == 3);
  CHECK(text(muster_snapshot_rpc_layer, got) == "grpc");
  CHECK(text(muster_snapshot_environment, got) == "google");
  CHECK(text(muster_snapshot_digest, got).substr(0, 7) == "sha256:");

  const auto master = [&](const char* type, int64_t id, const char* layer) {
    muster_text* said = nullptr;
    muster_error* error = nullptr;
    const int32_t code = muster_snapshot_master(got, type, id, layer, &said, &error);
    if (code != 0) return take(code, error).message;
    std::string copy = text(muster_text_data, said);
    muster_text_destroy(said);
    return copy;
  };
  CHECK(master(nullptr, -1, nullptr) == "grpc://w3.internal:1");
  CHECK(master(nullptr, 1, nullptr) == "grpc://[fd00::2]:8470");
  CHECK(master("chief", 0, "http") == "http://c.internal:1");
  CHECK(master("chief", 0, "") == "c.internal:1");
  CHECK(has(master("worker", 2, nullptr), "there is no task 2 in job 'worker'"));

  CHECK(muster_snapshot_accelerators(got, nullptr, -1, "GPU") == 8);
  CHECK(muster_snapshot_accelerators(got, "chief", 0, "GPU") == 8);
  CHECK(muster_snapshot_accelerators(got, "chief", 0, "TPU") == -1);
  CHECK(muster_snapshot_accelerators(got, nullptr, -1, "TPU") == -1);
  CHECK(muster_snapshot_accelerators(got, "chief", 1, "GPU") == -1);
  CHECK(muster_snapshot_accelerators(got, "chief", 0, nullptr) == -1);
  muster_snapshot_destroy(got);
}

TEST_CASE("every getter accepts NULL") {
  const muster_snapshot* none = nullptr;
  for (Text* getter : {&muster_snapshot_task_type, &muster_snapshot_rpc_layer,
                       &muster_snapshot_environment, &muster_snapshot_digest})
    CHECK(text(getter, none) == "");
  for (NumberedText* getter :
       {&muster_snapshot_job_name, &muster_snapshot_task_job, &muster_snapshot_task_name,
        &muster_snapshot_task_address, &muster_snapshot_warning})
    CHECK(text(getter, none, size_t{0}) == "");
  CHECK(text(muster_snapshot_address, none, "worker", int64_t{0}) == "");
  CHECK(text(muster_snapshot_task_attribute, none, size_t{0}, "zone") == "");
  CHECK(muster_snapshot_complete(none) == 0);
  CHECK(muster_snapshot_stale(none) == 0);
  CHECK(std::string(muster_snapshot_state(none)) == "");
  CHECK(text(muster_snapshot_recording_error, none) == "");
  CHECK(muster_snapshot_stale_since_ms(none) == -1);
  CHECK(muster_snapshot_found(none, "worker") == 0);
  CHECK(muster_snapshot_expected(none, "worker") == -1);
  CHECK(muster_snapshot_task_index(none, 0) == -1);
  CHECK(muster_snapshot_task_id(none) == -1);
  CHECK(muster_snapshot_accelerators(none, nullptr, -1, "GPU") == -1);
  CHECK(muster_cluster_timeout_ms(nullptr) == -1);
  CHECK(muster_watch_fd(nullptr) == -1);
  char line[4] = "abc";
  CHECK(muster_progress(nullptr, line, sizeof line) == 0);
  CHECK(line[0] == '\0');
  CHECK(muster_error_code(nullptr) == 0);
  CHECK(std::string(muster_error_code_name(nullptr)) == "OK");
  CHECK(muster_error_exit_status(nullptr) == 0);
  CHECK(muster_error_detail_count(nullptr) == 0);
  CHECK(text(muster_error_detail_key, static_cast<const muster_error*>(nullptr), size_t{0}) == "");
  CHECK(text(muster_error_sources, static_cast<const muster_error*>(nullptr), "json") == "");
}

TEST_CASE("the error of a resolve says what each resolver did, and one of opening says nothing") {
  Launcher launcher({built("static")},
                    "cluster: {chain: [{backend: static, options: {file: /nowhere/a}}, "
                    "{backend: static, options: {file: /nowhere/b}}]}");
  launcher.open();
  muster_error* error = nullptr;
  muster_snapshot* snapshot = nullptr;
  CHECK(muster_resolve(launcher.cluster, &snapshot, &error) == 5);
  CHECK(snapshot == nullptr);
  REQUIRE(error != nullptr);
  CHECK(std::string(muster_error_code_name(error)) == "NOT_FOUND");
  CHECK(muster_error_exit_status(error) == 11);
  const auto sources = [&](const char* form) { return text(muster_error_sources, error, form); };
  CHECK(has(sources("explain"), "/nowhere/b"));
  CHECK(has(sources("json"), "\"path\": \"cluster.chain[1]\""));
  CHECK(sources("yaml") == "");
  CHECK(sources(nullptr) == "");
  const size_t count = muster_error_detail_count(error);
  REQUIRE(count > 0);
  CHECK(text(muster_error_detail_key, error, count - 1) != "");
  CHECK(text(muster_error_detail_value, error, count - 1) != "");
  CHECK(text(muster_error_detail_key, error, count) == "");
  CHECK(text(muster_error_detail_value, error, count) == "");
  muster_error_destroy(error);
  error = nullptr;
  launcher.close();
  launcher.set("config_text", "cluster: {backend: statik}");
  CHECK(muster_open(launcher.settings, &launcher.cluster, &error) == 5);
  CHECK(sources("json") == "");
  // The same code, but of a configuration.
  CHECK(muster_error_exit_status(error) == 12);
  muster_error_destroy(error);
}

TEST_CASE("each code has its exit status, and a broken duty one of its own") {
  const std::vector<int32_t> statuses = {0,  130, 1,  12, 15, 11, 12, 13, 14,
                                         12, 14,  12, 12, 1,  14, 14, 13};
  for (size_t code = 1; code < statuses.size(); ++code) {
    CAPTURE(code);
    muster_error* error = nullptr;
    CHECK(fail(Error{static_cast<Code>(code), "x", {}}, &error) == static_cast<int32_t>(code));
    CHECK(muster_error_exit_status(error) == statuses[code]);
    muster_error_destroy(error);
    error = nullptr;
    fail(Error{static_cast<Code>(code), "x", {{"duty", "MP-26"}}}, &error);
    CHECK(muster_error_exit_status(error) == (code == 4 ? 15 : 16));
    muster_error_destroy(error);
  }
}

TEST_CASE("a setting wins over the environment, that over the file, and NULL takes it back") {
  Roster roster("}}\ntimeout: 7s\n");
  const auto timeout = [&] {
    roster.launcher.open();
    const int64_t out = muster_cluster_timeout_ms(roster.launcher.cluster);
    roster.launcher.close();
    return out;
  };
  CHECK(timeout() == 7'000);
  ::setenv("MUSTER_TIMEOUT", "", 1);
  CHECK(timeout() == 7'000);
  ::setenv("MUSTER_TIMEOUT", "8s", 1);
  CHECK(timeout() == 8'000);
  roster.launcher.set("timeout", "9s");
  CHECK(timeout() == 9'000);
  roster.launcher.set("timeout", "10s");
  CHECK(timeout() == 10'000);
  CHECK(muster_settings_set(roster.launcher.settings, "timeout", nullptr, nullptr) == 0);
  CHECK(timeout() == 8'000);
  ::unsetenv("MUSTER_TIMEOUT");
}

TEST_CASE("a repeatable setting adds, and NULL takes all of it back") {
  Launcher launcher({built("static")}, "");
  REQUIRE(muster_settings_set(launcher.settings, "config_text", nullptr, nullptr) == 0);
  launcher.set("backend", "static");
  launcher.set("option", "cluster_spec={worker: [\"a:1\"]}");
  launcher.set("option", "environment=lab");
  launcher.open();
  CHECK(has(launcher.ask("json"), "\"environment\": \"lab\""));
  CHECK(has(launcher.ask("json"), "a:1"));
  launcher.close();
  REQUIRE(muster_settings_set(launcher.settings, "option", nullptr, nullptr) == 0);
  launcher.set("option", "cluster_spec={}");
  launcher.open();
  CHECK_FALSE(launcher.ask("json").find("lab") != std::string::npos);
}

TEST_CASE("what is set wrongly is told by who set it") {
  struct Wrong {
    std::vector<std::pair<const char*, const char*>> settings;
    const char* said;
  };
  const Wrong all[] = {
      {{{"timeout", "soon"}}, "the setting timeout: "},
      {{{"expect", "worker"}}, "the setting expect: "},
      {{{"watch_interval", "0s"}}, "the setting watch_interval: "},
      {{{"task_type", "worker"}},
       "the setting task_type is given without task_id: this process's task is both or neither"},
      {{{"task_id", "0"}}, "the setting task_id is given without task_type"},
      {{{"task_type", "worker"}, {"task_id", "-1"}}, "'-1' is not a task index: 0 to 2147483647"},
      {{{"task_type", "worker"}, {"task_id", "2147483648"}}, "is not a task index"},
      {{{"task_type", "worker"}, {"task_id", "1x"}}, "the setting task_id: '1x' is not a task"},
      {{{"task_type", "a\nb"}, {"task_id", "1"}}, "the setting task_type: "},
      {{{"isolate", "yes"}}, "the setting isolate: 'yes' is not 'true', 'false' or 'auto'"},
      {{{"trace", "yes"}}, "the setting trace: 'yes' is not 'true' or 'false'"},
      {{{"record", "/tmp/a"}, {"replay", "/tmp/b"}}, "record and replay exclude each other"},
      {{{"option", "a=b"}}, "options (-O) go with --backend"},
      {{{"backend", "static"}}, "more than one configuration: "},
      {{{"config_file", "/nowhere/m.yaml"}}, "more than one configuration: "},
      {{{"config_text", nullptr}}, "no configuration: give a config file"},
  };
  for (const Wrong& wrong : all) {
    CAPTURE(wrong.said);
    const Failure failure = opening(wrong.settings);
    CHECK(failure.code == 3);
    CHECK(has(failure.message, wrong.said));
  }
  CHECK(opening({{"task_type", "worker"}, {"task_id", "2147483647"}}).code == 0);
  CHECK(opening({{"isolate", "auto"}, {"trace", "false"}}).code == 0);
  CHECK(opening({{"replay", ""}, {"record", "/tmp/a"}}).code == 0);
  ::setenv("MUSTER_TASK_TYPE", "worker", 1);
  CHECK(has(opening({}).message, "MUSTER_TASK_TYPE is given without task_id"));
  ::unsetenv("MUSTER_TASK_TYPE");
}

TEST_CASE(
    "progress is told while a resolve runs, cut to what there is room for, and then no more") {
  Launcher launcher({std::string(PLUGINS) + "/libbad.so"},
                    "cluster: {backend: bad, options: {do: hangs}}\ntimeout: 1m\n");
  launcher.open();
  char line[200] = "before";
  CHECK(muster_progress(launcher.cluster, line, sizeof line) == 0);
  CHECK(std::string(line) == "");
  Failure failure;
  std::thread resolving([&] {
    muster_error* error = nullptr;
    muster_snapshot* snapshot = nullptr;
    const int32_t code = muster_resolve(launcher.cluster, &snapshot, &error);
    failure = take(code, error);
  });
  while (muster_progress(launcher.cluster, line, sizeof line) == 0 || !std::strstr(line, "server"))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const std::string whole = line;
  CHECK(has(whole, "bad (cluster): a server that never answers"));
  CHECK(muster_progress(launcher.cluster, nullptr, 0) == whole.size());
  char little[5] = "????";
  CHECK(muster_progress(launcher.cluster, little, sizeof little) == whole.size());
  CHECK(std::string(little) == whole.substr(0, 4));
  muster_cancel(launcher.cluster);
  resolving.join();
  CHECK(failure.code == 1);
  CHECK(muster_progress(launcher.cluster, line, sizeof line) == 0);
}

TEST_CASE("a watch tells each change of what a person sees, and nothing twice") {
  Roster roster("}}\n");
  roster.launcher.set("watch_interval", "20ms");
  roster.launcher.open();
  muster_watch* watch = nullptr;
  REQUIRE(muster_watch_start(roster.launcher.cluster, &watch, nullptr) == 0);
  const auto next = [&](int64_t milliseconds) {
    muster_snapshot* snapshot = nullptr;
    if (muster_watch_next(watch, milliseconds, &snapshot, nullptr) != 0) return std::string();
    muster_text* json = nullptr;
    REQUIRE(muster_render(snapshot, "json", nullptr, &json, nullptr) == 0);
    std::string copy = muster_text_data(json, nullptr);
    muster_text_destroy(json);
    muster_snapshot_destroy(snapshot);
    return copy;
  };
  CHECK(has(next(10'000), "w-one"));
  CHECK(next(100) == "");
  // A name alone, an index alone, an address alone, a job alone.
  roster.write(
      "chief 0 c.internal:1 head\nworker 1 [fd00::2]:8470 w-two\nworker 3 w3.internal:1\n");
  CHECK(has(next(10'000), "w-two"));
  roster.write(
      "chief 0 c.internal:1 head\nworker 1 [fd00::2]:8470 w-two\nworker 4 w3.internal:1\n");
  CHECK(has(next(10'000), "\"index\": 4"));
  roster.write(
      "chief 0 c.internal:1 head\nworker 1 [fd00::2]:8471 w-two\nworker 4 w3.internal:1\n");
  CHECK(has(next(10'000), "8471"));
  roster.write("boss 0 c.internal:1 head\nworker 1 [fd00::2]:8471 w-two\nworker 4 w3.internal:1\n");
  CHECK(has(next(10'000), "boss"));
  // A failure after a first answer: the last one once more, with the reason and what to do.
  roster.write("worker one\n");
  muster_snapshot* stale = nullptr;
  REQUIRE(muster_watch_next(watch, 10'000, &stale, nullptr) == 0);
  CHECK(muster_snapshot_stale(stale) == 1);
  CHECK(std::string(muster_snapshot_state(stale)) == "stale");
  CHECK(muster_snapshot_stale_since_ms(stale) > 0);
  CHECK(muster_snapshot_task_count(stale) == 3);
  REQUIRE(muster_snapshot_warning_count(stale) == 1);
  CHECK(has(text(muster_snapshot_warning, stale, size_t{0}),
            "this is the last good answer; asking again failed: "));
  CHECK(text(muster_snapshot_warning, stale, size_t{1}) == "");
  muster_snapshot_destroy(stale);
  CHECK(next(100) == "");
  muster_watch_destroy(watch);
}

TEST_CASE("a watch tells a change of each thing that an answer says, and its descriptor knows") {
  std::string answer =
      R"({"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0},
          "rpc_layer": "grpc", "environment": "lab", "complete": false,
          "jobs": {"worker": {"expected": 3, "missing": [{"index": 2, "name": "w-2", "reason": "Pending"}]}},
          "tasks": [{"job": "worker", "index": 0, "name": "w-0", "address": "a:1", "attributes": {"zone": "z-1"}},
                    {"job": "worker", "index": 1, "name": "w-1", "address": "b:1"}],
          "warnings": ["the roster is old"]})";
  Launcher launcher({built("exec")}, "");
  const std::string file = launcher.dir.write("answer", answer);
  launcher.set("config_text",
               "cluster: {backend: exec, options: {command: [cat, '" + file + "']}}\n");
  launcher.set("watch_interval", "20ms");
  launcher.open();
  muster_watch* watch = nullptr;
  REQUIRE(muster_watch_start(launcher.cluster, &watch, nullptr) == 0);
  pollfd readable = {muster_watch_fd(watch), POLLIN, 0};
  // What says the same is told in neither way.
  const auto next = [&] {
    CHECK(::poll(&readable, 1, 10'000) == 1);
    muster_snapshot* snapshot = nullptr;
    muster_error* error = nullptr;
    const int32_t code = muster_watch_next(watch, 10'000, &snapshot, &error);
    CHECK(take(code, error).message == "");
    CHECK(muster_snapshot_stale(snapshot) == 0);
    muster_snapshot_destroy(snapshot);
    CHECK(::poll(&readable, 1, 60) == 0);
  };
  next();
  for (const auto& change : std::vector<std::pair<std::string, std::string>>{
           {"Pending", "Evicted"},
           {"w-2", "w-9"},
           {"\"expected\": 3", "\"expected\": 4"},
           {"\"type\": \"worker\", \"index\": 0", "\"type\": \"worker\", \"index\": 1"},
           {"grpc", "http"},
           {"lab", "farm"},
           {"z-1", "z-2"},
           {"w-0", "w-8"},
           {"roster is old", "roster is older"}}) {
    const auto& [old, now] = change;
    CAPTURE(change.second);
    REQUIRE(answer.find(old) != std::string::npos);
    answer.replace(answer.find(old), old.size(), now);
    launcher.dir.write("answer.new", answer);
    std::filesystem::rename(file + ".new", file);
    next();
  }
  muster_watch_destroy(watch);
}

TEST_CASE("a watch without a first answer gives the error, and goes on trying") {
  Roster roster("}}\n");
  roster.write("worker one\n");
  roster.launcher.set("watch_interval", "20ms");
  roster.launcher.open();
  muster_watch* watch = nullptr;
  REQUIRE(muster_watch_start(roster.launcher.cluster, &watch, nullptr) == 0);
  muster_error* error = nullptr;
  muster_snapshot* snapshot = nullptr;
  const int32_t code = muster_watch_next(watch, 10'000, &snapshot, &error);
  CHECK(take(code, error).code == 3);
  error = nullptr;
  // One that nobody fetched is gone once there is an answer.
  pollfd readable = {muster_watch_fd(watch), POLLIN, 0};
  CHECK(::poll(&readable, 1, 10'000) == 1);
  roster.write("worker 0 a:1\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  int32_t last = 3;
  for (int turn = 0; turn < 20 && last == 3; ++turn)
    last = muster_watch_next(watch, 10'000, &snapshot, nullptr);
  CHECK(last == 0);
  CHECK(muster_snapshot_task_count(snapshot) == 1);
  muster_snapshot_destroy(snapshot);
  CHECK(muster_watch_next(watch, 100, &snapshot, &error) == 4);
  muster_error_destroy(error);
  muster_watch_destroy(watch);
}
