// Random trees of scripted sources on a virtual clock, and what the core makes of them.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/config/config.h"
#include "core/resolve/tree.h"
#include "tests/model/model.h"

namespace muster::model {

constexpr int64_t kSecond = 1'000'000'000;

// Chance with a fixed beginning.
class Chance {
 public:
  explicit Chance(uint64_t seed) : random_(seed) {}
  int64_t below(int64_t limit) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit));
  }
  bool one_in(int64_t count) { return below(count) == 0; }

 private:
  std::mt19937_64 random_;
};

// Chains and merges within each other, up to some depth, with timeouts here and there.
Config random_config(Chance& chance);
size_t leaf_count(const ResolverConfig& config);

// Anything that a source may say: answers, with missing members and identities, and each code.
Outcome random_outcome(Chance& chance, size_t leaf);
Script random_script(Chance& chance, size_t leaf);

// "chain[a, merge[b, c]]", with timeouts.
std::string words(const ResolverConfig& config);

// The same for the core, and back.
BackendOutcome to_core(const Outcome& outcome);
View from_core(const Tree::Evaluation& evaluation);

// One resolve of the core's tree on a virtual clock: sources are begun, answer, reach their deadline and are cancelled as scripted.
View core_resolve(const Config& config, const std::vector<Script>& scripts);

}  // namespace muster::model
