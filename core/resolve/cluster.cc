#include "core/resolve/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "core/resolve/source_words.h"
#include "core/resolve/tree.h"
#include "core/thread.h"

namespace muster {
namespace {

struct Leaf {
  const ResolverConfig* config;
  std::shared_ptr<Backend> backend;
};

// One resolve: asks each source that the tree names, on a thread of its own, until the tree has its answer.
class Resolving {
 public:
  Resolving(Tree& tree, const std::vector<Leaf>& leaves, std::shared_ptr<Session> session,
            const CancelToken& cancel)
      : tree_(tree), leaves_(leaves), session_(std::move(session)), cancel_(cancel) {
    calls_.resize(leaves.size());
  }
  // Whatever still runs, because something was thrown, is ended.
  ~Resolving() {
    for (Call& call : calls_) {
      call.cancel.cancel();
      if (call.thread.joinable()) call.thread.join();
    }
  }
  Resolving(const Resolving&) = delete;
  Resolving& operator=(const Resolving&) = delete;

  Tree::Evaluation run() {
    for (;;) {
      if (cancel_.cancelled()) tree_.cancel();
      Tree::Evaluation evaluation = tree_.evaluate({monotonic_ns(), 0});
      if (start_and_cancel()) continue;  // one was asked on this thread
      if (running_ == 0) return evaluation;
      take_said();
    }
  }

 private:
  struct Call {
    bool begun = false;
    int64_t deadline_ns = 0;
    CancelToken cancel;
    std::thread thread;
  };
  struct Said {
    size_t leaf;
    BackendOutcome outcome;
    int64_t milliseconds;
  };

  // True: an outcome was told to the tree meanwhile.
  bool start_and_cancel() {
    std::vector<size_t> due;
    for (size_t leaf = 0; leaf < calls_.size(); ++leaf) {
      const Tree::Request& request = tree_.request(leaf);
      if (request.cancelled) calls_[leaf].cancel.cancel();
      if (request.wanted && !calls_[leaf].begun) due.push_back(leaf);
    }
    if (due.size() == 1 && running_ == 0) {
      prepare(due[0]);
      report(ask(due[0]));
      return true;
    }
    bool told = false;
    for (const size_t leaf : due) {
      prepare(leaf);
      auto thread = start_thread("resolve", [this, leaf] {
        Said said = ask(leaf);
        const std::lock_guard lock(mutex_);
        said_.push_back(std::move(said));
        changed_.notify_all();
      });
      if (thread) {
        calls_[leaf].thread = *std::move(thread);
        ++running_;
      } else {  // no thread to be had: one after another answers as well
        report(ask(leaf));
        told = true;
      }
    }
    return told;
  }

  void prepare(size_t leaf) {
    Call& call = calls_[leaf];
    call.begun = true;
    call.deadline_ns = tree_.request(leaf).deadline_ns;
    call.cancel = cancel_.child();
    if (tree_.request(leaf).cancelled) call.cancel.cancel();
  }

  Said ask(size_t leaf) const {
    const int64_t began_ns = monotonic_ns();
    BackendOutcome outcome = ask_backend(leaf);
    return {leaf, std::move(outcome), (monotonic_ns() - began_ns + 500'000) / 1'000'000};
  }

  BackendOutcome ask_backend(size_t leaf) const {
    try {
      return leaves_[leaf].backend->resolve(session_, calls_[leaf].deadline_ns,
                                            calls_[leaf].cancel);
    } catch (const std::exception& exception) {
      return {exception_error(exception, "muster: unexpected"), {}};
    }
  }

  // Waits for outcomes and tells them to the tree.
  void take_said() {
    std::vector<Said> all;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !said_.empty(); });
      all.swap(said_);
    }
    for (Said& said : all) {
      calls_[said.leaf].thread.join();
      --running_;
      report(std::move(said));
    }
  }

  void report(Said said) {
    tree_.report(said.leaf, std::move(said.outcome), said.milliseconds, {monotonic_ns(), 0});
  }

  Tree& tree_;
  const std::vector<Leaf>& leaves_;
  const std::shared_ptr<Session> session_;
  const CancelToken& cancel_;
  std::vector<Call> calls_;  // of the leaves
  int running_ = 0;          // threads
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Said> said_;  // under the mutex
};

}  // namespace

Result<std::shared_ptr<Backend>> make_backend(const Config& config, const ResolverConfig& leaf,
                                              const BackendFactory& factory) {
  auto backend = factory(leaf);
  if (!backend) return placed(config, leaf, std::move(backend).error());
  return backend;
}

struct Cluster::State {
  Config config;
  std::vector<Leaf> leaves;  // in the order of the config, as a Tree numbers them
};

Cluster::Cluster(std::unique_ptr<State> state) : state_(std::move(state)) {}
Cluster::~Cluster() = default;

Result<std::unique_ptr<Cluster>> Cluster::create(Config config, const BackendFactory& factory) {
  auto state = std::make_unique<State>();
  state->config = std::move(config);
  const Tree tree(state->config, Tree::Mode::kResolve);
  for (size_t leaf = 0; leaf < tree.leaf_count(); ++leaf) {
    auto backend = make_backend(state->config, tree.leaf(leaf), factory);
    if (!backend) return std::move(backend).error();
    state->leaves.push_back({&tree.leaf(leaf), *std::move(backend)});
  }
  return std::unique_ptr<Cluster>(new Cluster(std::move(state)));
}

std::variant<SnapshotPtr, ResolveFailure> Cluster::resolve(const std::shared_ptr<Session>& session,
                                                           const CancelToken& cancel) {
  const Config& config = state_->config;
  const int64_t time_ns = session->realtime_ns("");
  Tree tree(config, Tree::Mode::kResolve);
  for (size_t leaf = 0; leaf < state_->leaves.size(); ++leaf)
    tree.set_where(leaf, state_->leaves[leaf].backend->where());
  Tree::Evaluation evaluation = Resolving(tree, state_->leaves, session, cancel).run();
  for (SourceRecord& record : evaluation.sources) {
    if (record.status == "NOT_ASKED") continue;
    record.milliseconds = session->milliseconds(record.path, record.milliseconds);
    session->log().write(1, source_line(record), session->secrets());
  }
  if (!evaluation.answer->ok())
    return ResolveFailure{std::move(evaluation.answer->error()), std::move(evaluation.sources)};
  auto snapshot = assemble(std::move((**evaluation.answer).part),
                           AssembleInput{&config, time_ns, evaluation.sources});
  if (!snapshot) return ResolveFailure{std::move(snapshot).error(), std::move(evaluation.sources)};
  return std::make_shared<const Snapshot>(std::move(*snapshot));
}

// Asks each backend that can say it, in turn. What some said is told with the errors of the others; where all failed, or somebody
// cancelled, the first error is all there is to tell. `said`: where it goes.
template <typename Told, typename Value, typename Ask>
static Result<std::vector<Told>> ask_each(const Config& config, const std::vector<Leaf>& leaves,
                                          const CancelToken& cancel, bool (Backend::*can)() const,
                                          std::optional<Value> Told::*said, const Ask& ask) {
  std::vector<Told> all;
  for (const Leaf& leaf : leaves) {
    all.push_back({leaf.config->path, leaf.config->backend});
    Backend& backend = *leaf.backend;
    if (!(backend.*can)()) continue;
    Result<Value> answer = ask(backend);
    if (answer)
      all.back().*said = *std::move(answer);
    else
      all.back().error = placed(config, *leaf.config, std::move(answer).error());
    if (cancel.cancelled()) break;
  }
  const auto failed = [](const Told& one) { return one.error.has_value(); };
  const auto first = std::find_if(all.begin(), all.end(), failed);
  if (first == all.end()) return all;
  if (cancel.cancelled() || std::all_of(all.begin(), all.end(), failed))
    return *std::move(first->error);
  return all;
}

Result<std::vector<ResolverNeeds>> Cluster::needs(const std::shared_ptr<Session>& session,
                                                  const CancelToken& cancel,
                                                  const NeedsRequest& request) const {
  const int64_t deadline_ns = monotonic_ns() + state_->config.timeout.count();
  return ask_each(
      state_->config, state_->leaves, cancel, &Backend::can_say_needs, &ResolverNeeds::needs,
      [&](Backend& backend) { return backend.needs(session, deadline_ns, cancel, request); });
}

Result<std::vector<ResolverPlan>> Cluster::plan(const std::shared_ptr<Session>& session,
                                                const CancelToken& cancel, int64_t members) const {
  const int64_t deadline_ns = monotonic_ns() + state_->config.timeout.count();
  return ask_each(
      state_->config, state_->leaves, cancel, &Backend::can_plan, &ResolverPlan::plan,
      [&](Backend& backend) { return backend.plan(session, deadline_ns, cancel, members); });
}

const Config& Cluster::config() const { return state_->config; }

std::string Cluster::progress() const {
  std::string lines;
  for (const Leaf& leaf : state_->leaves) add_progress(*leaf.config, *leaf.backend, lines);
  return lines;
}

}  // namespace muster
