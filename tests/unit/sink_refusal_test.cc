// What is said when a plugin pushes what it may not. Each refusal cites its duty.
#include <thread>

#include "sink_world.h"

using namespace muster;
using namespace muster::testing;

TEST_CASE("a struct_size that was not set is refused") {
  Pushes push;
  const muster_task_v1 task{};
  CHECK(push.table()->add_task(push.table(), &task) == MUSTER_E_INVALID_ARGUMENT);
  CHECK(push.complaint() ==
        said("the struct_size of a muster_task_v1 is 0; it must be sizeof(muster_task_v1) (MP-3)"));
  Pushes null;
  CHECK(null.table()->add_task(null.table(), nullptr) != MUSTER_OK);
  CHECK(null.complaint() == said("the muster_task_v1 is NULL (MP-3)"));
}

TEST_CASE("a refused push fails the call although the plugin goes on and returns OK") {
  Pushes push;
  push.task("worker", 0, "", "a:1");
  CHECK(push.task("worker", -2, "", "b:1") == MUSTER_E_INVALID_ARGUMENT);
  CHECK(push.task("worker", 1, "", "c:1") == MUSTER_OK);
  CHECK(push.complaint() == said("a task of job 'worker' has index -2, which is neither "
                                 "MUSTER_UNRANKED (-1) nor 0 to 2147483647 (MP-6)"));
}

TEST_CASE("each nonsense is refused with its duty and the value") {
  const auto complaint = [](auto&& body) {
    Pushes push;
    CHECK(body(push) != MUSTER_OK);
    return push.complaint();
  };
  using std::string_view;
  CHECK(complaint([](Pushes& p) { return p.task("w", 0, "\xff\xfe", "a:1"); }) ==
        said("the name of a task is not valid UTF-8: '\\xff\\xfe' (MP-4)"));
  CHECK(complaint([](Pushes& p) { return p.task("w", 0, "", string_view("a\0b:1", 5)); }) ==
        said("the address of a task has a NUL at byte 1: 'a\\x00b:1' (MP-4)"));
  CHECK(complaint([](Pushes& p) { return p.job(std::string(70'000, 'x')); }) ==
        said("the name of a job has 70000 bytes, more than 65536 (MP-9)"));
  CHECK(has(complaint([](Pushes& p) { return p.task("", 0, "", "a:1"); }), "(MP-5)"));
  CHECK(has(complaint([](Pushes& p) { return p.job("a\nb"); }), "(MP-5)"));
  CHECK(has(complaint([](Pushes& p) { return p.job(std::string(256, 'x')); }), "(MP-5)"));
  CHECK(has(complaint([](Pushes& p) { return p.task("w", 2147483648, "n", "a:1"); }),
            "a task named 'n' of job 'w' has index 2147483648"));
  CHECK(has(complaint([](Pushes& p) {
              p.task("w", 4, "x", "a:1");
              return p.task("w", 4, "y", "b:1");
            }),
            "job 'w' has two tasks with index 4: 'x' at 'a:1' and 'y' at 'b:1' (MP-6)"));
  CHECK(has(complaint([](Pushes& p) { return p.task("w", 0, "n", "10.0.0.1"); }),
            "task 0 named 'n' of job 'w': '10.0.0.1' is not an address"));
  CHECK(has(complaint([](Pushes& p) { return p.task("w", 0, "", "a", 70000); }),
            "port 70000 is not 1 to 65535, or 0 for the one in the address (MP-7)"));
  CHECK(has(complaint([](Pushes& p) { return p.task("w", 0, "", "", 1); }), "(MP-7)"));
  CHECK(has(complaint([](Pushes& p) {
              p.task("w", 0, "", "a:1");
              return p.task("w", -1, "u", "b:1");
            }),
            "an unranked task named 'u' of job 'w' was pushed among ranked tasks; one job does not "
            "mix the two (MP-8)"));
  CHECK(has(complaint([](Pushes& p) { return p.task("w", -1, "", "b:1"); }),
            "an unranked task of job 'w' has no name, by which it could be ranked (MP-8)"));
  CHECK(has(complaint([](Pushes& p) { return p.attribute("", "x"); }),
            "the key of an attribute is empty (MP-4)"));
  CHECK(has(complaint([](Pushes& p) { return p.missing("w", 0, "", ""); }),
            "the reason why task 0 of job 'w' is missing is empty (MP-4)"));
  CHECK(has(complaint([](Pushes& p) { return p.missing("w", -7, "", "x"); }), "has index -7"));
  CHECK(has(complaint([](Pushes& p) { return p.expected("w", -1); }),
            "the expected number of tasks of job 'w' is -1; it is 0 to 1048576 (MP-21)"));
  CHECK(has(complaint([](Pushes& p) { return p.expected("w", 1'048'577); }),
            "the expected number of tasks of job 'w' is 1048577; it is 0 to 1048576 (MP-21)"));
  CHECK(has(complaint([](Pushes& p) { return p.identity("w", -1, "", "e"); }),
            "an identity has neither a job with an index nor a name (MP-20)"));
  CHECK(has(complaint([](Pushes& p) { return p.identity("w", 0, "", ""); }),
            "the evidence of an identity is empty (MP-4)"));
  CHECK(has(complaint([](Pushes& p) { return p.warning(""); }), "a warning is empty (MP-4)"));
  CHECK(has(complaint([](Pushes& p) {
              int32_t code = MUSTER_OK;
              std::thread([&] { code = p.job("w"); }).join();
              return code;
            }),
            "(MP-15)"));
}

TEST_CASE("what can only be seen at the end is told then") {
  const auto complaint = [](auto&& body) {
    Pushes push;
    body(push);
    return push.complaint();
  };
  CHECK(complaint([](Pushes& p) {
          p.task("w", -1, "x", "a:1");
          p.task("w", -1, "x", "b:1");
        }) == said("two unranked tasks of job 'w' are named 'x': 'a:1' and 'b:1' (MP-8)"));
  CHECK(complaint([](Pushes& p) {
          p.task("w", 1, "", "a:1");
          p.missing("w", 1, "", "Pending");
        }) ==
        said("task 1 of job 'w' is told both found, at 'a:1', and missing: 'Pending' (MP-6)"));
  CHECK(complaint([](Pushes& p) {
          p.missing("w", 1, "", "one");
          p.missing("w", 1, "", "two");
        }) == said("task 1 of job 'w' is told missing twice: 'one' and 'two' (MP-6)"));
  CHECK(complaint([](Pushes& p) {
          p.task("w", -1, "x", "a:1");
          p.missing("w", -1, "x", "Pending");
        }) ==
        said("task 'x' of job 'w' is told both found, at 'a:1', and missing: 'Pending' (MP-8)"));
  CHECK(complaint([](Pushes& p) {
          p.missing("w", -1, "x", "Pending");
          p.missing("w", -1, "x", "Failed");
        }) == said("task 'x' of job 'w' is told missing twice: 'Pending' and 'Failed' (MP-8)"));
  CHECK(complaint([](Pushes& p) {
          p.task("w", -1, "x", "a:1");
          p.missing("w", 3, "y", "Pending");
        }) == said("task 3 named 'y' of job 'w' is told missing among unranked tasks; one job does "
                   "not mix the two (MP-8)"));
  CHECK(complaint([](Pushes& p) {
          p.task("w", 0, "", "a:1");
          p.identity("w", 1, "", "HOSTNAME");
        }) ==
        said("this process is told to be task 1 of job 'w' ('HOSTNAME'), which is neither among "
             "the tasks of this call nor among the missing ones (MP-20)"));
  CHECK(complaint([](Pushes& p) {
          p.task("a", 0, "x", "a:1");
          p.task("b", 0, "x", "b:1");
          p.identity("", -1, "x", "uid");
        }) == said("this process is told to be a task named 'x' ('uid'), of which there are 2 in "
                   "this call (MP-20)"));
  CHECK(complaint([](Pushes& p) {
          p.task("a", 0, "x", "a:1");
          p.identity("a", 0, "y", "uid");
        }) == said("this process is told to be task 0 of job 'a' ('uid') and named 'y', but that "
                   "task is named 'x' (MP-20)"));
}

TEST_CASE("two identities that differ are a conflict that names both evidences") {
  Pushes push;
  push.task("worker", 0, "a", "a:1");
  push.task("worker", 1, "b", "b:1");
  push.identity("worker", 0, "", "uid is a's");
  push.identity("worker", 1, "", "HOSTNAME is b");
  const Result<BackendAnswer> result = push.sink->finish(MUSTER_OK, {});
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == Code::kFailedPrecondition);
  CHECK(result.error().message ==
        "this process is told to be two tasks: task 0 named 'a' of job 'worker' ('uid is a's') and "
        "task 1 named 'b' of job 'worker' ('HOSTNAME is b')");
}

TEST_CASE("OK after an error was set is no answer") {
  Pushes push;
  const Result<BackendAnswer> result =
      push.sink->finish(MUSTER_OK, Error{Code::kNotFound, "no pod", {}});
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == Code::kInternal);
  CHECK(result.error().detail("duty") == "MP-10");
  CHECK(has(result.error().message,
            "resolve returned OK after it had set an error: NOT_FOUND: no pod"));
}

TEST_CASE(
    "no secret shows up in a conflict of identities, nor in any other field that tells something") {
  Pushes conflict;
  conflict.secrets->add("hunter22");
  conflict.task("worker", 0, "a", "a:1");
  conflict.task("worker", 1, "b", "b:1");
  conflict.identity("worker", 0, "", "token hunter22 is a's");
  conflict.identity("worker", 1, "", "HOSTNAME is b");
  const Result<BackendAnswer> result = conflict.sink->finish(MUSTER_OK, {});
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().message.find("hunter22") == std::string::npos);

  Pushes failed;
  failed.secrets->add("hunter22");
  const Result<BackendAnswer> failure = failed.sink->finish(
      MUSTER_E_NOT_FOUND, Error{Code::kNotFound, "hunter22", {{"endpoint", "hunter22"}}});
  REQUIRE_FALSE(failure.ok());
  CHECK(failure.error().message == "REDACTED");
  CHECK(failure.error().detail("endpoint") == "REDACTED");

  Pushes push;
  push.secrets->add("hunter22");
  push.attribute("a", "hunter22");
  push.task("worker", 0, "", "a:1");
  push.attribute("b", "hunter22");
  push.missing("worker", 1, "", "hunter22");
  push.identity("worker", 0, "", "hunter22");
  push.warning("hunter22");
  const BackendAnswer answer = push.answer();
  CHECK(answer.attributes[0].second == "REDACTED");
  CHECK(answer.spec.jobs()[0].tasks[0].attributes == Attributes{{"b", "REDACTED"}});
  CHECK(answer.jobs[0].missing[0].reason == "REDACTED");
  CHECK(answer.identity.evidence[0] == "REDACTED");
  CHECK(answer.warnings[0] == "REDACTED");
}

TEST_CASE("one task too many is refused, and so is the answer") {
  Pushes push;
  for (int64_t i = 0; i < MUSTER_TASKS_MAXIMUM; ++i) {
    if (push.task("w", i, "", "a", 1) != MUSTER_OK) FAIL("refused too early");
  }
  CHECK(push.task("w", MUSTER_TASKS_MAXIMUM, "", "a", 1) == MUSTER_E_RESOURCE_EXHAUSTED);
  CHECK(push.complaint() == said("more than 1048576 tasks in one call (MP-9)"));
}
