// Random trees of real sources that change, fail and vanish, under watch, resolve and cancel: once they are quiet the watch
// says what a resolve says. The rules themselves are held by tests/model on a virtual clock; isolated sources are watched by
// tests/command and by the churn of a real API server.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <thread>

#include "tests/loader/launcher.h"

using namespace muster::test;

namespace {

constexpr int kTrees = 12;
constexpr int kSteps = 4;

// What a snapshot says, in short: "fresh complete sha256:...".
std::string words(const muster_snapshot* snapshot) {
  return std::string(muster_snapshot_state(snapshot)) +
         (muster_snapshot_complete(snapshot) == 1 ? " complete " : " incomplete ") +
         muster_snapshot_digest(snapshot, nullptr);
}

class Composed {
 public:
  Composed(Launcher& launcher, uint64_t seed) : random_(seed), launcher_(launcher) {
    config_ = "cluster: " + resolver(3) + "\n";
    for (size_t leaf = 0; leaf < files_.size(); ++leaf) change(leaf, true);
  }
  ~Composed() {
    muster_watch_destroy(watch_);
    muster_cluster_destroy(cluster_);
  }
  Composed(const Composed&) = delete;
  Composed& operator=(const Composed&) = delete;

  void open() {
    launcher_.set("config_text", config_);
    REQUIRE(muster_open(launcher_.settings, &cluster_, nullptr) == 0);
    REQUIRE(muster_watch_start(cluster_, &watch_, nullptr) == 0);
  }

  // "" or what is wrong.
  std::string run() {
    for (int step = 0; step < kSteps; ++step) {
      for (size_t leaf = 0; leaf < files_.size(); ++leaf)
        if (step > 0 && random_() % 2 == 0) change(leaf, false);
      if (random_() % 3 == 0) {
        muster_cancel(cluster_);
        muster_snapshot* none = nullptr;
        if (muster_watch_next(watch_, 0, &none, nullptr) != 1) return "a cancel was lost";
        muster_cancel_reset(cluster_);
      }
      if (std::string wrong = settle(); !wrong.empty()) return config_ + wrong;
    }
    return "";
  }

 private:
  std::string resolver(int depth) {
    const uint64_t kind = depth == 0 ? 0 : random_() % 4;
    if (kind <= 1 || files_.size() > 4) {
      files_.push_back(launcher_.dir.path() + "/roster-" + std::to_string(random_()));
      return "{backend: static, options: {file: '" + files_.back() + "'}}";
    }
    std::string children;
    for (uint64_t n = 0; n < 1 + random_() % 3; ++n)
      children += (n == 0 ? "" : ", ") + resolver(depth - 1);
    return kind == 2 ? "{chain: [" + children + "], fallback_after: 50ms}"
                     : "{merge: [" + children + "]}";
  }

  // A roster of some workers; or, not at first, one that is wrong, or none.
  void change(size_t leaf, bool good) {
    const uint64_t what = good ? 0 : random_() % 4;
    if (what == 3) {
      std::filesystem::remove(files_[leaf]);
      return;
    }
    std::ofstream file(files_[leaf] + ".new");
    for (uint64_t n = 0; n < 1 + random_() % 3; ++n)
      file << "worker " << n << " 10." << leaf << "." << random_() % 200 << ".1:1\n";
    if (what == 2) file << "worker\n";
    file.close();
    std::filesystem::rename(files_[leaf] + ".new", files_[leaf]);
  }

  // Waits until the watch says what a resolve says now.
  std::string settle() {
    muster_snapshot* resolved = nullptr;
    std::string wanted;
    if (muster_resolve(cluster_, &resolved, nullptr) == 0) wanted = words(resolved);
    muster_snapshot_destroy(resolved);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (;;) {
      const bool agrees = wanted.empty() ? told_.rfind("fresh complete", 0) != 0 : told_ == wanted;
      if (agrees) return "";
      if (std::chrono::steady_clock::now() > end)
        return "resolve says '" + wanted + "', the watch '" + told_ + "'";
      muster_snapshot* snapshot = nullptr;
      if (muster_watch_next(watch_, 100, &snapshot, nullptr) == 0) told_ = words(snapshot);
      muster_snapshot_destroy(snapshot);
    }
  }

  std::mt19937_64 random_;
  Launcher& launcher_;
  std::string config_;
  std::vector<std::string> files_;
  muster_cluster* cluster_ = nullptr;
  muster_watch* watch_ = nullptr;
  std::string told_;
};

}  // namespace

TEST_CASE("quiet sources are told alike by a watch and a resolve, whatever happened before") {
  Launcher launcher({built("static")}, "");
  launcher.set("watch_interval", "20ms");
  std::vector<std::unique_ptr<Composed>> trees;
  for (uint64_t seed = 1; seed <= kTrees; ++seed) {
    trees.push_back(std::make_unique<Composed>(launcher, seed));
    trees.back()->open();
  }
  std::vector<std::string> wrong(trees.size());
  std::vector<std::thread> threads;
  for (size_t n = 0; n < trees.size(); ++n)
    threads.emplace_back([&, n] { wrong[n] = trees[n]->run(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& one : wrong) CHECK(one == "");
}

TEST_CASE(
    "a cancel before the first answer of a watch is told until it is taken back, and not after") {
  Launcher launcher({built("exec")},
                    "cluster: {backend: exec, options: {command: [sleep, '30']}}\n");
  launcher.open();
  muster_watch* watch = nullptr;
  REQUIRE(muster_watch_start(launcher.cluster, &watch, nullptr) == 0);
  muster_snapshot* snapshot = nullptr;
  CHECK(muster_watch_next(watch, 50, &snapshot, nullptr) == 4);
  muster_cancel(launcher.cluster);
  CHECK(muster_watch_next(watch, 10'000, &snapshot, nullptr) == 1);
  muster_cancel_reset(launcher.cluster);
  CHECK(muster_watch_next(watch, 100, &snapshot, nullptr) == 4);
  muster_watch_destroy(watch);
}
