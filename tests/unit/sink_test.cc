// What a plugin may push in a call, and what is said when it may not: core/plugin/sink.h. Each refusal cites its duty.
#include "core/plugin/sink.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <thread>

using namespace muster;

namespace {

// A call as a plugin sees it.
class Pushes {
 public:
  Pushes()
      : secrets(std::make_shared<Secrets>()),
        sink(std::make_shared<SinkCall>(Session::live(std::make_shared<const Log>(), secrets),
                                        "cluster.merge[0]", "toy", monotonic_ns() + 60'000'000'000,
                                        CancelToken())) {
    sink->begin();
  }

  const muster_call_v1* table() const { return sink->table(); }

  int32_t task(std::string_view job, int64_t index, std::string_view name, std::string_view address,
               int64_t port = 0) {
    const muster_task_v1 task{sizeof task, job.data(),     job.size(),     index, name.data(),
                              name.size(), address.data(), address.size(), port};
    return table()->add_task(table(), &task);
  }
  int32_t missing(std::string_view job, int64_t index, std::string_view name,
                  std::string_view reason) {
    const muster_missing_v1 missing{sizeof missing, job.data(),  job.size(),    index,
                                    name.data(),    name.size(), reason.data(), reason.size()};
    return table()->add_missing(table(), &missing);
  }
  int32_t identity(std::string_view job, int64_t index, std::string_view name,
                   std::string_view evidence) {
    const muster_identity_v1 identity{sizeof identity, job.data(),     job.size(),
                                      index,           name.data(),    name.size(),
                                      evidence.data(), evidence.size()};
    return table()->set_identity(table(), &identity);
  }
  int32_t job(std::string_view name) { return table()->add_job(table(), name.data(), name.size()); }
  int32_t attribute(std::string_view key, std::string_view value) {
    return table()->set_attribute(table(), key.data(), key.size(), value.data(), value.size());
  }
  int32_t expected(std::string_view job, int64_t count) {
    return table()->set_expected(table(), job.data(), job.size(), count);
  }
  int32_t warning(std::string_view text) {
    return table()->add_warning(table(), text.data(), text.size());
  }

  BackendAnswer answer() {
    Result<BackendAnswer> result = sink->finish(MUSTER_OK, {});
    if (!result) FAIL(result.error().message);
    return std::move(*result);
  }
  // What the user is told although the plugin returned OK.
  std::string complaint() {
    const Result<BackendAnswer> result = sink->finish(MUSTER_OK, {});
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().code == Code::kInternal);
    CHECK(result.error().detail("plugin") == "toy");
    CHECK(result.error().detail("path") == "cluster.merge[0]");
    return result.error().message;
  }

  std::shared_ptr<Secrets> secrets;
  std::shared_ptr<SinkCall> sink;
};

std::string said(const std::string& what) {
  return "plugin 'toy' (cluster.merge[0]) misbehaved: " + what;
}

bool has(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != std::string::npos;
  if (!found) MESSAGE(text);
  return found;
}

}  // namespace

TEST_CASE("ranked tasks keep their index, jobs the order in which they were named") {
  Pushes push;
  CHECK(push.job("ps") == MUSTER_OK);
  CHECK(push.task("worker", 2, "w2", "10.0.0.2:8470") == MUSTER_OK);
  CHECK(push.task("worker", 0, "w0", "fd00::1", 8470) == MUSTER_OK);
  CHECK(push.job("evaluator") == MUSTER_OK);

  const BackendAnswer answer = push.answer();

  REQUIRE(answer.spec.jobs().size() == 3);
  CHECK(answer.spec.jobs()[0].name == "ps");
  CHECK(answer.spec.jobs()[0].tasks.empty());
  CHECK(answer.spec.jobs()[2].name == "evaluator");
  const Job& worker = answer.spec.jobs()[1];
  REQUIRE(worker.tasks.size() == 2);
  CHECK(worker.tasks[0].index == 0);
  CHECK(worker.tasks[0].address.to_string() == "[fd00::1]:8470");
  CHECK(worker.tasks[1].index == 2);
  CHECK(worker.tasks[1].name == "w2");
}

TEST_CASE("unranked tasks are ranked by natural order of name") {
  Pushes push;
  for (const char* name : {"w-10", "w-2", "w-1"})
    CHECK(push.task("worker", MUSTER_UNRANKED, name, "h:1") == MUSTER_OK);
  const BackendAnswer answer = push.answer();
  const Job& worker = answer.spec.jobs()[0];
  CHECK(worker.tasks[0].name == "w-1");
  CHECK(worker.tasks[1].name == "w-2");
  CHECK(worker.tasks[2].name == "w-10");
  CHECK(worker.tasks[2].index == 2);
}

TEST_CASE("a missing member with a name holds its place among the unranked, so no rank moves") {
  Pushes push;
  push.task("worker", MUSTER_UNRANKED, "w-10", "h:1");
  push.missing("worker", MUSTER_UNRANKED, "w-1", "Pending");
  push.task("worker", MUSTER_UNRANKED, "w-2", "h:1");
  push.missing("worker", MUSTER_UNRANKED, "", "one more is to come");
  push.task("worker", MUSTER_UNRANKED, "w-0", "h:1");
  push.missing("ps", MUSTER_UNRANKED, "ps-1", "Pending");
  push.missing("ps", MUSTER_UNRANKED, "ps-0", "Pending");
  push.missing("chief", 1, "c-1", "Pending");
  push.missing("chief", MUSTER_UNRANKED, "c-0", "Pending");

  const BackendAnswer answer = push.answer();

  const Job& worker = answer.spec.jobs()[0];
  CHECK(worker.find(0)->name == "w-0");
  CHECK(worker.find(1) == nullptr);
  CHECK(worker.find(2)->name == "w-2");
  CHECK(worker.find(3)->name == "w-10");
  CHECK(answer.jobs[0].missing[0].index == 1);
  CHECK(answer.jobs[0].missing[1].index == -1);
  CHECK(answer.jobs[1].missing[0].index == 1);
  CHECK(answer.jobs[1].missing[1].index == 0);
  // A job that has an index of its own keeps to those.
  CHECK(answer.jobs[2].missing[0].index == 1);
  CHECK(answer.jobs[2].missing[1].index == -1);
}

TEST_CASE(
    "an attribute is of the task added last, or of the cluster before any; the last value of a key "
    "counts") {
  Pushes push;
  push.attribute("environment", "google");
  push.attribute("environment", "test");
  push.task("worker", 0, "", "a:1");
  push.attribute("host", "n1");
  push.task("ps", 0, "", "b:1");
  push.task("worker", 1, "", "c:1");
  push.attribute("host", "n3");
  const BackendAnswer answer = push.answer();
  CHECK(answer.attributes == Attributes{{"environment", "test"}});
  CHECK(answer.spec.jobs()[0].tasks[0].attributes == Attributes{{"host", "n1"}});
  CHECK(answer.spec.jobs()[0].tasks[1].attributes == Attributes{{"host", "n3"}});
  CHECK(answer.spec.jobs()[1].tasks[0].attributes.empty());
}

TEST_CASE("expected, missing and warnings are told as they were said") {
  Pushes push;
  push.task("worker", 0, "", "a:1");
  CHECK(push.expected("worker", 3) == MUSTER_OK);
  CHECK(push.missing("worker", 2, "w2", "Pending") == MUSTER_OK);
  CHECK(push.missing("ps", MUSTER_UNRANKED, "", "no address yet") == MUSTER_OK);
  CHECK(push.warning("two networks") == MUSTER_OK);
  const BackendAnswer answer = push.answer();
  REQUIRE(answer.jobs.size() == 2);
  CHECK(answer.jobs[0].found == 1);
  CHECK(answer.jobs[0].expected == 3);
  CHECK(answer.jobs[0].missing[0].reason == "Pending");
  CHECK(answer.jobs[1].name == "ps");
  CHECK_FALSE(answer.jobs[1].expected.has_value());
  CHECK(answer.spec.find("ps") == nullptr);  // only told missing
  CHECK(answer.warnings == std::vector<std::string>{"two networks"});
}

TEST_CASE("texts may end with NUL instead of having a size, and an absent name may be NULL") {
  Pushes push;
  const uint64_t n = MUSTER_NUL_TERMINATED;
  const muster_task_v1 task{sizeof task, "worker", n, 0, nullptr, n, "a:1", n, 0};
  CHECK(push.table()->add_task(push.table(), &task) == MUSTER_OK);
  CHECK(push.answer().spec.jobs()[0].tasks[0].address.to_string() == "a:1");
}

TEST_CASE(
    "a struct of an older minor is shorter: what it lacks is zero; of a newer one longer: what we "
    "do not know is not read") {
  Pushes push;
  muster_task_v1 old{offsetof(muster_task_v1, port), "worker", 6, 0, "", 0, "a:1", 3, 99999};
  CHECK(push.table()->add_task(push.table(), &old) == MUSTER_OK);
  struct {
    muster_task_v1 task;
    char more[64];
  } longer = {{sizeof longer, "worker", 6, 1, "", 0, "b:1", 3, 0}, {1}};
  CHECK(push.table()->add_task(push.table(), &longer.task) == MUSTER_OK);
  CHECK(push.answer().spec.task_count() == 2);
}

TEST_CASE("of a short struct nothing behind its end is touched") {
  // At the very end of a page with nothing readable behind it.
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  auto* pages = static_cast<char*>(
      ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(pages != MAP_FAILED);
  REQUIRE(::mprotect(pages + page, page, PROT_NONE) == 0);
  for (uint64_t size = sizeof size; size < sizeof(muster_task_v1); size += 8) {
    muster_task_v1 task{size, "worker", 6, static_cast<int64_t>(size), "", 0, "a:1", 3, 0};
    char* end = pages + page - size;
    std::memcpy(end, &task, size);
    Pushes push;
    const int32_t code =
        push.table()->add_task(push.table(), reinterpret_cast<const muster_task_v1*>(end));
    CHECK((code == MUSTER_OK) ==
          (size >= offsetof(muster_task_v1, port)));  // without an address it is no task
  }
  ::munmap(pages, 2 * page);
}

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
        said("the name of a job has 70000 bytes, more than 65536 (MP-4)"));
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
            "the expected number of tasks of job 'w' is -1; it is 0 or more (MP-21)"));
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

TEST_CASE(
    "an identity by name gets the index that the ranking gave, and may come before its task") {
  Pushes push;
  push.identity("", MUSTER_UNRANKED, "w-2", "pod uid 5e0c is w-2");
  for (const char* name : {"w-10", "w-2", "w-1"}) push.task("worker", MUSTER_UNRANKED, name, "h:1");
  push.identity("worker", MUSTER_UNRANKED, "w-2", "HOSTNAME is w-2");
  const BackendAnswer answer = push.answer();
  CHECK(answer.identity.type == "worker");
  CHECK(answer.identity.index == 1);
  CHECK(answer.identity.evidence ==
        std::vector<std::string>{"pod uid 5e0c is w-2", "HOSTNAME is w-2"});
}

TEST_CASE("an identity may be of a missing task") {
  Pushes push;
  push.missing("worker", 3, "w-3", "Pending");
  push.identity("worker", MUSTER_UNRANKED, "w-3", "HOSTNAME");
  const BackendAnswer answer = push.answer();
  CHECK(answer.identity.index == 3);
  Pushes unranked;
  unranked.task("worker", MUSTER_UNRANKED, "w-2", "a:1");
  unranked.missing("worker", MUSTER_UNRANKED, "w-3", "Pending");
  unranked.identity("", MUSTER_UNRANKED, "w-3", "HOSTNAME");
  CHECK(unranked.answer().identity.index == 1);
  Pushes nowhere;
  nowhere.task("worker", 0, "w-0", "a:1");
  nowhere.missing("worker", MUSTER_UNRANKED, "w-3", "Pending");
  nowhere.identity("worker", MUSTER_UNRANKED, "w-3", "HOSTNAME");
  const BackendAnswer unknown = nowhere.answer();
  CHECK_FALSE(unknown.identity.known());
  CHECK(unknown.warnings ==
        std::vector<std::string>{"this process is 'w-3' of job 'worker', which is missing, so its "
                                 "index is not known (HOSTNAME)"});
}

TEST_CASE("an identity of a job of which nothing is said stands outside of the cluster") {
  Pushes push;
  push.task("worker", 0, "", "a:1");
  push.job("evaluator");
  push.identity("evaluator", 0, "", "TF_CONFIG says so");
  const BackendAnswer answer = push.answer();
  CHECK(answer.identity.type == "evaluator");
  CHECK(answer.identity.index == 0);
  Pushes alone;
  alone.identity("worker", 4, "", "TF_CONFIG says so");
  CHECK(alone.answer().identity.index == 4);
  // Where something is said of the job, the index must be one of it; a name alone is always one of the call.
  const auto refused = [](auto&& body) {
    Pushes wrong;
    body(wrong);
    return has(wrong.complaint(), "(MP-20)");
  };
  CHECK(refused([](Pushes& p) {
    p.missing("w", 0, "", "Pending");
    p.identity("w", 1, "", "HOSTNAME");
  }));
  CHECK(refused([](Pushes& p) {
    p.expected("w", 2);
    p.identity("w", 1, "", "HOSTNAME");
  }));
  CHECK(refused([](Pushes& p) { p.identity("w", MUSTER_UNRANKED, "w-1", "HOSTNAME"); }));
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

TEST_CASE("a failure keeps its code, words and details; one without words is worded by the core") {
  Pushes push;
  const Result<BackendAnswer> told = push.sink->finish(
      MUSTER_E_NOT_FOUND, Error{Code::kUnknown, "no pod", {{"http_status", "404"}}});
  REQUIRE_FALSE(told.ok());
  CHECK(told.error().code == Code::kNotFound);
  CHECK(told.error().message == "no pod");
  CHECK(told.error().detail("http_status") == "404");
  CHECK(told.error().detail("plugin") == "toy");
  const Result<BackendAnswer> silent = push.sink->finish(MUSTER_E_UNAVAILABLE, {});
  REQUIRE_FALSE(silent.ok());
  CHECK(silent.error().message ==
        "plugin 'toy' failed with UNAVAILABLE and did not say why (MP-11)");
  const Result<BackendAnswer> odd = push.sink->finish(77, {});
  REQUIRE_FALSE(odd.ok());
  CHECK(odd.error().code == Code::kInternal);
  CHECK(has(odd.error().message, "resolve returned 77, which is no code (MP-11)"));
}

TEST_CASE("a secret that the plugin marked shows up nowhere in what is told") {
  Pushes push;
  push.table()->mark_secret(push.table(), "hunter2hunter2", MUSTER_NUL_TERMINATED);
  push.task("worker", 0, "", "a:1");
  push.attribute("token", "is hunter2hunter2.");
  push.warning("saw hunter2hunter2");
  push.missing("ps", 0, "", "no hunter2hunter2");
  const BackendAnswer answer = push.answer();
  CHECK(answer.spec.jobs()[0].tasks[0].attributes[0].second == "is REDACTED.");
  CHECK(answer.warnings[0] == "saw REDACTED");
  CHECK(answer.jobs[0].missing[0].reason == "no REDACTED");
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
  CHECK(answer.spec.jobs()[0].tasks[0].attributes[0].second == "REDACTED");
  CHECK(answer.jobs[0].missing[0].reason == "REDACTED");
  CHECK(answer.identity.evidence[0] == "REDACTED");
  CHECK(answer.warnings[0] == "REDACTED");
}

TEST_CASE("is_cancelled says so at a cancel and at the deadline") {
  const CancelToken cancel;
  const auto session = Session::live(std::make_shared<const Log>(), std::make_shared<Secrets>());
  const auto running = std::make_shared<SinkCall>(session, "p", "toy",
                                                  monotonic_ns() + 60'000'000'000, cancel.child());
  CHECK(running->table()->is_cancelled(running->table()) == 0);
  cancel.cancel();
  CHECK(running->table()->is_cancelled(running->table()) == 1);
  const auto late =
      std::make_shared<SinkCall>(session, "p", "toy", monotonic_ns() - 1, CancelToken());
  CHECK(late->table()->is_cancelled(late->table()) == 1);
}

TEST_CASE("one task too many is refused, and so is the answer") {
  Pushes push;
  for (int64_t i = 0; i < MUSTER_TASKS_MAXIMUM; ++i) {
    if (push.task("w", i, "", "a", 1) != MUSTER_OK) FAIL("refused too early");
  }
  CHECK(push.task("w", MUSTER_TASKS_MAXIMUM, "", "a", 1) == MUSTER_E_RESOURCE_EXHAUSTED);
  CHECK(push.complaint() == said("more than 1048576 tasks in one call (MP-9)"));
}

TEST_CASE("a hundred thousand tasks are taken, ranked by the plugin or by name") {
  for (const bool ranked : {true, false}) {
    Pushes push;
    for (int i = 0; i < 100'000; ++i) {
      const std::string address =
          "10.0." + std::to_string(i / 256 % 256) + "." + std::to_string(i % 256) + ":8470";
      push.task("worker", ranked ? i : MUSTER_UNRANKED, "worker-" + std::to_string(i), address);
    }
    const BackendAnswer answer = push.answer();
    REQUIRE(answer.spec.task_count() == 100'000);
    CHECK(answer.spec.task_address("worker", 99'999)->to_string() == "10.0.134.159:8470");
  }
}
