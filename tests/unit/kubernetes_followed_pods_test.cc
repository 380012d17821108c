// Pods that events keep up to date: what is known of them, and the memory that it takes however many events there were.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "plugins/kubernetes/events.h"
#include "plugins/kubernetes/followed_pods.h"

namespace {

using namespace muster::kubernetes;

const Wanted kWanted = {{"example.com/port"}, true};

// An event of the `n`-th pod that is the `turn`-th of all.
std::string event(const char* type, int n, int turn) {
  return fmt::format(
      R"({{"type":"{0}","object":{{"metadata":{{"name":"w-{1}","namespace":"ml","uid":"u-{1}","resourceVersion":"{2}",)"
      R"("labels":{{"jobset.sigs.k8s.io/replicatedjob-name":"workers"}},"annotations":{{"example.com/port":"{3}"}},)"
      R"("ownerReferences":[{{"kind":"Job","name":"train","uid":"j","controller":true}}]}},)"
      R"("spec":{{"nodeName":"node-{1}","hostname":"w-{1}","subdomain":"train",)"
      R"("nodeSelector":{{"cloud.google.com/gke-tpu-topology":"4x4"}},)"
      R"("containers":[{{"name":"c","ports":[{{"name":"rpc","containerPort":{4}}}]}}]}},)"
      R"("status":{{"phase":"Running","podIP":"10.8.{5}.{6}","hostIP":"192.0.2.{7}",)"
      R"("conditions":[{{"type":"Ready","status":"False","reason":"Turn{2}","message":"not yet"}}]}}}}}})"
      "\n",
      type, n, turn, 7000 + turn % 9, 8000 + turn % 7, turn / 250 % 250, turn % 250 + 1, n % 250);
}

struct Follower {
  EventReader reader{kWanted};
  PodList texts;
  FollowedPods pods{kWanted.annotations.size()};

  void take(const std::string& line) {
    texts.texts.clear();
    const auto events = reader.take(line, texts);
    REQUIRE(events);
    for (const Event& one : *events)
      if (one.kind == Event::Kind::kDeleted)
        pods.remove(one.pod);
      else
        pods.put(one.pod);
  }
};

}  // namespace

TEST_CASE("what is known of a pod is what its last event said, each field of it") {
  Follower follower;
  for (int turn = 0; turn < 9'000; ++turn) follower.take(event("MODIFIED", turn % 3, turn));
  const Pods& pods = follower.pods.pods();
  REQUIRE(pods.size() == 3);
  for (int n = 0; n < 3; ++n) {
    const int turn = 8'997 + n;
    const Pod& pod = pods[n];
    CHECK(pod.name == fmt::format("w-{}", n));
    CHECK(pod.uid == fmt::format("u-{}", n));
    CHECK(pod.name_space == "ml");
    CHECK(pod.node == fmt::format("node-{}", n));
    CHECK(pod.hostname == fmt::format("w-{}", n));
    CHECK(pod.subdomain == "train");
    CHECK(pod.owner == "Job/train");
    CHECK(pod.owner_uid == "j");
    CHECK(pod.role == "workers");
    CHECK(pod.accelerator_topology == "4x4");
    CHECK(pod.host_ip == fmt::format("192.0.2.{}", n));
    CHECK(pod.ip == fmt::format("10.8.{}.{}", turn / 250 % 250, turn % 250 + 1));
    CHECK(pod.annotations[0] == fmt::format("{}", 7000 + turn % 9));
    REQUIRE(pod.port_count == 1);
    CHECK(pod.ports[0].name == "rpc");
    CHECK(pod.ports[0].number == 8000 + turn % 7);
    CHECK(pod.trouble().not_ready == fmt::format("Turn{}: not yet", turn));
  }
}

TEST_CASE("the memory of followed pods does not grow with the events") {
  Follower follower;
  for (int turn = 0; turn < 10'000; ++turn) follower.take(event("MODIFIED", turn % 200, turn));
  const size_t early = follower.pods.text_bytes();
  size_t most = 0;
  for (int turn = 10'000; turn < 60'000; ++turn) {
    follower.take(event("MODIFIED", turn % 200, turn));
    most = std::max(most, follower.pods.text_bytes());
  }
  CHECK(most < early + 256 * 1024);
}

TEST_CASE("an event that says what was known takes no memory") {
  Follower follower;
  follower.take(event("ADDED", 1, 1));
  const size_t before = follower.pods.text_bytes();
  for (int turn = 0; turn < 1'000; ++turn) follower.take(event("MODIFIED", 1, 1));
  CHECK(follower.pods.text_bytes() == before);
}

TEST_CASE("pods that come and go, with other names each time, take no memory when they are gone") {
  Follower follower;
  size_t most = 0;
  for (int turn = 0; turn < 20'000; ++turn) {
    follower.take(event("ADDED", turn, turn));
    if (turn >= 10) follower.take(event("DELETED", turn - 10, turn));
    most = std::max(most, follower.pods.text_bytes());
  }
  CHECK(follower.pods.pods().size() == 10);
  CHECK(most < 512 * 1024);
}

TEST_CASE("followed pods stand in natural order, also after some have gone") {
  Follower follower;
  for (const int n : {10, 2, 1, 30}) follower.take(event("ADDED", n, n));
  follower.take(event("DELETED", 2, 5));
  follower.take(event("DELETED", 2, 6));
  std::string names;
  for (const Pod& pod : follower.pods.pods()) names += pod.name.string() + " ";
  CHECK(names == "w-1 w-10 w-30 ");
}
