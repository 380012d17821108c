// What a plugin may push in a call: core/plugin/sink.h.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "sink_world.h"

using namespace muster;
using namespace muster::testing;

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
  push.attribute("host", "n");
  push.attribute("zone", "z");
  push.attribute("host", "n1");
  push.attribute("zone", "");
  push.task("ps", 0, "", "b:1");
  push.task("worker", 1, "", "c:1");
  push.attribute("host", "n3");
  const BackendAnswer answer = push.answer();
  CHECK(answer.attributes == Attributes{{"environment", "test"}});
  CHECK(answer.spec.jobs()[0].tasks[0].attributes == Attributes{{"host", "n1"}, {"zone", ""}});
  CHECK(answer.spec.jobs()[0].tasks[1].attributes == Attributes{{"host", "n3"}});
  CHECK(answer.spec.jobs()[1].tasks[0].attributes.empty());
}

TEST_CASE("as many tasks may be expected as one call may push") {
  Pushes push;
  CHECK(push.expected("worker", 1'048'576) == MUSTER_OK);
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
  CHECK(answer.spec.jobs()[0].tasks[0].attributes == Attributes{{"token", "is REDACTED."}});
  CHECK(answer.warnings[0] == "saw REDACTED");
  CHECK(answer.jobs[0].missing[0].reason == "no REDACTED");
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
