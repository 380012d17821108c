// Watching: a plugin's own stream, polling where there is none, and what a tree of such backends says.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/resolve/live.h"
#include "tests/loader/world.h"

using namespace muster;
using namespace muster::test;

namespace {

constexpr int64_t kMillisecond = 1'000'000;

// The orders of plugins/watches.cc, changed at one blow.
class Orders {
 public:
  Orders() {
    std::string pattern = std::filesystem::temp_directory_path() / "muster-orders-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Orders() { std::filesystem::remove_all(folder_); }
  Orders(const Orders&) = delete;
  Orders& operator=(const Orders&) = delete;

  std::string path() const { return folder_ / "orders"; }
  void say(const std::string& order) const {
    std::ofstream(folder_ / "new") << order << "\n";
    std::filesystem::rename(folder_ / "new", path());
  }

 private:
  std::filesystem::path folder_;
};

// A live backend over the plugin "watches", asked again whenever it says that something changed.
class Watch {
 public:
  explicit Watch(const std::string& first, bool isolated = false) {
    orders_.say(first);
    if (isolated) world_.isolated = IsolatedSetting{ISOLATE};
    auto backend = world_.create("{\"orders\": \"" + orders_.path() + "\"}");
    REQUIRE(backend.ok());
    LiveSettings settings;
    settings.interval_ns = 20 * kMillisecond;
    settings.timeout_ns = 1000 * kMillisecond;
    settings.session = [this] { return session(); };
    settings.changed = [this] { ++changes_; };
    live_ = std::make_unique<LiveBackend>(*backend, settings);
  }

  void say(const std::string& order) const { orders_.say(order); }
  LiveBackend& live() { return *live_; }
  int changes() const { return changes_; }

  // The answer now: "3 workers" or the name of the error.
  std::string now() {
    const BackendOutcome outcome =
        live_->resolve(session(), monotonic_ns() + 5000 * kMillisecond, CancelToken());
    if (!outcome.answer) return code_name(outcome.answer.error().code);
    return std::to_string(outcome.answer->spec.task_count()) + " workers";
  }
  // Whether the answer becomes this within five seconds.
  bool becomes(const std::string& wanted) {
    for (int wait = 0; wait < 2500 && now() != wanted; ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return now() == wanted;
  }
  BackendOutcome outcome() {
    return live_->resolve(session(), monotonic_ns() + 5000 * kMillisecond, CancelToken());
  }

 private:
  std::shared_ptr<Session> session() const {
    return Session::live(world_.lines.log(), world_.secrets);
  }

  Orders orders_;
  World world_{"watches", "watches"};
  std::atomic<int> changes_{0};
  std::unique_ptr<LiveBackend> live_;
};

}  // namespace

TEST_CASE("each snapshot that a plugin commits becomes the answer, without being asked") {
  Watch watch("tasks 2");
  CHECK(watch.now() == "2 workers");
  watch.say("tasks 5");
  CHECK(watch.becomes("5 workers"));
  watch.say("tasks 1");
  CHECK(watch.becomes("1 workers"));
  CHECK(watch.changes() == 3);
}

TEST_CASE("isolated it commits, fails, is begun again and is refused as in this process") {
  for (const bool isolated : {false, true}) {
    if (isolated && kSanitized) continue;  // isolate_test and same_test are enough of that
    CAPTURE(isolated);
    Watch watch("tasks 2", isolated);
    CHECK(watch.now() == "2 workers");
    watch.say("tasks 5");
    CHECK(watch.becomes("5 workers"));
    watch.say("fail");
    CHECK(watch.becomes("UNAVAILABLE"));
    CHECK(has(watch.outcome().answer.error().message, "the stream broke"));
    watch.say("twice");
    CHECK(watch.becomes("2 workers"));
    watch.say("bad");
    CHECK(watch.becomes("INTERNAL"));
    CHECK(has(watch.outcome().answer.error().message, "has index -2"));
    watch.say("tasks 1");
    CHECK(watch.becomes("1 workers"));
  }
}

TEST_CASE("of two snapshots at once the later is the answer") {
  Watch watch("twice");
  CHECK(watch.becomes("2 workers"));
  CHECK(watch.changes() == 2);
}

TEST_CASE("a stream that breaks is an error, and is begun again by itself") {
  Watch watch("tasks 2");
  CHECK(watch.now() == "2 workers");
  watch.say("fail");
  CHECK(watch.becomes("UNAVAILABLE"));
  watch.say("tasks 3");
  CHECK(watch.becomes("3 workers"));
}

TEST_CASE("a plugin that cannot watch these options is polled") {
  Watch watch("poll");
  CHECK(watch.becomes("1 workers"));
  REQUIRE(watch.outcome().answer.ok());
  CHECK(watch.outcome().answer->spec.jobs().front().tasks.front().name == "polled");
  const int before = watch.changes();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  CHECK(watch.changes() > before);
}

TEST_CASE("a refused push ends the watch with its duty, and no snapshot") {
  Watch watch("bad");
  const BackendOutcome outcome = watch.outcome();
  REQUIRE_FALSE(outcome.answer.ok());
  CHECK(outcome.answer.error().detail("duty") == "MP-6");
}

TEST_CASE("a watch that returns OK has misbehaved") {
  Watch watch("end");
  const BackendOutcome outcome = watch.outcome();
  REQUIRE_FALSE(outcome.answer.ok());
  CHECK(has(outcome.answer.error().message, "watch returned OK"));
  CHECK(outcome.answer.error().detail("duty") == "MP-23");
}

TEST_CASE("a source that a round did not ask rests, and begins anew when asked") {
  Watch watch("tasks 2");
  CHECK(watch.now() == "2 workers");
  watch.live().end_round();
  watch.say("tasks 4");
  CHECK(watch.becomes("4 workers"));
  watch.live().end_round();

  watch.live().end_round();  // not asked since
  const int before = watch.changes();
  watch.say("tasks 6");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(watch.changes() == before);
  CHECK(watch.now() == "6 workers");
}

TEST_CASE("a watch ends at once when nobody needs it any longer") {
  auto watch = std::make_unique<Watch>("tasks 2");
  CHECK(watch->now() == "2 workers");
  const int64_t start = monotonic_ns();
  watch.reset();
  CHECK(monotonic_ns() - start < 400 * kMillisecond);
}
