#include <doctest/doctest.h>

#include <memory>

#include <string>

#include "core/spec/cluster_spec.h"

namespace muster {
namespace {

Task task(int32_t index, const std::string& address, const std::string& name = "") {
  return Task{index, Address::parse(address).value(), name, {}};
}

std::string address_of(int i) {
  return "10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250) + ":8470";
}

TEST_CASE("copies of a task share their texts, are changed apart and outlive one another") {
  const Attributes attributes = {{"host", "n1"}, {"zone", ""}};
  auto task = std::make_unique<Task>(0, *Address::parse("a:1"), "w-0", attributes);
  Task copy = *task;
  CHECK(copy.name.view().data() == task->name.view().data());
  copy.name = "w-1";
  copy.attributes = Attributes{};
  CHECK(task->name == "w-0");
  CHECK(task->attributes == attributes);
  Task last = *task;
  task.reset();
  copy = last;
  CHECK(copy.name == "w-0");
  CHECK(Attributes(last.attributes) == attributes);
  CHECK(Task().name.empty());
  CHECK(Task().attributes.empty());
}

TEST_CASE("tasks are kept by index, whatever order they come in") {
  ClusterSpec spec;
  for (const int index : {2, 0, 5, 1})
    REQUIRE(spec.add_task("worker", task(index, address_of(index))).ok());
  const Job* job = spec.find("worker");
  REQUIRE(job != nullptr);
  CHECK(job->tasks[0].index == 0);
  CHECK(job->tasks[3].index == 5);
  CHECK(job->find(5)->address.to_string() == "10.0.0.5:8470");
  CHECK(job->find(3) == nullptr);
  CHECK(job->find(-1) == nullptr);
  CHECK(job->find(int64_t{1} << 32) == nullptr);
  CHECK(spec.task_count() == 4);
}

TEST_CASE("a job is dense when its indices are 0 to n-1, and when it has no tasks") {
  ClusterSpec spec;
  REQUIRE(spec.add_job("empty").ok());
  REQUIRE(spec.add_task("list", task(1, "b:1")).ok());
  CHECK_FALSE(spec.find("list")->dense());
  REQUIRE(spec.add_task("list", task(0, "a:1")).ok());
  CHECK(spec.find("list")->dense());
  CHECK(spec.find("empty")->dense());
}

TEST_CASE("an index that is taken is refused with both addresses, and nothing changes") {
  ClusterSpec spec;
  REQUIRE(spec.add_task("worker", task(3, "a:1")).ok());
  const Status again = spec.add_task("worker", task(3, "b:2"));
  REQUIRE_FALSE(again.ok());
  CHECK(again.error().code == Code::kAlreadyExists);
  CHECK(again.error().message == "job 'worker' has two tasks with index 3: 'a:1' and 'b:2'");
  CHECK(spec.task_count() == 1);
}

TEST_CASE("a negative index is refused, and does not make the job (mends SPEC-1)") {
  ClusterSpec spec;
  const Status negative = spec.add_task("worker", task(-1, "a:1"));
  REQUIRE_FALSE(negative.ok());
  CHECK(negative.error().code == Code::kInvalidArgument);
  CHECK(negative.error().message.find("index -1; indices are 0 to 2147483647") !=
        std::string::npos);
  CHECK(spec.empty());
  CHECK(spec.add_task("worker", task(2147483647, "a:1")).ok());
}

TEST_CASE("many tasks at once come in any order, and all or none") {
  ClusterSpec spec;
  REQUIRE(spec.add_tasks("worker", {task(4, "e:1"), task(0, "a:1"), task(2, "c:1")}).ok());
  REQUIRE(spec.add_tasks("worker", {task(3, "d:1"), task(1, "b:1")}).ok());
  CHECK(spec.find("worker")->dense());
  CHECK(spec.find("worker")->find(3)->address.host() == "d");

  const Status taken = spec.add_tasks("worker", {task(9, "x:1"), task(2, "y:1")});
  REQUIRE_FALSE(taken.ok());
  CHECK(taken.error().message == "job 'worker' has two tasks with index 2: 'c:1' and 'y:1'");
  CHECK(spec.task_count() == 5);
  CHECK(spec.add_tasks("worker", {task(9, "x:1"), task(9, "y:1")}).error().code ==
        Code::kAlreadyExists);
  CHECK(spec.add_tasks("worker", {task(-7, "x:1")}).error().code == Code::kInvalidArgument);
  CHECK(spec.add_tasks("", {task(0, "x:1")}).error().code == Code::kInvalidArgument);
  CHECK(spec.add_tasks("empty", {}).ok());
  CHECK(spec.find("empty") != nullptr);
}

TEST_CASE("100,000 tasks are added in order or backwards without a wait") {
  ClusterSpec forwards;
  for (int i = 0; i < 100000; ++i) REQUIRE(forwards.add_task("worker", task(i, "h:1")).ok());
  std::vector<Task> tasks;
  for (int i = 99999; i >= 0; --i) tasks.push_back(task(i, "h:1"));
  ClusterSpec backwards;
  REQUIRE(backwards.add_tasks("worker", std::move(tasks)).ok());
  CHECK(forwards == backwards);
}

TEST_CASE("20,000 jobs are found by name without a look at each") {
  ClusterSpec spec;
  for (int i = 0; i < 20000; ++i)
    REQUIRE(spec.add_task("job" + std::to_string(i), task(0, "h:1")).ok());
  CHECK(spec.find("job0") == &spec.jobs()[0]);
  CHECK(spec.find("job19999") == &spec.jobs()[19999]);
  CHECK(spec.find("job20000") == nullptr);
  const ClusterSpec copy = spec;
  CHECK(copy.find("job7") == &copy.jobs()[7]);
  CHECK(copy == spec);
}

TEST_CASE("jobs keep the order in which they were added (mends SPEC-6)") {
  ClusterSpec spec;
  for (const char* job : {"worker", "ps", "chief"}) REQUIRE(spec.add_job(job).ok());
  REQUIRE(spec.add_job("ps").ok());
  REQUIRE(spec.jobs().size() == 3);
  CHECK(spec.jobs()[0].name == "worker");
  CHECK(spec.jobs()[2].name == "chief");
}

TEST_CASE("equality looks at jobs, indices and addresses, not at order, names or attributes") {
  ClusterSpec a, b;
  REQUIRE(a.add_task("worker", task(0, "h:1", "w0")).ok());
  REQUIRE(a.add_task("ps", task(1, "p:1")).ok());
  REQUIRE(b.add_task("ps", task(1, "p:1")).ok());
  REQUIRE(b.add_task("worker", task(0, "h:1", "other")).ok());
  CHECK(a == b);
  REQUIRE(b.add_job("empty").ok());
  CHECK_FALSE(a == b);
  REQUIRE(a.add_job("void").ok());
  CHECK_FALSE(a == b);

  ClusterSpec c, d;
  REQUIRE(c.add_task("worker", task(0, "h:1")).ok());
  REQUIRE(d.add_task("worker", task(0, "h:2")).ok());
  CHECK_FALSE(c == d);
  ClusterSpec e;
  REQUIRE(e.add_task("worker", task(1, "h:1")).ok());
  CHECK_FALSE(c == e);
}

TEST_CASE("a task that is not there is told with what is there") {
  ClusterSpec spec;
  CHECK(spec.task_address("worker", 0).error().message ==
        "there is no job 'worker' in the cluster; it has no jobs");
  for (const int index : {0, 1, 2, 5})
    REQUIRE(spec.add_task("worker", task(index, address_of(index))).ok());
  REQUIRE(spec.add_job("ps").ok());
  CHECK(spec.task_address("worker", 5)->to_string() == "10.0.0.5:8470");
  const auto index = spec.task_address("worker", 3);
  CHECK(index.error().code == Code::kNotFound);
  CHECK(index.error().message == "there is no task 3 in job 'worker'; its indices are 0-2, 5");
  CHECK(spec.task_address("ps", 0).error().message ==
        "there is no task 0 in job 'ps'; it has no tasks");
  CHECK(spec.task_address("chief", 0).error().message ==
        "there is no job 'chief' in the cluster; its jobs are 'worker', 'ps'");
  CHECK(spec.task_address("worker", -1).error().code == Code::kNotFound);
  CHECK(spec.task_address("worker", int64_t{1} << 32).error().code == Code::kNotFound);
}

TEST_CASE("of many jobs or indices the first few are told") {
  ClusterSpec spec;
  for (int i = 0; i < 10; ++i) REQUIRE(spec.add_task("j", task(2 * i, "h:1")).ok());
  for (int i = 0; i < 9; ++i) REQUIRE(spec.add_job("job" + std::to_string(i)).ok());
  CHECK(spec.task_address("j", 1).error().message ==
        "there is no task 1 in job 'j'; its indices are 0, 2, 4, 6, 8, 10, 12, 14 and more");
  CHECK(spec.task_address("x", 0).error().message ==
        "there is no job 'x' in the cluster; its jobs are 'j', 'job0', 'job1', 'job2', 'job3', "
        "'job4', 'job5', 'job6' and 2 more");
}

TEST_CASE("a job name is valid text of 1 to 255 bytes without control characters") {
  for (const char* name : {"worker", "w", "worker 2", "arbeiter-\xc3\xa4", "\xe5\xb7\xa5", "a/b"})
    CHECK(check_job_name(name).ok());
  CHECK(check_job_name(std::string(255, 'a')).ok());
  const auto reason = [](std::string_view name) { return check_job_name(name).error().message; };
  CHECK(reason("") == "'' is not a job name: it is empty");
  CHECK(reason(std::string(256, 'a')).find("longer than 255 bytes") != std::string::npos);
  CHECK(reason("a\nb") == "'a\\x0ab' is not a job name: it has a control character in it");
  CHECK(reason("a\x7f").find("control") != std::string::npos);
  CHECK(reason("a\xc2\x85").find("control") != std::string::npos);
  CHECK(reason(std::string_view("a\0b", 3)).find("control") != std::string::npos);
  CHECK(reason("a\xff").find("not valid UTF-8") != std::string::npos);
  ClusterSpec spec;
  CHECK(spec.add_job("").error().code == Code::kInvalidArgument);
  CHECK(spec.add_task("a\nb", task(0, "h:1")).error().code == Code::kInvalidArgument);
  CHECK(spec.empty());
}

TEST_CASE("valid text is UTF-8 of RFC 3629 without NUL") {
  for (const char* text : {"", "plain", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
                           "\xee\x80\x80", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    CHECK(is_valid_text(text));
  }
  for (const char* text : {"\x80", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2g", "\xe0\x9f\xbf",
                           "\xed\xa0\x80", "\xe1\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
                           "\xf5\x80\x80\x80", "\xf1\x80\x80", "\xff", "ok\xfe"}) {
    CHECK_FALSE(is_valid_text(text));
  }
  CHECK_FALSE(is_valid_text(std::string_view("a\0b", 3)));
}

TEST_CASE("copies of a spec share its tasks until one of them is changed") {
  ClusterSpec spec;
  REQUIRE(spec.add_task("worker", Task{0, *Address::parse("a:1")}).ok());
  const ClusterSpec copy = spec;
  CHECK(copy.jobs()[0].tasks.data() == spec.jobs()[0].tasks.data());
  CHECK_FALSE(spec.take_tasks("worker"));

  REQUIRE(spec.add_task("worker", Task{1, *Address::parse("b:1")}).ok());

  CHECK(copy.task_count() == 1);
  CHECK(spec.task_count() == 2);
  CHECK(spec.take_tasks("worker")->size() == 2);
  CHECK_FALSE(spec.take_tasks("ps"));
}

}  // namespace
}  // namespace muster
