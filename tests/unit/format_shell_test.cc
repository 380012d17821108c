#include <doctest/doctest.h>

#include <cstdio>
#include <string>

#include "core/format/text.h"
#include "format_world.h"

namespace muster {
namespace {

using test::add;
using test::failure;
using test::full_answer;
using test::show;
using test::small_answer;

// What a shell prints for a script, on its standard output.
std::string shell(const std::string& script) {
  FILE* pipe = popen(script.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string out;
  char buffer[4096];
  for (size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
  CHECK(pclose(pipe) == 0);
  return out;
}

TEST_CASE("export lines say the cluster to muster's readers, TensorFlow and torch") {
  Snapshot answer = small_answer();
  CHECK(show(answer, "env") ==
        "export MUSTER_COMPLETE='1'\n"
        "export MUSTER_STATE='fresh'\n"
        "unset MUSTER_STALE_SINCE\n"
        "export MUSTER_DIGEST='" +
            digest(answer.spec) +
            "'\n"
            "export MUSTER_TASKS='2'\n"
            "export MUSTER_MASTER='grpc://10.0.0.2:8470'\n"
            "export MUSTER_RPC_LAYER='grpc'\n"
            "export MUSTER_TASK_TYPE='worker'\n"
            "export MUSTER_TASK_ID='1'\n"
            "export MUSTER_ADDRESS='10.0.0.2:8470'\n"
            "export TF_CONFIG='{\"cluster\": {\"worker\": [\"10.0.0.1:8470\", \"10.0.0.2:8470\"]}, "
            "\"task\": {\"type\": \"worker\", \"index\": 1}, \"rpc_layer\": \"grpc\"}'\n"
            "export MASTER_ADDR='10.0.0.1'\n"
            "export MASTER_PORT='8470'\n"
            "export WORLD_SIZE='2'\n"
            "export RANK='1'\n");
}

TEST_CASE("a shell reads every text back as it was, and runs nothing") {
  Snapshot answer = small_answer();
  const std::string nasty = "it's \"$(exit 1)\" `exit 1` \\ $HOME !x\n* ; exit 1 # \xe5\xb7\xa5";
  answer.rpc_layer = nasty;
  CHECK(shell(show(answer, "env") + "printf %s \"$MUSTER_RPC_LAYER\"") == nasty);
  CHECK(shell(show(answer, "env") + "printf %s \"$TF_CONFIG\" | head -c 12") == "{\"cluster\": ");
  CHECK(shell_quote("") == "''");
  CHECK(shell_quote("'") == "''\\'''");
  CHECK(shell_quote("it's") == "'it'\\''s'");
}

TEST_CASE(
    "rank 0 is the chief's wherever it stands, IPv6 without brackets; no RANK without an "
    "identity") {
  Snapshot answer = small_answer();
  add(answer.spec, "chief", 0, "[fd00::9]:2222", "boss");
  answer.jobs.push_back({"chief", 1, std::nullopt, {}});
  std::string env = show(answer, "env");
  CHECK(env.find("MASTER_ADDR='fd00::9'\nexport MASTER_PORT='2222'\nexport WORLD_SIZE='3'\nexport "
                 "RANK='2'\n") != std::string::npos);
  answer.identity = {};
  env = show(answer, "env");
  CHECK(env.find("RANK=") == std::string::npos);
  CHECK(env.find("MUSTER_TASK_TYPE") == std::string::npos);
  CHECK(env.find("WORLD_SIZE='3'") != std::string::npos);
  FormatOptions options;
  options.task_type = "chief";
  options.task_id = 0;
  CHECK(show(answer, "env", options).find("RANK='0'") != std::string::npos);
  CHECK(show(answer, "addresses") == "[fd00::9]:2222\n10.0.0.1:8470\n10.0.0.2:8470\n");
  CHECK(show(answer, "names") == "boss\nworker-a\nworker-b\n");
}

TEST_CASE("an environment variable longer than Linux takes is refused") {
  Snapshot answer = small_answer();
  for (int32_t i = 2; i < 8000; ++i)
    add(answer.spec, "worker", i,
        ("10.1." + std::to_string(i / 250) + "." + std::to_string(i % 250) + ":8470").c_str());
  const Error error = failure(answer, "env");
  CHECK(error.code == Code::kFailedPrecondition);
  CHECK(error.message.find("Linux allows 131072 for one environment variable") !=
        std::string::npos);
  CHECK(show(answer, "tf_config").size() > 100000);
}

TEST_CASE("a hostfile has one line a host in rank order, as mpirun takes it") {
  Snapshot answer;
  add(answer.spec, "worker", 0, "h2:1");
  add(answer.spec, "worker", 1, "h2:2");
  add(answer.spec, "worker", 2, "h10:1");
  add(answer.spec, "worker", 3, "[fd00::1]:1");
  CHECK(show(answer, "hostfile") == "h2 slots=2\nh10 slots=1\nfd00::1 slots=1\n");
}

TEST_CASE(
    "a task without a name is called by job and index, and every task is one line of printable "
    "text") {
  Snapshot answer;
  add(answer.spec, "worker", 0, "h:1");
  add(answer.spec, "worker", 1, "h:2", "a\nb");
  add(answer.spec, "worker", 2, "h:3", "c\x1b[2J\u202e\u2028\u0085\v");
  add(answer.spec, "worker", 3, "h:4", "gr\u00fc\u00df");
  CHECK(show(answer, "names") ==
        "worker/0\n"
        "a\\x0ab\n"
        "c\\x1b[2J\\xe2\\x80\\xae\\xe2\\x80\\xa8\\xc2\\x85\\x0b\n"
        "gr\u00fc\u00df\n");
}

TEST_CASE(
    "an environment says that its answer is stale and since when, and a later one takes that "
    "back") {
  Snapshot answer = small_answer();
  const std::string fresh = show(answer, "env");
  answer.stale = true;
  answer.stale_since_ns = answer.time_ns + 60'000'000'000;
  const std::string stale = show(answer, "env");
  const std::string said = "printf '%s %s' \"$MUSTER_STATE\" \"${MUSTER_STALE_SINCE-unset}\"";
  CHECK(shell(stale + said) == "stale 2026-01-31T12:01:00.123Z");
  CHECK(shell(stale + fresh + said) == "fresh unset");
}

TEST_CASE("an empty cluster has no lines, and no world") {
  CHECK(show(Snapshot(), "addresses").empty());
  CHECK(show(Snapshot(), "hostfile").empty());
  CHECK(show(Snapshot(), "env").find("WORLD_SIZE") == std::string::npos);
}

TEST_CASE("formats that cannot show a gap refuse an incomplete answer and say what is missing") {
  for (const char* format : {"tf_config", "cluster_def", "cluster_def_binary", "env", "addresses",
                             "hostfile", "names"}) {
    const Error error = failure(full_answer(), format);
    CHECK(error.code == Code::kFailedPrecondition);
    CHECK(error.message.find(
              "the answer is incomplete (worker 2 of 4, ps 1, chief 0 (1 missing))") == 0);
    CHECK(error.message.find(
              "worker 2 is missing (worker-c): Pending: Insufficient google.com/tpu") !=
          std::string::npos);
    FormatOptions options;
    options.incomplete = true;
    CHECK(render(full_answer(), format, options).ok());
  }
}

TEST_CASE("export lines of another task, or of another scheme, are that one's") {
  const auto with = [](auto&& change) {
    FormatOptions options;
    change(options);
    return show(small_answer(), "env", options);
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  std::string env = with([](FormatOptions& asked) { asked.task_id = 0; });
  CHECK(has(env, "MUSTER_MASTER='grpc://10.0.0.1:8470'\nexport MUSTER_RPC_LAYER='grpc'\n"));
  CHECK(has(env, "MUSTER_TASK_ID='0'\nexport MUSTER_ADDRESS='10.0.0.1:8470'\n"));
  CHECK(has(env, "\"task\": {\"type\": \"worker\", \"index\": 0}"));
  CHECK(has(env, "RANK='0'"));
  env = with([](FormatOptions& asked) { asked.task_type = "worker"; });
  CHECK(has(env, "MUSTER_MASTER='grpc://10.0.0.2:8470'"));
  env = with([](FormatOptions& asked) { asked.rpc_layer = "http"; });
  CHECK(has(env, "MUSTER_MASTER='http://10.0.0.2:8470'\nexport MUSTER_RPC_LAYER='http'\n"));
  CHECK(has(env, "\"rpc_layer\": \"http\""));
  env = with([](FormatOptions& asked) {
    asked.task_type = "evaluator";
    asked.task_id = 0;
  });
  CHECK(has(env, "MUSTER_MASTER=''"));
  CHECK(has(env, "MUSTER_TASK_TYPE='evaluator'\nexport MUSTER_TASK_ID='0'\nexport TF_CONFIG="));
  CHECK_FALSE(has(env, "RANK="));
  FormatOptions asked;
  asked.task_id = 7;
  CHECK(failure(small_answer(), "env", asked).code == Code::kNotFound);
  CHECK(failure(small_answer(), "tf_config", asked).code == Code::kNotFound);
}

TEST_CASE("an evaluator outside of the cluster speaks for itself, one inside has to be there") {
  Snapshot answer = small_answer();
  FormatOptions options;
  options.task_type = "evaluator";
  options.task_id = 7;
  CHECK(render(answer, "tf_config", options).ok());
  CHECK(master(answer, "evaluator", 7, {}).error().code == Code::kNotFound);
  add(answer.spec, "evaluator", 0, "e:1");
  CHECK(failure(answer, "tf_config", options).code == Code::kNotFound);
}

TEST_CASE("the rank is this task's, not that of another job's task of the same index") {
  Snapshot answer = small_answer();
  add(answer.spec, "ps", 1, "p:1");
  const std::string env = show(answer, "env");
  CHECK(env.find("RANK='1'") != std::string::npos);
  CHECK(env.find("RANK=") == env.rfind("RANK="));
}

TEST_CASE("chief and master come first in the ranks, each once") {
  Snapshot answer;
  for (const char* job : {"worker", "master", "chief"})
    add(answer.spec, job, 0, (std::string(job) + ":1").c_str());
  CHECK(show(answer, "addresses") == "chief:1\nmaster:1\nworker:1\n");
}

TEST_CASE("an incomplete answer that is asked for says that it is one") {
  Snapshot answer = small_answer();
  answer.complete = false;
  FormatOptions options;
  options.incomplete = true;
  CHECK(show(answer, "env", options).find("MUSTER_COMPLETE='0'") != std::string::npos);
}

TEST_CASE("of the missing tasks five are told, with what is known of each") {
  Snapshot answer;
  answer.complete = false;
  answer.jobs = {{"worker", 0, 6, {{-1, "", ""}, {0, "", ""}, {1, "w-1", ""}, {2, "", "Pending"}}}};
  std::string message = failure(answer, "names").message;
  CHECK(
      message.find("\n  a task of worker is missing\n  worker 0 is missing\n  worker 1 is missing "
                   "(w-1)\n  worker 2 is missing: Pending") != std::string::npos);
  CHECK(message.find("and more") == std::string::npos);
  for (int64_t i = 3; i < 6; ++i) answer.jobs[0].missing.push_back({i, "", ""});
  message = failure(answer, "names").message;
  CHECK(message.find("worker 3 is missing\n  and more") != std::string::npos);
  CHECK(message.find("worker 4") == std::string::npos);
}

}  // namespace
}  // namespace muster
