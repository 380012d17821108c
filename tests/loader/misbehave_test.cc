// A plugin that misbehaves in a call: the error names it, its place and the duty, and there is no answer.
#include "tests/loader/world.h"

using namespace muster;
using namespace muster::test;

namespace {

Error error_of(const std::string& what) {
  World world("bad", "bad");
  return world.error("{\"do\": \"" + what + "\"}");
}

void check_duty(const std::string& what, const std::string& duty, const std::string& part) {
  CAPTURE(what);
  const Error error = error_of(what);
  CHECK(error.code == Code::kInternal);
  CHECK(error.detail("plugin") == "bad");
  CHECK(error.detail("path") == "cluster");
  CHECK(error.detail("duty") == duty);
  CHECK(has(error.message, "plugin 'bad' (cluster) misbehaved: "));
  CHECK(has(error.message, part));
  CHECK(has(error.message, "(" + duty + ")"));
}

}  // namespace

TEST_CASE("the same plugin answers when it behaves") {
  World world("bad", "bad");
  const Result<BackendAnswer> answer = world.answer("{\"do\": \"well\"}");
  REQUIRE(answer.ok());
  CHECK(answer->spec.task_count() == 1);
  CHECK(has(world.lines.text(), "destroyed"));
}

TEST_CASE("each nonsense that is pushed fails the call") {
  check_duty("duplicate_index", "MP-6",
             "job 'worker' has two tasks with index 0: 'w0' at '10.0.0.1:8470' and 'again' at "
             "'10.0.0.2:8470'");
  check_duty("negative_index", "MP-6", "has index -2");
  check_duty("empty_job", "MP-5", "");
  check_duty("mixed_ranks", "MP-8", "was pushed among ranked tasks");
  check_duty("invalid_utf8", "MP-4", "the name of a task is not valid UTF-8: '\\xc3('");
  check_duty("nul_in_address", "MP-4", "the address of a task has a NUL at byte 8");
  check_duty("bad_address", "MP-7", "'10.0.0.2' is not an address");
  check_duty("too_many", "MP-9", "more than 1048576 tasks in one call");
}

TEST_CASE("a refused push is not made up for by going on, nor hidden behind another error") {
  check_duty("ignores_refusal", "MP-6", "has index -2");
  check_duty("hides_refusal", "MP-6", "has index -2");
}

TEST_CASE("OK after an error is no answer, unless the error was taken back") {
  check_duty("ok_with_error", "MP-10",
             "resolve returned OK after it had set an error: NOT_FOUND: nothing here");
  World world("bad", "bad");
  CHECK(world.answer("{\"do\": \"ok_after_taking_back\"}").ok());
}

TEST_CASE("a failure comes through with its code and words") {
  const Error error = error_of("fails");
  CHECK(error.code == Code::kNotFound);
  CHECK(error.message == "no pod matches");
  CHECK(error.detail("plugin") == "bad");
}

TEST_CASE("a failure without words is worded, and a code that is none is a fault") {
  const Error silent = error_of("fails_silently");
  CHECK(silent.code == Code::kUnavailable);
  CHECK(silent.message == "plugin 'bad' failed with UNAVAILABLE and did not say why (MP-11)");
  check_duty("odd_code", "MP-11", "resolve returned 4711, which is no code");
}

TEST_CASE("create that fails says so with the place in the options") {
  const Error error = error_of("create_fails");
  CHECK(error.code == Code::kInvalidArgument);
  CHECK(error.message == "no such zone");
  CHECK(error.detail("option") == "/do");
  CHECK(error.detail("path") == "cluster");
  CHECK(error_of("create_fails_silently").message ==
        "plugin 'bad' failed with UNAVAILABLE and did not say why (MP-11)");
}

TEST_CASE("create that contradicts itself is refused, and what it made is destroyed") {
  check_duty("create_returns_odd_code", "MP-11", "create returned -5, which is no code");
  check_duty("create_makes_nothing", "MP-22", "create returned OK and made no resolver");
  World world("bad", "bad");
  const Error error = world.error("{\"do\": \"create_succeeds_with_error\"}");
  CHECK(error.detail("duty") == "MP-10");
  CHECK(has(error.message,
            "create returned OK after it had set an error: NOT_FOUND: half a success"));
  CHECK(has(world.lines.text(), "destroyed"));
}

TEST_CASE("an exception that leaves a function is told, and stops nothing") {
  World world("throws", "throws");
  const Error create = world.error("{\"at\": \"create\"}");
  CHECK(create.detail("duty") == "MP-13");
  CHECK(has(create.message, "create failed: a C++ exception left it: 'from create' (MP-13)"));
  const Error resolve = world.error("{\"at\": \"resolve\"}");
  CHECK(resolve.code == Code::kInternal);
  CHECK(has(resolve.message,
            "plugin 'throws' (cluster) misbehaved: resolve failed: a C++ exception left it: 'from "
            "resolve' (MP-13)"));
  CHECK(has(world.error("{\"at\": \"number\"}").message, "that is no std::exception"));
  CHECK(world.answer("{\"at\": \"destroy\"}").ok());
  CHECK(has(world.lines.text(), "destroy failed: a C++ exception left it: 'from destroy' (MP-13)"));
}

TEST_CASE(
    "a failure of a service that a C++ backend does not mind is no failure of its call (MP-10)") {
  World world("tolerates", "tolerates");
  const Result<BackendAnswer> answer = world.answer();
  if (!answer) FAIL(answer.error().message);
  CHECK(answer->spec.task_count() == 1);
  const Error error = world.error(R"({"fails": true})");
  CHECK(error.code == Code::kNotFound);
  CHECK(has(error.message, "/nowhere/at/all"));
}

TEST_CASE("a C++ backend whose memory ends fails with RESOURCE_EXHAUSTED") {
  const Error error = World("tolerates", "tolerates").error(R"({"no_memory": true})");
  CHECK(error.code == Code::kResourceExhausted);
  CHECK(error.message == "out of memory");
}
