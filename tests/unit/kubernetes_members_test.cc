// The kubernetes backend's members by selectors: no gang with a dead member looks complete.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "plugins/kubernetes/members.h"

namespace {

using namespace muster::kubernetes;

constexpr int64_t kNoon = 1769860800;  // 2026-01-31T12:00:00Z

// The pods of one selector. Times are seconds after noon.
class Gang {
 public:
  Gang() { list_.pods.reserve(64); }  // so that its pods stay where they are

  // One that runs.
  Pod& running(const std::string& name, int64_t created, int index = -1) {
    Pod& pod = list_.pods.emplace_back();
    pod.name = list_.texts.add(name);
    pod.uid = list_.texts.add("uid-" + name);
    pod.owner = list_.texts.add("Job/train");
    pod.owner_uid = list_.texts.add("u1");
    pod.ip = list_.texts.add("10.8.0.1");
    pod.phase = Phase::kRunning;
    pod.created = kNoon + created;
    pod.index = index;
    return pod;
  }
  // One whose only container has failed at that time.
  Pod& failed(const std::string& name, int64_t created, int64_t ended, int index = -1) {
    Pod& pod = running(name, created, index);
    pod.phase = Phase::kFailed;
    take_finished(pod, ContainerKind::kOwn, 1, kNoon + ended);
    return pod;
  }
  // One that the node threw out: its containers say nothing.
  Pod& evicted(const std::string& name, int64_t created, int index = -1) {
    Pod& pod = running(name, created, index);
    pod.phase = Phase::kFailed;
    list_.trouble_of(pod).reason = list_.texts.add("Evicted");
    return pod;
  }
  Pod& succeeded(const std::string& name, int64_t created, int index = -1) {
    Pod& pod = running(name, created, index);
    pod.phase = Phase::kSucceeded;
    return pod;
  }
  Gang& owned_by(Pod& pod, const std::string& uid) {
    pod.owner_uid = list_.texts.add(uid);
    return *this;
  }
  PodList& list() { return list_; }

  Members find(Require require = Require::kRunning) {
    Judge judge;
    judge.require = require;
    return find_members({&list_.pods}, judge);
  }
  // "a b, missing c (why)".
  std::string members() {
    std::string tasks, missing;
    const Members found = find();
    for (const Member& member : found.members) {
      std::string& said = member.missing.empty() ? tasks : missing;
      said += (said.empty() ? "" : " ") + member.pod->name.string();
    }
    return tasks + (missing.empty() ? "" : ", missing " + missing);
  }

 private:
  PodList list_;
};

}  // namespace

TEST_CASE("a failed pod does not replace itself, even when it was made in the second it failed") {
  Gang gang;
  gang.running("a", 0);
  gang.failed("b", 5, 5);
  CHECK(gang.members() == "a, missing b");
}

TEST_CASE("a pod that two clocks say to have failed before it was made does not replace itself") {
  Gang gang;
  gang.running("a", 0);
  gang.failed("b", 5, 3);
  CHECK(gang.members() == "a, missing b");
}

TEST_CASE("a sibling made in the second of the failure is no replacement, one of the next is") {
  Gang gang;
  gang.failed("a", 0, 5);
  Pod& sibling = gang.running("b", 5);
  CHECK(gang.members() == "b, missing a");
  sibling.created += 1;
  CHECK(gang.members() == "b");
}

TEST_CASE("one pod replaces one that failed, and no more") {
  Gang gang;
  gang.failed("a", 0, 5);
  gang.failed("b", 0, 6);
  gang.running("c", 10);
  CHECK(gang.members() == "c, missing b");
  gang.running("d", 11);
  CHECK(gang.members() == "c d");
}

TEST_CASE("a replacement that failed too is replaced in its turn") {
  Gang gang;
  gang.failed("a", 0, 5);
  gang.failed("b", 6, 9);
  gang.running("c", 10);
  CHECK(gang.members() == "c");
}

TEST_CASE("a failed pod whose replacement ended well has ended well") {
  Gang gang;
  gang.failed("a", 0, 5);
  gang.succeeded("b", 6);
  gang.running("c", 0);
  CHECK(gang.members() == "c");
}

TEST_CASE("a pod of another object, though of the same name, replaces nobody") {
  Gang gang;
  gang.failed("a", 0, 5);
  Pod& other = gang.running("b", 10);
  gang.owned_by(other, "u2");
  CHECK(gang.members() == "b, missing a");
}

TEST_CASE("an evicted pod ended when its disruption began, and is replaced by a later one") {
  Gang gang;
  Pod& evicted = gang.evicted("a", 0);
  gang.running("b", 8);
  // Nothing says when it ended, so nobody is known to have come after it.
  CHECK(gang.members() == "b, missing a");
  take_condition(evicted, gang.list(), "DisruptionTarget", "True", "TerminationByKubelet", "",
                 kNoon + 8);
  CHECK(gang.members() == "b, missing a");
  gang.running("c", 9);
  CHECK(gang.members() == "b c");
}

TEST_CASE("since when a pod is not ready says nothing of its end") {
  Gang gang;
  Pod& evicted = gang.evicted("a", 0);
  take_condition(evicted, gang.list(), "Ready", "False", "PodFailed", "", kNoon + 1);
  gang.running("b", 8);
  CHECK(gang.members() == "b, missing a");
}

TEST_CASE("an evicted pod that goes is replaced by what was made after it is to be gone") {
  Gang gang;
  gang.evicted("a", 0).deleted = kNoon + 30;
  gang.running("b", 30);
  CHECK(gang.members() == "b, missing a");
  gang.running("c", 31);
  CHECK(gang.members() == "b c");
}

TEST_CASE("a pod's end is its last container's, and no container that still runs ends it") {
  Gang gang;
  Pod& pod = gang.failed("a", 0, 5);
  take_finished(pod, ContainerKind::kOwn, 0, kNoon + 7);
  CHECK(pod.end() == kNoon + 7);
  take_running(pod, ContainerKind::kOwn);
  CHECK(pod.end() == 0);
  take_condition(pod, gang.list(), "DisruptionTarget", "True", "DeletionByPodGC", "", kNoon + 90);
  CHECK(pod.end() == kNoon + 90);

  Pod initial;
  take_finished(initial, ContainerKind::kInitial, 0, kNoon + 1);  // the others go on
  CHECK(initial.end() == 0);
  take_finished(initial, ContainerKind::kInitial, 1, kNoon + 2);
  CHECK(initial.end() == kNoon + 2);
}

TEST_CASE("an index that failed and then ended well is no member, and not missing for ever") {
  Gang gang;
  gang.failed("a", 0, 5, 0);
  Pod& well = gang.succeeded("b", 6, 0);
  gang.running("c", 0, 1);
  CHECK(gang.members() == "c");
  CHECK(gang.find().warnings ==
        std::vector<std::string>{
            "some pods of '/Job/train' have ended well already; they are not counted"});
  // One that ended well before it failed is of a run before.
  well.created = kNoon - 10;
  CHECK(gang.members() == "c, missing a");
  well.created = kNoon;
  CHECK(gang.members() == "c, missing a");
  well.created = kNoon + 6;
  gang.owned_by(well, "u2");
  CHECK(gang.members() == "c, missing a");
}

TEST_CASE("of two pods with one index it is said in truth why one counts") {
  const auto why = [](const std::function<void(Gang&)>& make) {
    Gang gang;
    make(gang);
    const Members found = gang.find();
    REQUIRE(found.members.size() == 1);
    REQUIRE(found.notes.size() + found.warnings.size() == 1);
    const std::string& said = found.warnings.empty() ? found.notes[0] : found.warnings[0];
    return said.substr(said.find(';') + 2);
  };
  CHECK(why([](Gang& gang) {
          gang.running("a", 0, 0);
          gang.running("b", 9, 0);
        }) == "'b' counts: it was made later");
  // It is older, and counts all the same.
  CHECK(why([](Gang& gang) {
          gang.running("a", 0, 0);
          gang.failed("b", 9, 12, 0);
        }) == "'a' counts: the other one has failed");
  CHECK(why([](Gang& gang) {
          gang.running("a", 0, 0);
          gang.running("b", 9, 0).deleted = kNoon + 30;
        }) == "'a' counts: the other one is being deleted");
  CHECK(why([](Gang& gang) {
          gang.running("a", 0, 0);
          gang.running("b", 9, 0).phase = Phase::kPending;
        }) == "'a' counts: the other one does not run");
  CHECK(why([](Gang& gang) {
          gang.running("a", 9, 0);
          gang.running("b", 0, 0).attempt = 1;
        }) == "'b' counts: attempt 1 has begun");
  CHECK(why([](Gang& gang) {
          gang.running("a", 0, 0);
          Pod& later = gang.running("b", 9, 0);
          later.phase = Phase::kPending;
          gang.owned_by(later, "u2");
        }) == "'b' counts: it is of the object that was made later");
}

TEST_CASE("two pods that run with one index, made in one second, leave its place missing") {
  Gang gang;
  Pod& first = gang.running("a", 0, 0);
  gang.running("b", 0, 0);
  const Members found = gang.find();
  REQUIRE(found.members.size() == 1);
  CHECK(found.members[0].missing.view() ==
        "pod 'b' has its place too, and nothing tells which one counts");
  first.created -= 1;
  CHECK(gang.members() == "b");
}

TEST_CASE("the pods of two objects of one name, made in one second, leave the place missing") {
  Gang gang;
  gang.running("a", 0, 0);
  Pod& other = gang.running("b", 0, 0);
  other.phase = Phase::kPending;
  gang.owned_by(other, "u2");
  CHECK(gang.members() == ", missing a");
  other.deleted = kNoon + 30;  // the one of the object that goes
  CHECK(gang.members() == "a");
}

TEST_CASE("a pod of the attempt before is missing until one of the attempt that began is there") {
  Gang gang;
  gang.running("a", 0, 0).attempt = 1;
  gang.running("b", 0, 1);
  CHECK(gang.members() == "a, missing b");
  CHECK(gang.find().members[1].missing.view() == "it is of attempt 0, and attempt 1 has begun");
  gang.running("c", 9, 1).attempt = 1;
  CHECK(gang.members() == "a c");
}

TEST_CASE("warnings of several owners come in one order, whatever their names") {
  Gang gang;
  for (const char* owner : {"Job/q", "Job/b", "Job/x", "Job/a", "Job/m", "Job/c", "Job/z"})
    for (const char* end : {"well", "on"}) {
      const std::string name = std::string(owner) + end;
      Pod& pod = std::string(end) == "well" ? gang.succeeded(name, 0) : gang.running(name, 0);
      pod.owner = gang.list().texts.add(owner);
    }
  const std::vector<std::string> warnings = gang.find().warnings;
  CHECK(warnings.size() == 7);
  CHECK(std::is_sorted(warnings.begin(), warnings.end()));
}

TEST_CASE("the same pods in another order are the same members and the same words") {
  std::mt19937 chance(5);
  const auto make = [](Gang& gang) {
    for (int n = 0; n < 4; ++n) {
      gang.failed("f" + std::to_string(n), 0, 5);
      gang.running("r" + std::to_string(n), 9);
      gang.running("i" + std::to_string(n), 0, 0);
      Pod& pod = gang.running("o" + std::to_string(n), n / 2, 1);
      gang.owned_by(pod, "u" + std::to_string(n));
      gang.succeeded("s" + std::to_string(n), 3, 7);
    }
  };
  const auto said = [](Gang& gang) {
    const Members found = gang.find();
    std::vector<std::string> words = found.warnings;
    std::sort(words.begin(), words.end());
    for (const Member& member : found.members)
      words.push_back(member.pod->name.string() + " " + std::string(member.missing.view()));
    std::sort(words.begin(), words.end());
    return words;
  };
  Gang first;
  make(first);
  const auto expected = said(first);
  for (int times = 0; times < 50; ++times) {
    Gang gang;
    make(gang);
    std::shuffle(gang.list().pods.begin(), gang.list().pods.end(), chance);
    CHECK(said(gang) == expected);
  }
}

namespace {

// Whether each of the failed pods can have a sibling of its own that was made in a later second than it ended: by trying
// all ways, which says nothing of how they are found.
bool all_replaced(const std::vector<const Pod*>& failed, size_t at,
                  const std::vector<const Pod*>& siblings, std::vector<bool>& taken,
                  const std::function<int64_t(const Pod&)>& end) {
  if (at == failed.size()) return true;
  for (size_t n = 0; n < siblings.size(); ++n) {
    if (taken[n] || siblings[n] == failed[at]) continue;
    if (!(siblings[n]->owner_uid == failed[at]->owner_uid)) continue;
    if (end(*failed[at]) == 0 || siblings[n]->created <= end(*failed[at])) continue;
    taken[n] = true;
    if (all_replaced(failed, at + 1, siblings, taken, end)) return true;
    taken[n] = false;
  }
  return false;
}

}  // namespace

TEST_CASE(
    "no random set of pods is complete whose failed ones have not each a later sibling of their "
    "own, and each other one is") {
  std::mt19937 chance(20260131);
  const auto any = [&](int most) { return static_cast<int>(chance() % (most + 1)); };
  int complete = 0, incomplete = 0;
  for (int world = 0; world < 20000; ++world) {
    Gang gang;
    gang.list().pods.reserve(8);
    std::map<std::string, int64_t> ends;  // as the world made them
    const int count = 1 + any(5);
    for (int n = 0; n < count; ++n) {
      const std::string name(1, static_cast<char>('a' + n));
      const int created = any(6);
      switch (any(4)) {
        case 0: {
          const int ended = created + any(4);
          gang.failed(name, created, ended);
          ends[name] = kNoon + ended;
          break;
        }
        case 1: {
          Pod& pod = gang.evicted(name, created);
          if (any(1) == 0) break;  // nobody says when
          ends[name] = kNoon + created + any(4);
          take_condition(pod, gang.list(), "DisruptionTarget", "True", "Evicted", "", ends[name]);
          break;
        }
        case 2: gang.succeeded(name, created); break;
        default: gang.running(name, created);
      }
      if (any(3) == 0) gang.owned_by(gang.list().pods.back(), "u2");
    }
    std::shuffle(gang.list().pods.begin(), gang.list().pods.end(), chance);
    std::vector<const Pod*> failed, siblings;
    for (const Pod& pod : gang.list().pods) {
      siblings.push_back(&pod);
      if (pod.phase == Phase::kFailed) failed.push_back(&pod);
    }
    std::vector<bool> taken(siblings.size());
    const bool expected = all_replaced(failed, 0, siblings, taken, [&](const Pod& pod) {
      const auto at = ends.find(pod.name.string());
      return at == ends.end() ? 0 : at->second;
    });
    const Members found = gang.find();
    const bool whole = std::all_of(found.members.begin(), found.members.end(),
                                   [](const Member& member) { return member.missing.empty(); });
    CAPTURE(world);
    REQUIRE(whole == expected);
    ++(whole ? complete : incomplete);
  }
  // Else the worlds would be too poor to judge by.
  CHECK(complete > 2000);
  CHECK(incomplete > 2000);
}

TEST_CASE("why a pod is missing names times and no ages, so that it stays as it is") {
  const auto why = [](const Pod& pod) { return why_missing(pod, {}); };
  Gang gang;
  Pod& pending = gang.running("a", 0);
  pending.phase = Phase::kPending;
  pending.ip = {};
  CHECK(why(pending) == "Pending since 2026-01-31T12:00:00Z: not scheduled yet");
  CHECK(why(gang.failed("b", 0, 61)) == "Failed at 2026-01-31T12:01:01Z");
  CHECK(why(gang.evicted("c", 0)) == "Failed: Evicted");
  Pod& going = gang.running("d", 0);
  going.deleted = kNoon + 30;
  CHECK(why(going) == "being deleted, due at 2026-01-31T12:00:30Z");
  Pod& nowhere = gang.running("e", 0);
  nowhere.ip = {};
  CHECK(why(nowhere) == "Running, but it has no IP address yet");
}
