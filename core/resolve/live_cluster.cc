#include "core/resolve/live_cluster.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/resolve/follower.h"
#include "core/resolve/source_words.h"
#include "core/resolve/tree.h"

namespace muster {
namespace {

// What a source has said since it was looked at last: no more than its last answer and the last failure after it.
class Mailbox {
 public:
  struct Message {
    BackendOutcome outcome;
    int64_t milliseconds = 0;
    Moment at;
  };

  void put(Message message) {
    const std::lock_guard lock(mutex_);
    // NOT_FOUND is a word about the members, and what fails after it must not hide it.
    if (message.outcome.answer) messages_.clear();
    if (!messages_.empty() && code_of(messages_.back()) == code_of(message)) messages_.pop_back();
    messages_.push_back(std::move(message));
  }
  std::vector<Message> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(messages_, {});
  }

 private:
  static Code code_of(const Message& message) {
    return message.outcome.answer ? Code::kOk : message.outcome.answer.error().code;
  }
  std::mutex mutex_;
  std::vector<Message> messages_;
};

// Whether no member is known that should be there: members that are missing are not gone.
bool misses_nobody(const Snapshot& snapshot) {
  return std::all_of(snapshot.jobs.begin(), snapshot.jobs.end(), [](const JobStatus& job) {
    return job.missing.empty() && job.expected.value_or(0) == 0;
  });
}

struct Source {
  std::shared_ptr<Backend> backend;
  // Each time it is followed it has another one, so that what was said before is not heard later.
  std::shared_ptr<Mailbox> mailbox;
  std::unique_ptr<Follower> follower;
  std::string status;  // told in the log
};

}  // namespace

struct LiveCluster::State {
  State(const Config& watched, LiveSettings with)
      : config(watched), settings(std::move(with)), tree(watched, Tree::Mode::kWatch) {}

  Moment now() const { return {monotonic_ns(), settings.session()->realtime_ns("")}; }
  bool follow();
  SnapshotPtr stale(const Error& error, Moment since) const;
  void log(const Tree::Evaluation& evaluation);

  const Config& config;
  const LiveSettings settings;
  Tree tree;
  std::vector<Source> sources;
  std::vector<std::unique_ptr<Follower>> resting;  // told to end
  SnapshotPtr last;                                // the last good answer
  std::optional<Moment> failed_since;              // of an answer that makes no snapshot
  bool had_tasks = false;
};

LiveCluster::LiveCluster(std::unique_ptr<State> state) : state_(std::move(state)) {}

LiveCluster::~LiveCluster() {
  for (Source& source : state_->sources)
    if (source.follower != nullptr) source.follower->stop();
}

Result<std::unique_ptr<LiveCluster>> LiveCluster::create(const Config& config,
                                                         const BackendFactory& factory,
                                                         LiveSettings settings) {
  auto state = std::make_unique<State>(config, std::move(settings));
  for (size_t leaf = 0; leaf < state->tree.leaf_count(); ++leaf) {
    auto backend = make_backend(config, state->tree.leaf(leaf), factory);
    if (!backend) return std::move(backend).error();
    state->tree.set_where(leaf, (*backend)->where());
    state->sources.push_back({*std::move(backend), nullptr, nullptr, ""});
  }
  return std::unique_ptr<LiveCluster>(new LiveCluster(std::move(state)));
}

// Begins and ends followers as the tree wants it. True: one cannot be begun, which the tree was told.
bool LiveCluster::State::follow() {
  bool failed = false;
  for (size_t leaf = 0; leaf < sources.size(); ++leaf) {
    Source& source = sources[leaf];
    const bool wanted = tree.request(leaf).wanted;
    if (!wanted && source.follower != nullptr) {
      source.follower->stop();
      resting.push_back(std::move(source.follower));
      source.mailbox.reset();
    }
    if (!wanted || source.follower != nullptr) continue;
    source.mailbox = std::make_shared<Mailbox>();
    const auto said = [this, mailbox = source.mailbox](BackendOutcome outcome, int64_t took) {
      mailbox->put({std::move(outcome), took, now()});
      settings.changed();
    };
    auto follower = Follower::start(source.backend, {tree.leaf(leaf).path, settings.interval_ns,
                                                     tree.budget_ns(leaf), settings.session, said});
    if (follower) {
      source.follower = *std::move(follower);
    } else {
      tree.report(leaf, {std::move(follower).error(), {}}, 0, now());
      failed = true;
    }
  }
  return failed;
}

LiveCluster::Evaluation LiveCluster::evaluate() {
  State& state = *state_;
  state.resting.clear();
  for (size_t leaf = 0; leaf < state.sources.size(); ++leaf) {
    const Source& source = state.sources[leaf];
    if (source.mailbox == nullptr) continue;
    for (auto& message : source.mailbox->take())
      state.tree.report(leaf, std::move(message.outcome), message.milliseconds, message.at);
    state.tree.set_progress(leaf, source.backend->progress());
  }
  const Moment now = state.now();
  Tree::Evaluation evaluation = state.tree.evaluate(now);
  if (state.follow()) {
    evaluation = state.tree.evaluate(now);
    state.follow();
  }
  state.log(evaluation);

  Evaluation done;
  done.due_ns = evaluation.due_ns;
  if (!evaluation.answer) {
    if (state.last != nullptr) done.said = state.last;
    return done;
  }
  std::optional<Failing> failing;
  if (evaluation.answer->ok()) {
    Tree::Answer& answer = **evaluation.answer;
    auto made =
        assemble(std::move(answer.part), {&state.config, now.realtime_ns, evaluation.sources});
    if (made) {
      Snapshot& snapshot = *made;
      const bool empty = snapshot.spec.task_count() == 0;
      snapshot.gone = empty && (answer.gone || (state.had_tasks && misses_nobody(snapshot)));
      state.had_tasks = state.had_tasks || !empty;
      if (answer.stale) {
        snapshot.stale = true;
        snapshot.stale_since_ns = answer.stale->since.realtime_ns;
      }
      state.failed_since.reset();
      state.last = std::make_shared<const Snapshot>(std::move(snapshot));
      done.said = state.last;
      return done;
    }
    if (!state.failed_since) state.failed_since = now;
    failing = Failing{std::move(made).error(), *state.failed_since};
  } else {
    state.failed_since.reset();
    failing = Failing{std::move(evaluation.answer->error()), evaluation.failed_since};
  }
  if (state.last != nullptr) {
    done.said = state.stale(failing->error, failing->since);
  } else {
    done.said = ResolveFailure{std::move(failing->error), std::move(evaluation.sources)};
  }
  return done;
}

// The last good answer, for nothing better can be made: an answer that was given is not lost.
SnapshotPtr LiveCluster::State::stale(const Error& error, Moment since) const {
  Snapshot snapshot = *last;
  if (!snapshot.stale || since.realtime_ns < snapshot.stale_since_ns)
    snapshot.stale_since_ns = since.realtime_ns;
  snapshot.stale = true;
  snapshot.warnings.push_back(
      failing_words(config.cluster.path, since.realtime_ns, "this is the last good answer", error));
  return std::make_shared<const Snapshot>(std::move(snapshot));
}

// A line for each source that says something else than before.
void LiveCluster::State::log(const Tree::Evaluation& evaluation) {
  const auto session = settings.session();
  for (const std::string& change : evaluation.changes)
    session->log().write(2, change, session->secrets());
  for (const SourceRecord& record : evaluation.sources) {
    for (size_t leaf = 0; leaf < sources.size(); ++leaf) {
      if (tree.leaf(leaf).path != record.path || sources[leaf].status == record.status) continue;
      sources[leaf].status = record.status;
      if (!record.status.empty()) session->log().write(1, source_line(record), session->secrets());
    }
  }
}

std::string LiveCluster::progress() const {
  std::string lines;
  for (size_t leaf = 0; leaf < state_->sources.size(); ++leaf)
    add_progress(state_->tree.leaf(leaf), *state_->sources[leaf].backend, lines);
  return lines;
}

}  // namespace muster
