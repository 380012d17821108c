// muster.http/1 over a fake transport: what is sent again, when, and how often.
#include <doctest/doctest.h>

#include <thread>

#include "service_net.h"

using namespace muster;
using namespace muster::testing;

TEST_CASE("a GET is sent again after each status that passes, until it is answered") {
  for (const int64_t status : {408, 429, 500, 502, 503, 504}) {
    CAPTURE(status);
    Net net({Answer::of(status), Answer::of(200, {}, "ok")});
    Get get("http://api.test/x");
    CHECK(get.send(net.world) == MUSTER_OK);
    CHECK(get.text() == "ok");
    CHECK(net.transport.seen.size() == 2);
    const std::vector<RequestRecord> records = net.world.inside().requests();
    REQUIRE(records.size() == 2);
    CHECK(records[0].status == status);
    CHECK(records[1].attempt == 2);
  }
}

TEST_CASE("after six attempts the last answer is given back as it is") {
  Net net({Answer::of(503, {{"Retry-After", "0"}}, "busy")});
  Get get("http://api.test/x");
  CHECK(get.send(net.world) == MUSTER_OK);
  CHECK(get.response.status == 503);
  CHECK(get.text() == "busy");
  CHECK(net.transport.seen.size() == 6);
  CHECK(net.transport.living == 1);  // the earlier ones are freed
}

TEST_CASE("other statuses are answers, sent for once") {
  for (const int64_t status : {200, 204, 400, 401, 403, 404, 410, 501}) {
    Net net({Answer::of(status)});
    Get get("http://h/");
    CHECK(get.send(net.world) == MUSTER_OK);
    CHECK(get.response.status == status);
    CHECK(net.transport.seen.size() == 1);
  }
}

TEST_CASE("a POST is not sent again when it may have arrived, unless it is said to be safe") {
  {
    Net net({Answer::of(503), Answer::of(200)});
    Get post("http://h/", "POST");
    CHECK(post.send(net.world) == MUSTER_OK);
    CHECK(post.response.status == 503);
  }
  {
    Net net({Answer::broken(), Answer::of(200)});
    Get post("http://h/", "POST");
    CHECK(post.send(net.world) == MUSTER_E_UNAVAILABLE);
    CHECK(net.transport.seen.size() == 1);
  }
  {
    Net net({Answer::refused(), Answer::of(200)});
    Get post("http://h/", "POST");
    CHECK(post.send(net.world) == MUSTER_OK);
    CHECK(net.transport.seen.size() == 2);
  }
  {
    Net net({Answer::of(503), Answer::broken(), Answer::of(200)});
    Get post("http://h/", "POST");
    CHECK(post.flags(MUSTER_HTTP_IDEMPOTENT).body("q").send(net.world) == MUSTER_OK);
    REQUIRE(net.transport.seen.size() == 3);
    CHECK(net.transport.seen[2].body == "q");
  }
}

TEST_CASE("NO_RETRY is one attempt") {
  Net net({Answer::of(503), Answer::of(200)});
  Get get("http://h/");
  CHECK(get.flags(MUSTER_HTTP_NO_RETRY).send(net.world) == MUSTER_OK);
  CHECK(get.response.status == 503);
}

TEST_CASE("Retry-After is waited for, and the progress says so") {
  std::string progress;
  Net net({Answer::of(429, {{"Retry-After", "1"}}), Answer::of(200)});
  net.world.inside().set_progress("listing pods");
  std::thread watcher([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    progress = net.world.inside().progress();
  });
  Get get("http://api.test/x?secret=1");
  CHECK(get.send(net.world) == MUSTER_OK);
  watcher.join();
  REQUIRE(net.transport.seen.size() == 2);
  CHECK(net.transport.seen[1].at_ns - net.transport.seen[0].at_ns >= kSecond);
  CHECK(progress.find("GET api.test/x, attempt 2, waiting 1.") == 0);
  CHECK(contains(progress, " as the server asked"));
  CHECK(net.world.inside().progress() == "listing pods");
}

TEST_CASE("a Retry-After past the deadline gives the answer back at once") {
  Net net({Answer::of(429, {{"Retry-After", "3600"}}, "slow down")});
  const int64_t start = monotonic_ns();
  Get get("http://h/");
  CHECK(get.send(net.world) == MUSTER_OK);
  CHECK(get.response.status == 429);
  CHECK(get.text() == "slow down");
  CHECK(monotonic_ns() - start < kSecond);
}

TEST_CASE("a call that is over or cancelled sends nothing") {
  Net over({Answer::of(200)}, -1);
  Get late("http://h/");
  CHECK(late.send(over.world) == MUSTER_E_DEADLINE_EXCEEDED);
  CHECK(late.error.error.message != "");
  CHECK(over.transport.seen.empty());
}

TEST_CASE("a cancel ends the waiting between two attempts") {
  Net net({Answer::of(503, {{"Retry-After", "10"}})});
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    net.world.cancel.cancel();
  });
  const int64_t start = monotonic_ns();
  Get get("http://h/");
  CHECK(get.send(net.world) == MUSTER_E_CANCELLED);
  canceller.join();
  CHECK(monotonic_ns() - start < 2 * kSecond);
  CHECK(net.transport.seen.size() == 1);
}

TEST_CASE("a streamed request is sent again only while no piece was handed over") {
  Answer cut = Answer::broken();
  cut.pieces = "half";
  Net net({Answer::broken(), cut, Answer::of(200, {}, "whole")});
  Get get("http://h/");
  CHECK(get.stream().send(net.world) == MUSTER_E_UNAVAILABLE);
  CHECK(net.transport.seen.size() == 2);
  CHECK(get.streamed == "half");
}
