// What the core makes of random trees, held against the model of the rules. MUSTER_MODEL_TREES and MUSTER_MODEL_SEED look at others.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "tests/model/world.h"

using namespace muster;
using namespace muster::model;

namespace {

uint64_t number(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}
uint64_t first_seed() { return number("MUSTER_MODEL_SEED", 1); }
uint64_t trees() { return number("MUSTER_MODEL_TREES", 50'000); }

// A source in a watch: what it says from which moment on.
struct Source {
  std::map<int64_t, Outcome> says;
  int64_t latency_ns = 0;  // of its first answer when it is begun
  bool followed = false, said = false;
  std::optional<int64_t> next;  // when it says something next

  const Outcome& at(int64_t now) const { return std::prev(says.upper_bound(now))->second; }
};

// A watch of one random tree for some virtual minutes.
class WatchRun {
 public:
  explicit WatchRun(uint64_t seed)
      : chance_(seed),
        config_(random_config(chance_)),
        tree_(config_, Tree::Mode::kWatch),
        model_(config_) {
    sources_.resize(tree_.leaf_count());
    for (size_t leaf = 0; leaf < sources_.size(); ++leaf) {
      Source& source = sources_[leaf];
      source.latency_ns = random_script(chance_, leaf).delay_ns / 8;
      const int64_t changes = chance_.below(6);
      source.says[0] = random_outcome(chance_, leaf);
      for (int64_t n = 0; n < changes; ++n)
        source.says[(chance_.below(kMinutes) / 32 * 16 + static_cast<int64_t>(leaf)) * 2] =
            random_outcome(chance_, leaf);
    }
  }

  // How often it was held against a resolve.
  int agreed() const { return agreed_; }

  // "" or how the core and the model differ.
  std::string run() {
    int64_t now = 0;
    evaluate(now);
    for (int step = 0; step < kSteps && difference_.empty(); ++step) {
      int64_t next = due_ns_;
      for (const Source& source : sources_)
        if (source.next) next = std::min(next, *source.next);
      if (next > kMinutes) break;
      // Nothing changes by itself before the moment that the core has named.
      model::Watch peek = model_;
      const View before = peek.evaluate(std::max(now, next - 1));
      if (before.text() != told_) return wrong("a moment before " + std::to_string(next), before);
      for (size_t leaf = 0; leaf < sources_.size(); ++leaf)
        if (peek.wanted(leaf) != tree_.request(leaf).wanted)
          return wrong("leaf " + std::to_string(leaf) + " before " + std::to_string(next), before);
      now = next;
      say(now);
      evaluate(now);
    }
    return difference_;
  }

 private:
  static constexpr int64_t kMinutes = 5 * 60 * kSecond;
  static constexpr int kSteps = 200;

  void say(int64_t now) {
    for (size_t leaf = 0; leaf < sources_.size(); ++leaf) {
      Source& source = sources_[leaf];
      if (!source.next || *source.next > now) continue;
      const Outcome& outcome = source.at(now);
      source.said = true;
      tree_.report(leaf, to_core(outcome), 0, {now, now});
      model_.report(leaf, outcome, now);
      const auto change = source.says.upper_bound(now);
      source.next.reset();
      if (change != source.says.end()) source.next = change->first;
      // What fails is asked again, and says the same.
      const int64_t again = now + 7 * kSecond;
      if (!outcome.answer && (!source.next || again < *source.next)) source.next = again;
    }
  }

  void evaluate(int64_t now) {
    const Tree::Evaluation evaluation = tree_.evaluate({now, now});
    due_ns_ = evaluation.due_ns;
    const View core = from_core(evaluation);
    const View wanted = model_.evaluate(now);
    told_ = core.text();
    if (told_ != wanted.text()) {
      difference_ = wrong("at " + std::to_string(now), wanted);
      return;
    }
    for (size_t leaf = 0; leaf < sources_.size(); ++leaf) {
      Source& source = sources_[leaf];
      const bool follow = tree_.request(leaf).wanted;
      if (follow != model_.wanted(leaf)) {
        difference_ = wrong("leaf " + std::to_string(leaf) + " at " + std::to_string(now), wanted);
        return;
      }
      if (follow != source.followed) source.said = false;
      if (follow && !source.followed) source.next = now + source.latency_ns;
      if (!follow) source.next.reset();
      source.followed = follow;
    }
    if (!core.pending && !core.stale_since && model_.plain()) agree_with_resolve(now, core);
  }

  // Where no source has failed since it answered, a resolve at this moment says the same.
  void agree_with_resolve(int64_t now, const View& watched) {
    std::vector<Script> scripts;
    for (const Source& source : sources_) {
      if (source.followed && !source.said) return;  // it may say something else in a resolve
      scripts.push_back({0, source.at(now)});
    }
    ++agreed_;
    const View resolved = core_resolve(config_, scripts);
    // Of several parts of a merge that fail a resolve tells the first, and asks the others no further; a watch knows all.
    if (has_merge(config_.cluster) && (!resolved.answer || !watched.answer)) return;
    if (resolved.text() != watched.text())
      difference_ = wrong("a resolve at " + std::to_string(now), resolved);
  }

  static bool has_merge(const ResolverConfig& config) {
    return config.kind == ResolverConfig::Kind::kMerge ||
           std::any_of(config.children.begin(), config.children.end(), has_merge);
  }

  std::string wrong(const std::string& when, const View& wanted) const {
    return words(config_.cluster) + "\n" + when + "\n  core:  " + told_ +
           "\n  rules: " + wanted.text();
  }

  Chance chance_;
  Config config_;
  Tree tree_;
  model::Watch model_;
  std::vector<Source> sources_;
  int64_t due_ns_ = INT64_MAX;
  std::string told_, difference_;
  int agreed_ = 0;
};

}  // namespace

TEST_CASE("a resolve of a random tree says what the rules say") {
  for (uint64_t seed = first_seed(); seed < first_seed() + trees(); ++seed) {
    Chance chance(seed);
    const Config config = random_config(chance);
    std::vector<Script> scripts;
    for (size_t leaf = 0; leaf < leaf_count(config.cluster); ++leaf)
      scripts.push_back(random_script(chance, leaf));
    const std::string core = core_resolve(config, scripts).text();
    const std::string rules = resolve(config, scripts).text();
    if (core == rules) continue;
    INFO("seed ", seed, ": ", words(config.cluster));
    REQUIRE(core == rules);
  }
}

TEST_CASE("a watch of a random tree says what the rules say, at every moment") {
  uint64_t agreed = 0;
  for (uint64_t seed = first_seed(); seed < first_seed() + trees(); ++seed) {
    WatchRun run(seed);
    const std::string difference = run.run();
    agreed += static_cast<uint64_t>(run.agreed());
    if (!difference.empty()) FAIL("seed ", seed, ": ", difference);
  }
  CHECK(agreed > trees());
}
