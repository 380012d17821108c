// Tree: what the resolvers of a config answer together, computed from what each source has said. The rules are those of
// sdk/composition.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config/config.h"
#include "core/plugin/backend.h"
#include "core/resolve/part.h"
#include "core/result.h"
#include "core/spec/snapshot.h"

namespace muster {

// One moment on both clocks.
struct Moment {
  int64_t monotonic_ns = 0;
  int64_t realtime_ns = 0;  // since 1970 UTC
};

// Why and since when a source fails.
struct Failing {
  Error error;
  Moment since;
};

// Has no thread and no clock: the caller asks the sources that it names and tells it what they said. So one set of rules
// serves resolve, watch, and tests on a virtual clock. One thread at a time.
class Tree {
 public:
  enum class Mode {
    kResolve,  // each source is asked once
    kWatch,    // sources are followed; the last good answer of each is kept
  };

  // What one leaf is to do now.
  struct Request {
    bool wanted = false;      // it is to be asked, or followed; one that is not has said nothing
    bool cancelled = false;   // its answer no longer matters: it is to end (kResolve)
    int64_t deadline_ns = 0;  // of its first answer, on the monotonic clock
  };

  // What all resolvers answer together.
  struct Answer {
    Part part;
    std::optional<Failing> stale;  // a source of it fails; its last good answer is in `part`
    bool gone = false;             // a source of it says that it is no longer there
  };

  struct Evaluation {
    std::optional<Result<Answer>> answer;  // nothing: not yet
    Moment failed_since;                   // of an error
    std::vector<SourceRecord> sources;     // in the order of the config
    int64_t due_ns = INT64_MAX;            // evaluate again then, though nothing was reported
    // Of one chain each: it has changed its source, in words. Told once.
    std::vector<std::string> changes;
  };

  // `config` outlives this.
  Tree(const Config& config, Mode mode);

  // The leaves have numbers, in the order of the config.
  size_t leaf_count() const { return leaves_.size(); }
  const ResolverConfig& leaf(size_t leaf) const { return *leaves_[leaf].config; }
  const Request& request(size_t leaf) const { return leaves_[leaf].request; }
  // The longest time that one answer of the leaf may take: its own timeout and its share of those around it.
  int64_t budget_ns(size_t leaf) const { return leaves_[leaf].budget_ns; }
  // Where it runs, for `sources`.
  void set_where(size_t leaf, std::string where) { leaves_[leaf].where = std::move(where); }
  // What it waits for now, for the error when it has said nothing in time.
  void set_progress(size_t leaf, std::string progress) {
    leaves_[leaf].progress = std::move(progress);
  }

  // A leaf has said something, good or not. One that is not wanted any longer is not listened to.
  void report(size_t leaf, BackendOutcome outcome, int64_t milliseconds, Moment at);

  // Whatever has not answered yet is to end (kResolve).
  void cancel() { cancel(root_); }

  // What follows from all that. Updates what the leaves are to do.
  Evaluation evaluate(Moment now);

 private:
  struct Leaf {
    const ResolverConfig* config = nullptr;
    int64_t budget_ns = 0;
    Request request;
    std::string where, progress;
    int64_t milliseconds = 0;
    std::vector<RequestRecord> requests;
    std::optional<BackendAnswer> good;  // the last one
    std::optional<Failing> gone;        // after `good` it has said NOT_FOUND
    std::optional<Failing> failing;     // after what it has said last

    void forget();
  };

  struct Node {
    const ResolverConfig* config = nullptr;
    std::vector<Node> children;
    size_t leaf = 0;         // of a leaf: its number
    int64_t budget_ns = 0;   // the longest time from its beginning to its answer
    bool begun = false;      // it is being asked
    bool asked = false;      // in this evaluation
    bool answered = false;   // or failed, in the evaluation before
    bool cancelled = false;  // it was to end before that
    int64_t begun_ns = 0, deadline_ns = 0;
    std::optional<Moment> failed_since;
    std::optional<size_t> source;    // chain: the child whose answer was taken last
    bool content = false;            // chain: its source was good when it was taken, or is again
    int64_t search_deadline_ns = 0;  // chain: by which a source is to be found
    std::string change;              // chain: how it came to its source, where that is another one
  };

  // What one resolver answers, or that it does not yet, or why not.
  struct View {
    std::optional<Result<Part>> part;  // nothing: not yet
    std::optional<Failing> stale;
    std::optional<Failing> gone;
    std::optional<Failing> stopped;  // it is stale for a reason that only the user can mend
    Moment failed_since;
    std::vector<SourceRecord> sources;  // its own, then those below it

    bool pending() const { return !part; }
    bool answered() const { return part && part->ok(); }
  };

  void make(const ResolverConfig& config, int64_t budget_ns, Node& node);
  View ask(Node& node, int64_t deadline_ns);
  View ask_leaf(Node& node);
  View ask_chain(Node& node);
  View ask_merge(Node& node);
  View ask_child(Node& chain, size_t child);
  View stop_chain(Node& chain, size_t at, Moment since, std::vector<Error> errors,
                  std::optional<View> last, std::vector<SourceRecord> sources);
  bool is_good(const Node& chain, size_t child, const View& view);
  void choose(Node& chain, size_t child, const std::vector<Error>& errors, View& view);
  void cancel(Node& node);
  void rest(Node& node);
  void prepare(Node& node);
  SourceRecord own_record(const Node& node) const;
  void record_not_asked(const Node& node, const std::string& why,
                        std::vector<SourceRecord>& sources) const;

  const Config& config_;
  const Mode mode_;
  Node root_;
  std::vector<Leaf> leaves_;
  Moment now_;  // of the running evaluation
  int64_t due_ns_ = INT64_MAX;
  std::vector<std::string> changes_;
};

}  // namespace muster
