// Following one plugin: by its own stream, or by polling where there is none.
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>

#include "core/resolve/follower.h"
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

// A follower of the plugin "watches", and what it said last.
class Watch {
 public:
  explicit Watch(const std::string& first, bool isolated = false) {
    orders_.say(first);
    if (isolated) world_.isolated = IsolatedSetting{ISOLATE};
    auto backend = world_.create("{\"orders\": \"" + orders_.path() + "\"}");
    REQUIRE(backend.ok());
    FollowSettings settings;
    settings.path = "cluster";
    settings.interval_ns = 20 * kMillisecond;
    settings.timeout_ns = 1000 * kMillisecond;
    settings.session = [this] { return Session::live(world_.lines.log(), world_.secrets); };
    settings.said = [this](BackendOutcome outcome, int64_t) {
      const std::lock_guard lock(mutex_);
      last_ = std::move(outcome);
      ++changes_;
      said_.notify_all();
    };
    auto follower = Follower::start(*backend, settings);
    REQUIRE(follower.ok());
    follower_ = *std::move(follower);
  }

  void say(const std::string& order) const { orders_.say(order); }
  int changes() {
    const std::lock_guard lock(mutex_);
    return changes_;
  }
  // What it said last; waits for the first.
  BackendOutcome outcome() {
    std::unique_lock lock(mutex_);
    REQUIRE(said_.wait_for(lock, std::chrono::seconds(5), [this] { return last_.has_value(); }));
    return *last_;
  }
  // The same in words: "3 workers" or the name of the error.
  std::string now() {
    const BackendOutcome outcome = this->outcome();
    if (!outcome.answer) return code_name(outcome.answer.error().code);
    return std::to_string(outcome.answer->spec.task_count()) + " workers";
  }
  // Whether that becomes this within five seconds.
  bool becomes(const std::string& wanted) {
    for (int wait = 0; wait < 2500 && now() != wanted; ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return now() == wanted;
  }

 private:
  Orders orders_;
  World world_{"watches", "watches"};
  std::mutex mutex_;
  std::condition_variable said_;
  int changes_ = 0;
  std::optional<BackendOutcome> last_;
  std::unique_ptr<Follower> follower_;  // ended first
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

TEST_CASE("a watch ends at once when nobody needs it any longer") {
  auto watch = std::make_unique<Watch>("tasks 2");
  CHECK(watch->now() == "2 workers");
  const int64_t start = monotonic_ns();
  watch.reset();
  CHECK(monotonic_ns() - start < 400 * kMillisecond);
}
