// What a watch makes of what its sources say, on a virtual clock.
#include <pthread.h>

#include <atomic>
#include <csignal>

#include "core/resolve/tree.h"
#include "tests/unit/resolve_world.h"

using namespace muster;
using namespace muster::testing;

namespace {

constexpr int64_t kSecond = 1'000'000'000;

// A watched tree whose leaves say what the test lets them say.
class Watched {
 public:
  explicit Watched(ResolverConfig root, std::chrono::seconds timeout = std::chrono::seconds(30)) {
    world_.tree(std::move(root));
    world_.config.timeout = timeout;
    tree_.emplace(world_.config, Tree::Mode::kWatch);
    static_cast<void>(look());
  }

  void at(int64_t seconds) { now_ = {seconds * kSecond, (1'000'000 + seconds) * kSecond}; }
  void says(size_t leaf, Says answer) {
    tree_->report(leaf, {Behaviour(std::move(answer))(0, CancelToken()), {}}, 0, now_);
  }
  void fails(size_t leaf, Code code, const std::string& message = "as told") {
    tree_->report(leaf, {Error{code, message, {}}, {}}, 0, now_);
  }

  // "worker 0=a:1 1=b:1, stale since 3", say.
  std::string look() {
    evaluation_ = tree_->evaluate(now_);
    if (!evaluation_.answer) return "nothing yet";
    if (!evaluation_.answer->ok()) return code_name(evaluation_.answer->error().code);
    const Tree::Answer& answer = **evaluation_.answer;
    std::string text;
    for (const Job& job : answer.part.spec.jobs()) {
      text += job.name;
      for (const Task& task : job.tasks)
        text += " " + std::to_string(task.index) + "=" + task.address.to_string();
    }
    for (const JobStatus& job : answer.part.jobs)
      if (!job.missing.empty())
        text += ", " + job.name + " misses " + std::to_string(*job.expected);
    if (answer.stale)
      text += ", stale since " + std::to_string(answer.stale->since.monotonic_ns / kSecond);
    return text + (answer.gone ? ", gone" : "");
  }
  const Tree::Evaluation& evaluation() const { return evaluation_; }
  const Tree& tree() const { return *tree_; }
  int64_t due_s() const { return evaluation_.due_ns / kSecond; }
  std::string warnings() const {
    std::string all;
    for (const std::string& warning : (**evaluation_.answer).part.warnings) all += warning + "\n";
    return all;
  }

 private:
  TreeWorld world_;
  std::optional<Tree> tree_;
  Moment now_;
  Tree::Evaluation evaluation_;
};

Says worker(const std::string& address) { return Says().task("worker", 0, address); }

Watched merged() { return Watched(merge_of({TreeWorld::leaf("a"), TreeWorld::leaf("b")})); }
Watched chained() { return Watched(chain_of({TreeWorld::leaf("a"), TreeWorld::leaf("b")})); }

}  // namespace

TEST_CASE("a part that is gone leaves its places empty, and the changes of the others are told") {
  Watched watch = merged();
  watch.says(0, Says().task("worker", 0, "a:1").task("worker", 1, "a:2"));
  watch.says(1, worker("b:1"));
  CHECK(watch.look() == "worker 0=a:1 1=a:2 2=b:1");
  watch.at(5);
  watch.fails(0, Code::kNotFound, "no pods\nlook at the selector");
  CHECK(watch.look() == "worker 2=b:1, worker misses 3, gone");
  CHECK(contains(watch.warnings(), "gone since 1970-01-12T13:46:45.000Z: no pods"));
  watch.says(1, worker("b:9"));
  CHECK(watch.look() == "worker 2=b:9, worker misses 3, gone");
  watch.says(0, worker("a:3"));
  CHECK(watch.look() == "worker 0=a:3 1=b:9");
}

TEST_CASE("a part that fails stays as it was, and the changes of the others are told") {
  Watched watch = merged();
  watch.says(0, worker("a:1"));
  watch.says(1, worker("b:1"));
  watch.at(3);
  watch.fails(0, Code::kUnavailable);
  watch.at(4);
  watch.says(1, worker("b:2"));
  watch.fails(0, Code::kUnavailable);
  CHECK(watch.look() == "worker 0=a:1 1=b:2, stale since 3");
}

TEST_CASE("what fails after it was gone is still gone") {
  Watched watch = merged();
  watch.says(0, worker("a:1"));
  watch.says(1, worker("b:1"));
  watch.fails(0, Code::kNotFound);
  watch.at(2);
  watch.fails(0, Code::kUnavailable);
  CHECK(watch.look() == "worker 1=b:1, worker misses 2, stale since 2, gone");
}

TEST_CASE("a chain keeps a source that fails for fallback_after, then says that it takes another") {
  Watched watch = chained();
  CHECK_FALSE(watch.tree().request(1).wanted);
  watch.says(0, worker("a:1"));
  CHECK(watch.look() == "worker 0=a:1");
  watch.at(10);
  watch.fails(0, Code::kUnavailable, "refused");
  CHECK(watch.look() == "worker 0=a:1, stale since 10");
  CHECK(watch.due_s() == 70);
  CHECK_FALSE(watch.tree().request(1).wanted);
  watch.at(69);
  CHECK(watch.look() == "worker 0=a:1, stale since 10");
  watch.at(70);
  CHECK(watch.look() == "worker 0=a:1, stale since 10");
  CHECK(watch.tree().request(1).wanted);
  watch.says(1, worker("b:1"));
  CHECK(watch.look() == "worker 0=b:1");
  CHECK(watch.warnings() ==
        "cluster changed its source at 1970-01-12T13:47:50.000Z from cluster.chain[0] to "
        "cluster.chain[1], for cluster.chain[0] said UNAVAILABLE: refused\n");
  CHECK(watch.evaluation().changes.size() == 1);
  watch.at(80);
  watch.says(0, worker("a:2"));
  CHECK(watch.look() == "worker 0=a:2");
  CHECK(contains(watch.warnings(), "to cluster.chain[0], which answers again"));
  CHECK_FALSE(watch.tree().request(1).wanted);
}

TEST_CASE("a chain whose source is back in time has not changed it") {
  Watched watch = chained();
  watch.says(0, worker("a:1"));
  static_cast<void>(watch.look());
  watch.at(10);
  watch.fails(0, Code::kUnavailable);
  static_cast<void>(watch.look());
  watch.at(65);
  watch.says(0, worker("a:1"));
  CHECK(watch.look() == "worker 0=a:1");
  CHECK(watch.warnings().empty());
  CHECK(watch.evaluation().due_ns == INT64_MAX);
}

TEST_CASE(
    "a chain whose source is gone takes another at once, and where there is none it is gone") {
  Watched watch = chained();
  watch.says(0, worker("a:1"));
  static_cast<void>(watch.look());
  watch.fails(0, Code::kNotFound);
  CHECK(watch.look() == ", worker misses 1, gone");
  CHECK(watch.tree().request(1).wanted);
  watch.fails(1, Code::kUnavailable);
  CHECK(watch.look() == ", worker misses 1, gone");
  watch.says(1, worker("b:1"));
  CHECK(watch.look() == "worker 0=b:1");
}

TEST_CASE("an error that is for the user to mend takes no chain to another source") {
  Watched watch = chained();
  watch.says(0, worker("a:1"));
  static_cast<void>(watch.look());
  watch.fails(0, Code::kPermissionDenied);
  watch.at(1000);
  CHECK(watch.look() == "worker 0=a:1, stale since 0");
  CHECK_FALSE(watch.tree().request(1).wanted);
}

TEST_CASE(
    "a source that says nothing by its share of the time is late, and is heard when it comes") {
  Watched watch = chained();
  CHECK(watch.look() == "nothing yet");
  CHECK(watch.due_s() == 15);
  watch.at(15);
  CHECK(watch.look() == "nothing yet");
  watch.says(1, worker("b:1"));
  CHECK(watch.look() == "worker 0=b:1");
  watch.at(16);
  watch.says(0, worker("a:1"));
  CHECK(watch.look() == "worker 0=a:1");
}

TEST_CASE("a poll of a watch has the time that a resolve gives the source") {
  ResolverConfig quick = TreeWorld::leaf("quick");
  quick.timeout = std::chrono::seconds(2);
  const Watched watch(
      merge_of({quick, chain_of({TreeWorld::leaf("a"), quick, TreeWorld::leaf("b")}),
                TreeWorld::leaf("c")}));
  const auto seconds = [&](size_t leaf) { return watch.tree().budget_ns(leaf) / kSecond; };
  CHECK(seconds(0) == 2);
  CHECK(seconds(1) == 10);
  CHECK(seconds(2) == 2);
  CHECK(seconds(3) == 30);
  CHECK(seconds(4) == 30);
}

TEST_CASE("a part without an expectation counts what it misses as well") {
  TreeWorld world = two_merged(Says().task("worker", 0, "a:1").missing("worker", 1, "Pending"),
                               worker("b:1").expected("worker", 2));
  const Snapshot answer = world.answer();
  REQUIRE(answer.jobs.size() == 1);
  CHECK(answer.jobs[0].found == 2);
  CHECK(answer.jobs[0].expected == 4);
  CHECK_FALSE(answer.complete);
}

TEST_CASE("an answer without a task is complete only where none is expected") {
  TreeWorld world;
  world.backend("a", Says().job("worker")).tree(TreeWorld::leaf("a"));
  CHECK_FALSE(world.answer().complete);
  world.config.expect = {{"worker", 0}};
  CHECK(world.answer().complete);
}

TEST_CASE("a signal reaches its handler while a merge waits") {
  static std::atomic<bool> handled;
  handled = false;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { handled = true; };
  ::sigaction(SIGUSR1, &action, &before);
  const CancelToken cancel;
  std::thread launcher([&] { static_cast<void>(two_merged(hangs(), hangs()).resolve(cancel)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  ::pthread_kill(launcher.native_handle(), SIGUSR1);
  for (int wait = 0; wait < 500 && !handled; ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(handled);
  cancel.cancel();
  launcher.join();
  ::sigaction(SIGUSR1, &before, nullptr);
}
