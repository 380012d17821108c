// The rules of sdk/composition.md once more, as plainly as they can be written: without words, sources, threads or speed. What the
// core answers is held against this. Nothing here uses core/resolve.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/config/config.h"
#include "core/result.h"

namespace muster::model {

// One job of an answer.
struct Job {
  bool listed = false;  // the answer names it; else it only expects or misses members of it
  std::map<int64_t, std::string> tasks;  // index to address
  std::optional<int64_t> expected;
  std::vector<int64_t> missing;  // indices; -1: not known
  bool said() const { return expected.has_value() || !missing.empty(); }
};

// An answer, of a source or of several together.
struct Said {
  std::map<std::string, Job> jobs;
  std::optional<std::pair<std::string, int64_t>> me;
};

// What one source says when it is asked: an answer, or a code.
struct Outcome {
  std::optional<Said> answer;
  Code code = Code::kOk;
};

// What a resolver says: nothing yet, an answer, or a code.
struct View {
  bool pending = false;
  std::optional<Said> answer;
  Code code = Code::kOk;
  std::optional<int64_t> stale_since;  // of the source that has failed for the longest time
  bool gone = false;
  std::optional<int64_t> stopped;  // stale since then for a reason that ends a chain
  int64_t failed_since = 0;        // of a code

  std::string text() const;  // all of it, to be compared
};

// The answers of several parts of a merge, or the code of their conflict.
View merge(const std::vector<Said>& parts);

// One resolve: what comes out when each source is asked once. `scripts`, by leaf in the order of the config: how long it takes to
// say what. A source that takes longer than it may says DEADLINE_EXCEEDED then.
struct Script {
  int64_t delay_ns = 0;
  Outcome outcome;
};
View resolve(const Config& config, const std::vector<Script>& scripts);

// A watch. Told what the sources say, asked at any moment what follows.
class Watch {
 public:
  explicit Watch(const Config& config);
  void report(size_t leaf, const Outcome& outcome, int64_t now_ns);
  View evaluate(int64_t now_ns);
  bool wanted(size_t leaf) const { return nodes_[leaves_[leaf]].begun; }
  // Whether every source that is followed has said what it says now and nothing else before.
  bool plain() const;

 private:
  struct Node {
    const ResolverConfig* config = nullptr;
    std::vector<size_t> children;
    int64_t budget_ns = 0;
    bool begun = false, asked = false;
    int64_t deadline_ns = 0;
    std::optional<int64_t> failed_since;
    std::optional<size_t> source;      // of a chain
    bool content = false;              // of a chain: it does not look for a better source
    std::optional<int64_t> search_by;  // of a chain
    std::optional<Said> good;          // of a leaf, and all below
    bool gone = false;
    std::optional<std::pair<Code, int64_t>> failing;
  };
  size_t add(const ResolverConfig& config, int64_t budget_ns);
  View ask(size_t node, int64_t deadline_ns, int64_t now);
  View ask_leaf(Node& node, int64_t now);
  View ask_chain(size_t node, int64_t now);
  View ask_merge(size_t node, int64_t now);

  std::vector<Node> nodes_;
  std::vector<size_t> leaves_;  // in nodes_
};

}  // namespace muster::model
