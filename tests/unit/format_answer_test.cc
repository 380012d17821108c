#include <doctest/doctest.h>
#include <simdjson.h>

#include <string>

#include "core/format/emit.h"
#include "core/format/text.h"
#include "core/spec/rfc3339.h"
#include "format_world.h"

namespace muster {
namespace {

using test::add;
using test::failure;
using test::full_answer;
using test::matches_golden;
using test::show;
using test::small_answer;

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("a whole answer looks as its golden file in each format that people and programs read") {
  for (const char* format : {"table", "json", "yaml", "explain"}) {
    matches_golden(std::string("full.") + format, show(full_answer(), format));
    matches_golden(std::string("small.") + format, show(small_answer(), format));
    matches_golden(std::string("empty.") + format, show(Snapshot(), format));
  }
}

TEST_CASE(
    "colour is written only when it is asked for, and control characters never come through") {
  FormatOptions color;
  color.color = true;
  for (const char* format : {"table", "explain"}) {
    CHECK_FALSE(has(show(full_answer(), format), "\x1b"));
    CHECK(has(show(full_answer(), format, color), "\x1b[31m"));
    CHECK_FALSE(has(show(full_answer(), format, color), "no\x1b[31m address"));
  }
  CHECK_FALSE(has(show(full_answer(), "json", color), "\x1b"));
}

TEST_CASE("the JSON answer is JSON, with null where nothing is known") {
  simdjson::dom::parser parser;
  Snapshot answer = full_answer();
  answer.identity = {};
  const std::string json = show(answer, "json");
  simdjson::dom::element root;
  REQUIRE(parser.parse(json).get(root) == simdjson::SUCCESS);
  CHECK(root["task"]["type"].is_null());
  CHECK(root["task"]["index"].is_null());
  CHECK(root["jobs"]["ps"]["expected"].is_null());
  CHECK(int64_t(root["jobs"]["worker"]["expected"]) == 4);
  CHECK(root["jobs"]["chief"]["missing"].at(0)["index"].is_null());
  CHECK(bool(root["complete"]) == false);
  CHECK(int64_t(root["sources"].at(1)["requests"]) == 1);
  CHECK(std::string_view(root["time"]) == "2026-01-31T12:00:00.123Z");
  CHECK(std::string_view(root["cluster"]["ps"]["1"]) == "ps-1.svc:8470");
  CHECK(std::string_view(root["tasks"].at(1)["address"]) == "[fd00::2]:8470");
}

TEST_CASE("texts of any bytes stay inside their JSON string") {
  std::string every;
  for (int i = 0; i < 256; ++i) every += static_cast<char>(i);
  for (const std::string& text : {every, std::string("\"\\\n\r\t\b"),
                                  std::string("\xe2\x80\xa8\xef\xbb\xbf\xc2\x85\xf0\x9f\x98\x80"),
                                  std::string("\xed\xa0\x80")}) {
    std::string json;
    append_json(json, text);
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    REQUIRE(parser.parse(json).get(root) == simdjson::SUCCESS);
    for (const char c : json) CHECK((static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
    if (is_valid_text(text)) CHECK(std::string_view(root) == text);
  }
}

TEST_CASE("the answer's master is that of the task that the options name") {
  FormatOptions options;
  options.task_type = "worker";
  options.task_id = 0;
  CHECK(has(show(small_answer(), "json", options), R"("master": "grpc://10.0.0.1:8470")"));
  options.rpc_layer = "";
  CHECK(has(show(small_answer(), "json", options), R"("master": "10.0.0.1:8470")"));
  options.task_id = 7;
  CHECK(failure(small_answer(), "json", options).code == Code::kNotFound);
}

TEST_CASE("YAML quotes what YAML would read as something else") {
  Emitter out(Emitter::Form::kYaml, 2);
  out.begin_map();
  for (const char* word : {"yes", "No", "null", "1", "1e3", "0x1f", "~", "", "a: b", "- a", "#x",
                           "plain", "ps-1.svc:8470", "end:", "a b", "*a", "2026-01-31"}) {
    out.key("k");
    out.text(word);
  }
  out.end_map();
  CHECK(std::move(out).take() ==
        "k: \"yes\"\nk: \"No\"\nk: \"null\"\nk: \"1\"\nk: \"1e3\"\nk: \"0x1f\"\nk: \"~\"\nk: "
        "\"\"\nk: \"a: b\"\nk: \"- a\"\n"
        "k: \"#x\"\nk: plain\nk: ps-1.svc:8470\nk: \"end:\"\nk: \"a b\"\nk: \"*a\"\nk: "
        "\"2026-01-31\"\n");
}

TEST_CASE("sources stand alone for a resolve that failed") {
  const std::string json = render_sources_json(full_answer().sources);
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  REQUIRE(parser.parse(json).get(root) == simdjson::SUCCESS);
  CHECK(std::string_view(root.at(3)["status"]) == "NOT_FOUND");
  CHECK(render_sources_json({}) == "[]\n");
  const std::string text = render_sources_explain(full_answer().sources, false);
  CHECK(has(text, "cluster.merge[1].chain[0] (tpu): NOT_FOUND"));
  CHECK(has(text, "there is no TPU 'my-tpu'"));
  CHECK(has(text, "connection refused, 3 ms"));
  CHECK(has(text, "200, 11 ms, 42.2 KiB, attempt 2 (list pods)"));
}

TEST_CASE("columns align by what a terminal shows, and no line ends in blanks") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("\xe5\xb7\xa5\xe4\xbd\x9c") == 4);
  CHECK(display_width("a\xcc\x88") == 1);
  CHECK(display_width("\xc3\xa4") == 1);
  CHECK(display_width("\xf0\x9f\x98\x80") == 2);
  CHECK(display_width("\xff") == 1);
  CHECK(align_columns({{"a", "b"}, {"\xe5\xb7\xa5", "c", ""}, {"", "", "d"}}) ==
        "a   b\n\xe5\xb7\xa5  c\n       d\n");
}

TEST_CASE("times are UTC with milliseconds, before 1970 too") {
  CHECK(rfc3339(0) == "1970-01-01T00:00:00.000Z");
  CHECK(rfc3339(1769860800123999999) == "2026-01-31T12:00:00.123Z");
  CHECK(rfc3339(-1) == "1969-12-31T23:59:59.999Z");
}

TEST_CASE("a wrong format is told the names and the nearest") {
  const Error error = failure(small_answer(), "tf-config");
  CHECK(error.code == Code::kInvalidArgument);
  CHECK(has(error.message,
            "'tf-config' is not a format; the formats are table, json, yaml, tf_config, "
            "cluster_def, cluster_def_binary, env, addresses, hostfile, names, explain"));
  CHECK(has(error.message, "the nearest is 'tf_config'"));
  CHECK_FALSE(has(failure(small_answer(), "qqqqqqqq").message, "nearest"));
}

TEST_CASE("format options are read, and wrong ones told") {
  const auto options =
      parse_format_options("color=1,incomplete=1,task_type=worker,task_id=3,rpc_layer=");
  REQUIRE(options.ok());
  CHECK(options->color);
  CHECK(options->incomplete);
  CHECK(*options->task_type == "worker");
  CHECK(*options->task_id == 3);
  CHECK(options->rpc_layer->empty());
  CHECK(parse_format_options("").ok());
  const auto reason = [](std::string_view text) {
    return parse_format_options(text).error().message;
  };
  CHECK(has(reason("colour=1"),
            "'colour' is not a format option; the options are color, incomplete, task_type, "
            "task_id, rpc_layer; the nearest is 'color'"));
  CHECK(has(reason("color=yes"), "write 0 or 1"));
  CHECK(has(reason("task_id=-1"), "a number from 0"));
  for (const char* id : {"x", "", "3x", "2147483648", "99999999999999999999"}) {
    CAPTURE(id);
    CHECK(has(reason("task_id=" + std::string(id)), "a number from 0 to 2147483647"));
  }
  CHECK_FALSE(parse_format_options("color=0")->color);
  CHECK(*parse_format_options("task_id=2147483647,rpc_layer=http")->rpc_layer == "http");
  CHECK(has(reason("color"), "has no value"));
  CHECK(has(reason("task_type="), "is not a job name"));
}

TEST_CASE("master() is what TensorFlow's is, with its quirks mended") {
  Snapshot answer = small_answer();
  const auto of = [&](std::optional<std::string> type, std::optional<int64_t> id,
                      std::optional<std::string> layer = std::nullopt) {
    return master(answer, std::move(type), id, std::move(layer));
  };
  CHECK(*of({}, {}) == "grpc://10.0.0.2:8470");
  CHECK(*of("worker", 0) == "grpc://10.0.0.1:8470");
  CHECK(*of("worker", 0, "http") == "http://10.0.0.1:8470");
  CHECK(*of("worker", 0, "") == "10.0.0.1:8470");  // BASE-5: empty means none
  CHECK(*of({}, 0) == "grpc://10.0.0.1:8470");
  CHECK(*of("worker", {}) == "grpc://10.0.0.2:8470");
  CHECK(of("worker", 2).error().code == Code::kNotFound);
  CHECK(of("ps", 0).error().code == Code::kNotFound);
  CHECK(has(of("ps", 0).error().message, "its jobs are 'worker'"));

  answer.identity = {};
  CHECK(*of({}, {}) == "");
  CHECK(of("worker", {}).error().code == Code::kInvalidArgument);
  CHECK(of({}, 0).error().code == Code::kInvalidArgument);

  answer.has_own_master = true;
  for (const char* own : {"", "local", "uptc://a/b"}) {
    answer.own_master = own;
    CHECK(*of({}, {}) == own);
    CHECK(*of({}, {}, "http") == own);  // SIMPLE-1: no scheme on nothing
  }
  answer.own_master = "grpc://10.0.0.9:1";
  CHECK(*of({}, {}) == "grpc://10.0.0.9:1");
  CHECK(*of({}, {}, "http") == "http://10.0.0.9:1");  // SIMPLE-3: not a second one
  CHECK(*of({}, {}, "") == "10.0.0.9:1");
  answer.own_master = "10.0.0.9:1";
  CHECK(*of({}, {}) == "10.0.0.9:1");
  CHECK(*of({}, {}, "http") == "http://10.0.0.9:1");
  CHECK(*of("worker", 1) ==
        "grpc://10.0.0.2:8470");  // TFCONFIG-7: a task that is asked for is answered
}

TEST_CASE("a task that a setting names is answered by its address, whatever the source's master") {
  Snapshot answer = small_answer();
  answer.has_own_master = true;
  answer.own_master = "grpc://10.0.0.9:1";
  const auto own = [&] { return *master(answer, std::nullopt, std::nullopt, std::nullopt); };
  answer.task_said_by = TaskSaidBy::kConfig;
  CHECK(own() == "grpc://10.0.0.9:1");  // as TensorFlow: session_master stands over the task
  answer.task_said_by = TaskSaidBy::kSetting;
  CHECK(own() == "grpc://10.0.0.2:8470");
  CHECK_FALSE(has(show(answer, "tf_config"), "session_master"));
}

TEST_CASE("a source's default master is for a process of which nobody says which task it is") {
  Snapshot answer = small_answer();
  answer.attributes = {{"master.default", "grpc://10.0.0.1:8470"}};
  const auto own = [&] { return *master(answer, std::nullopt, std::nullopt, std::nullopt); };
  CHECK(own() == "grpc://10.0.0.1:8470");  // the evidence says worker 1
  CHECK(has(show(answer, "tf_config"), R"("session_master": "grpc://10.0.0.1:8470")"));
  for (const TaskSaidBy by : {TaskSaidBy::kConfig, TaskSaidBy::kSetting}) {
    answer.task_said_by = by;
    CHECK(own() == "grpc://10.0.0.2:8470");
    CHECK_FALSE(has(show(answer, "tf_config"), "session_master"));
  }
}

TEST_CASE("the rpc_layer that the user says is that of a source's master too") {
  Snapshot answer = small_answer();
  answer.rpc_layer = "http";
  answer.has_own_master = true;
  const auto own = [&](const char* said) {
    answer.own_master = said;
    return *master(answer, std::nullopt, std::nullopt, std::nullopt);
  };
  CHECK(own("grpc://[fd00::9]:1") == "grpc://[fd00::9]:1");  // only the source says http
  answer.rpc_layer_said = true;
  CHECK(own("grpc://[fd00::9]:1") == "http://[fd00::9]:1");
  CHECK(own("10.0.0.9:1") == "http://10.0.0.9:1");
  CHECK(own("") == "");
  CHECK(own("local") == "local");
  answer.rpc_layer = "";
  CHECK(own("grpc://10.0.0.9:1") == "10.0.0.9:1");
  CHECK(has(show(answer, "tf_config"), R"("session_master": "10.0.0.9:1")"));
}

TEST_CASE("a cluster_def is text or bytes, as it is named") {
  CHECK(show(small_answer(), "cluster_def").find("name: \"worker\"") != std::string::npos);
  CHECK(show(small_answer(), "cluster_def_binary").front() == '\x0a');
  Snapshot answer;
  add(answer.spec, "it's \\ \"x\" \xc3\xa4", 0, "h:1");
  CHECK(has(show(answer, "cluster_def"), R"(name: "it\'s \\ \"x\" \303\244")"));
}

TEST_CASE("any of the options asks for another master") {
  FormatOptions options;
  options.rpc_layer = "http";
  CHECK(has(show(small_answer(), "json", options), R"("master": "http://10.0.0.2:8470")"));
  options = {};
  options.task_id = 0;
  CHECK(has(show(small_answer(), "json", options), R"("master": "grpc://10.0.0.1:8470")"));
  options = {};
  options.task_type = "ps";
  CHECK(failure(small_answer(), "json", options).code == Code::kNotFound);
}

TEST_CASE("characters that a reader may take for a control or a line end are written as escapes") {
  const auto json = [](std::string_view text) {
    std::string out;
    append_json(out, text);
    return out;
  };
  CHECK(json("\xe2\x80\xa8\xe2\x80\xa9\xef\xbb\xbf\xef\xbf\xbe\xef\xbf\xbf") ==
        R"("\u2028\u2029\ufeff\ufffe\uffff")");
  CHECK(json("\u202a\u202e\u2066\u2069") == R"("\u202a\u202e\u2066\u2069")");
  CHECK(json("\u202f\u2065\u206a") == "\"\u202f\u2065\u206a\"");
  CHECK(json("\xc2\x85\xc2\x9f\x7f\x01") == R"("\u0085\u009f\u007f\u0001")");
  for (const char* plain : {"\xc2\xa0", "\xc3\x85", "\xe2\x80\xa7", "\xe5\xb7\xa5", "\xef\xbf\xbc",
                            "\xf0\x9f\x98\x80"}) {
    CHECK(json(plain) == "\"" + std::string(plain) + "\"");
  }
  CHECK(json("a\xff\x62") == "\"a\xef\xbf\xbd\x62\"");
}

TEST_CASE("a table shows missing tasks in their places, and jobs of which there is nothing") {
  Snapshot answer;
  answer.complete = false;
  add(answer.spec, "worker", 0, "a:1", "w-0", {{"accelerator.type", "TPU"}});
  add(answer.spec, "worker", 3, "d:1");
  answer.jobs = {{"worker", 2, 7, {{-1, "", ""}, {4, "", ""}, {1, "w-1", "Pending"}}},
                 {"ps", 0, std::nullopt, {}},
                 {"chief", 0, 1, {}}};
  const std::string table = show(answer, "table");
  matches_golden("gaps.table", table);
  FormatOptions color;
  color.color = true;
  answer.identity = {"worker", 3, {}};
  const std::string colored = show(answer, "table", color);
  CHECK(has(colored, "\x1b[32mworker  3"));
  CHECK(has(colored, "\nworker  0"));
  CHECK(has(colored, "\x1b[31mworker  1"));
  CHECK(has(colored, "\x1b[2mps"));
}

TEST_CASE("explain colours what went well, what did not, and what was not asked") {
  const std::string text = render_sources_explain(full_answer().sources, true);
  CHECK(has(text, "cluster.merge[0] (kubernetes): \x1b[32mOK\x1b[0m, 2 tasks, 12 ms, 1 request"));
  CHECK(has(text, "(tpu): \x1b[31mNOT_FOUND\x1b[0m, 37 ms, 1 request"));
  CHECK(has(text, "(gce): \x1b[2mNOT_ASKED\x1b[0m\n"));
  CHECK(has(text, "\x1b[32m200\x1b[0m, 11 ms"));
  CHECK(has(text, "\x1b[31mconnection refused\x1b[0m, 3 ms, 0 B\n"));
}

TEST_CASE("explain tells sizes in their unit, statuses, and messages of several lines") {
  SourceRecord source{"cluster", "x", "UNAVAILABLE", "one\ntwo\n", 0, 1, {}};
  source.requests = {{"GET", "u", "", 200, "", 1, 1023, 1},
                     {"GET", "u", "", 404, "", 1, 1024, 1},
                     {"GET", "u", "", 399, "", 1, 1048575, 1},
                     {"GET", "u", "", 199, "", 1, 3145728, 1}};
  const std::string text = render_sources_explain({source}, true);
  CHECK(has(text, "    one\n    two\n    GET u\n"));
  CHECK(has(text, "\x1b[32m200\x1b[0m, 1 ms, 1023 B\n"));
  CHECK(has(text, "\x1b[31m404\x1b[0m, 1 ms, 1.0 KiB\n"));
  CHECK(has(text, "\x1b[32m399\x1b[0m, 1 ms, 1024.0 KiB\n"));
  CHECK(has(text, "\x1b[31m199\x1b[0m, 1 ms, 3.0 MiB\n"));
}

TEST_CASE("explain tells programs with their end, and counts them beside the requests") {
  SourceRecord source{"cluster", "x", "OK", "", 1, 1, {}};
  source.requests = {{"", "fetch get-token", "", 0, "", 12},
                     {"GET", "u", "", 200, "", 1, 1023, 1},
                     {"", "fetch get-token", "", 7, "", 3},
                     {"", "gone", "", 0, "there is no such program", 0}};
  const std::string text = render_sources_explain({source}, true);
  CHECK(has(text, "1 task, 1 ms, 1 request, 3 programs\n"));
  CHECK(has(text, "    ran fetch get-token\n      \x1b[32mexit status 0\x1b[0m, 12 ms\n"));
  CHECK(has(text, "    ran fetch get-token\n      \x1b[31mexit status 7\x1b[0m, 3 ms\n"));
  CHECK(has(text, "    ran gone\n      \x1b[31mthere is no such program\x1b[0m, 0 ms\n"));
  CHECK(has(render_sources_json({source}), "\"requests\": 1"));
}

}  // namespace
}  // namespace muster
