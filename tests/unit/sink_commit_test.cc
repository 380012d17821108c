// One answer after another in the call of a watch: core/plugin/sink.h.
#include <random>
#include <set>
#include <vector>

#include "sink_world.h"

using namespace muster;
using namespace muster::testing;

namespace {

struct Member {
  std::string name, address, uid;
};

// Pushes and commits what there is; a third has its port in the address.
void commit(Pushes& push, const std::vector<Member>& members, bool ranked) {
  for (size_t n = 0; n < members.size(); ++n) {
    const Member& member = members[n];
    const std::string address = n % 3 == 0 ? member.address + ":1" : member.address;
    const int64_t index = ranked ? static_cast<int64_t>(n) : MUSTER_UNRANKED;
    REQUIRE(push.task("worker", index, member.name, address, n % 3 == 0 ? 0 : 8470) == MUSTER_OK);
    if (!member.uid.empty()) REQUIRE(push.attribute("uid", member.uid) == MUSTER_OK);
  }
  REQUIRE(push.table()->commit(push.table()) == MUSTER_OK);
}

// All that an answer says of its tasks.
std::string words(const BackendAnswer& answer) {
  std::string all;
  for (const Job& job : answer.spec.jobs()) {
    for (const Task& task : job.tasks) {
      all.append(job.name).append(" ").append(std::to_string(task.index)).append(" ");
      all.append(task.name.view()).append(" ").append(task.address.to_string());
      for (const auto& [key, value] : task.attributes)
        all.append(" ").append(key).append("=").append(value);
      all.append("\n");
    }
  }
  return all;
}

// The call of a watch, and the answers it gave.
struct Watched {
  Watched() {
    push.sink->watch([this](BackendAnswer answer) { answers.push_back(std::move(answer)); });
  }
  Pushes push;
  std::vector<BackendAnswer> answers;
};

std::vector<Member> members_of(size_t count) {
  std::vector<Member> members;
  for (size_t n = 0; n < count; ++n) {
    const std::string number = std::to_string(n);
    members.push_back({"worker-" + number, "host-" + number + ".of.a.rather.long.domain",
                       n % 5 == 0 ? "" : "uid-" + number});
  }
  return members;
}

}  // namespace

TEST_CASE("an answer of a watch says what a call without any before it would say") {
  std::minstd_rand random(20260211);
  const auto below = [&random](size_t limit) { return static_cast<size_t>(random()) % limit; };
  Watched watched;
  std::vector<Member> members = members_of(40);
  size_t fresh_names = members.size();
  std::string held;
  for (int round = 0; round < 300; ++round) {
    const bool ranked = round % 50 >= 25;
    for (size_t changes = below(4); changes-- > 0 && members.size() > 2;) {
      const size_t at = below(members.size());
      switch (below(5)) {
        case 0: members.erase(members.begin() + static_cast<std::ptrdiff_t>(at)); break;
        case 1:
          members.insert(members.begin() + static_cast<std::ptrdiff_t>(at),
                         {"worker-" + std::to_string(fresh_names++), "10.0.0.9", "new"});
          break;
        case 2: members[at].address = "10.1.0." + std::to_string(below(200) + 1); break;
        case 3: members[at].uid = below(2) == 0 ? "" : "uid-" + std::to_string(below(1000)); break;
        default: std::swap(members[at], members[below(members.size())]); break;
      }
    }

    commit(watched.push, members, ranked);
    Watched fresh;
    commit(fresh.push, members, ranked);

    REQUIRE(words(watched.answers.back()) == words(fresh.answers.back()));
    // One that somebody holds stays as it is.
    if (watched.answers.size() > 1) CHECK(words(watched.answers.front()) == held);
    if (below(3) == 0 || watched.answers.size() == 1) {
      watched.answers.erase(watched.answers.begin(), watched.answers.end() - 1);
      held = words(watched.answers.front());
    }
  }
}

TEST_CASE("that there is nothing to watch needs no words") {
  Watched watched;
  const Error told = watched.push.sink->finish(MUSTER_E_UNIMPLEMENTED, {}).error();
  CHECK(told.code == Code::kUnimplemented);
  CHECK(told.message == "plugin 'toy' has nothing to watch here");
  CHECK(told.detail("duty") == "");
  CHECK(watched.push.sink->finish(MUSTER_E_UNAVAILABLE, {}).error().detail("duty") == "MP-11");
  Pushes resolve;
  CHECK(resolve.sink->finish(MUSTER_E_UNIMPLEMENTED, {}).error().detail("duty") == "MP-11");
}

TEST_CASE("what did not change is the same text in memory in all answers, whoever holds them") {
  Watched watched;
  std::vector<Member> members = members_of(100);
  const auto texts = [&watched] {
    std::set<const char*> all;
    for (const Task& task : watched.answers.back().spec.jobs()[0].tasks)
      all.insert({task.name.view().data(), (*task.attributes.begin()).first.data()});
    return all;
  };
  for (Member& member : members) member.uid = "uid";
  commit(watched.push, members, false);
  const auto first = texts();
  for (const bool held : {true, true, false, false, false}) {
    commit(watched.push, members, false);
    CHECK(texts() == first);
    if (!held) watched.answers.erase(watched.answers.begin(), watched.answers.end() - 1);
  }

  members[50].uid = "another";
  members.erase(members.begin() + 70);
  commit(watched.push, members, false);

  size_t kept = 0;
  for (const char* text : texts()) kept += first.count(text);
  CHECK(kept == 2 * members.size() - 1);

  const auto changed = texts();
  for (int round = 0; round < 3; ++round) {
    commit(watched.push, members, false);
    CHECK(texts() == changed);
    watched.answers.erase(watched.answers.begin(), watched.answers.end() - 1);
  }
}

namespace {

// An answer with one task and these attributes, one after the other.
std::string said_again(Watched& watched,
                       const std::vector<std::pair<std::string, std::string>>& attributes) {
  Pushes& push = watched.push;
  REQUIRE(push.task("w", 0, "w-0", "a", 1) == MUSTER_OK);
  for (const auto& [key, value] : attributes) REQUIRE(push.attribute(key, value) == MUSTER_OK);
  REQUIRE(push.table()->commit(push.table()) == MUSTER_OK);
  return words(watched.answers.back());
}

}  // namespace

TEST_CASE("attributes that are told again, fewer, more, twice or in another order, are as told") {
  Watched watched;
  CHECK(said_again(watched, {{"a", "1"}, {"b", "2"}}) == "w 0 w-0 a:1 a=1 b=2\n");
  CHECK(said_again(watched, {{"a", "1"}, {"b", "2"}}) == "w 0 w-0 a:1 a=1 b=2\n");
  CHECK(said_again(watched, {{"a", "1"}}) == "w 0 w-0 a:1 a=1\n");
  CHECK(said_again(watched, {{"a", "1"}, {"b", ""}, {"c", "3"}}) == "w 0 w-0 a:1 a=1 b= c=3\n");
  CHECK(said_again(watched, {{"a", "1"}, {"b", ""}, {"a", "4"}}) == "w 0 w-0 a:1 a=4 b=\n");
  CHECK(said_again(watched, {{"b", ""}, {"a", "4"}}) == "w 0 w-0 a:1 b= a=4\n");
  CHECK(said_again(watched, {}) == "w 0 w-0 a:1\n");
  CHECK(said_again(watched, {{"a", "1"}}) == "w 0 w-0 a:1 a=1\n");
}

TEST_CASE("an attribute that is told twice is there once, whatever the task before had") {
  Watched watched;
  Pushes& push = watched.push;
  REQUIRE(push.task("w", 0, "w-0", "a", 1) == MUSTER_OK);
  for (const char* key : {"a", "b", "c"}) REQUIRE(push.attribute(key, "1") == MUSTER_OK);
  REQUIRE(push.task("w", 1, "w-1", "b", 1) == MUSTER_OK);
  for (const char* key : {"b", "a"}) REQUIRE(push.attribute(key, "1") == MUSTER_OK);
  for (const char* key : {"b", "c"}) REQUIRE(push.attribute(key, "2") == MUSTER_OK);
  REQUIRE(push.table()->commit(push.table()) == MUSTER_OK);
  CHECK(words(watched.answers[0]) == "w 0 w-0 a:1 a=1 b=1 c=1\nw 1 w-1 b:1 b=2 a=1 c=2\n");
}

TEST_CASE("a text that is like those before it up to a NUL is none of them") {
  Watched watched;
  said_again(watched, {{"a", "1"}, {"b", ""}});
  Pushes& push = watched.push;
  using namespace std::string_view_literals;
  SUBCASE("a key") {
    REQUIRE(push.task("w", 0, "w-0", "a", 1) == MUSTER_OK);
    CHECK(push.attribute("a\0001"sv, "b") == MUSTER_E_INVALID_ARGUMENT);
  }
  SUBCASE("a value") {
    REQUIRE(push.task("w", 0, "w-0", "a", 1) == MUSTER_OK);
    CHECK(push.attribute("a", "1\0b\0"sv) == MUSTER_E_INVALID_ARGUMENT);
  }
  SUBCASE("one that ends with it, and says so, is") {
    REQUIRE(push.task("w", 0, "w-0", "a", 1) == MUSTER_OK);
    const muster_call_v1* table = push.table();
    REQUIRE(push.attribute("a", "1") == MUSTER_OK);
    REQUIRE(table->set_attribute(table, "b", 1, "33", MUSTER_NUL_TERMINATED) == MUSTER_OK);
    REQUIRE(table->commit(table) == MUSTER_OK);
    CHECK(words(watched.answers.back()) == "w 0 w-0 a:1 a=1 b=33\n");
  }
}

TEST_CASE("what is told again is hidden when it has become known as a secret") {
  Watched watched;
  for (int round = 0; round < 3; ++round)
    CHECK(said_again(watched, {{"a", "hunter2"}}) == "w 0 w-0 a:1 a=hunter2\n");
  watched.push.secrets->add("hunter2");
  for (int round = 0; round < 3; ++round)
    CHECK(said_again(watched, {{"a", "hunter2"}}) == "w 0 w-0 a:1 a=REDACTED\n");
}
