#include "core/resolve/cluster.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <mutex>
#include <thread>

#include "core/resolve/part.h"

namespace muster {
namespace {

// One resolver of the tree with its backend.
struct Node {
  const ResolverConfig* config = nullptr;
  std::shared_ptr<Backend> backend;  // leaf
  std::vector<Node> children;
};

// What asking one resolver gave: its answer or why there is none, and what it and those below it did.
struct NodeOutcome {
  Result<Part> part;
  std::vector<SourceRecord> sources;
};

// "Not here" and "not now" let a chain go on; anything else is for the user to mend.
bool chain_goes_on(Code code) {
  switch (code) {
    case Code::kNotFound:
    case Code::kUnavailable:
    case Code::kDeadlineExceeded:
    case Code::kResourceExhausted:
    case Code::kFailedPrecondition: return true;
    default: return false;
  }
}

const char* kind_name(const ResolverConfig& config) {
  switch (config.kind) {
    case ResolverConfig::Kind::kLeaf: return config.backend.c_str();
    case ResolverConfig::Kind::kChain: return "chain";
    case ResolverConfig::Kind::kMerge: return "merge";
  }
  return "";
}

std::string indent(std::string_view text) {
  std::string indented;
  for (const char c : text) {
    indented += c;
    if (c == '\n') indented += "    ";
  }
  return indented;
}

// Signals of the launcher are handled on the launcher's own threads.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// An error about an option shows the option's place in the config.
Error placed(const Config& config, const ResolverConfig& leaf, Error error) {
  const auto mark = leaf.option_marks.find(error.detail("option"));
  if (!error.detail("option").empty() && mark != leaf.option_marks.end())
    error.message = show_place(config, mark->second, error.message);
  return error;
}

// One resolve of a tree.
class Asking {
 public:
  Asking(const Config& config, std::shared_ptr<Session> session)
      : config_(config), session_(std::move(session)) {}

  NodeOutcome ask(const Node& node, int64_t deadline_ns, const CancelToken& cancel) const {
    const int64_t begin = monotonic_ns();
    if (node.config->timeout)
      deadline_ns = std::min(deadline_ns, begin + node.config->timeout->count());
    NodeOutcome outcome = ask_kind(node, deadline_ns, cancel);
    SourceRecord& own = outcome.sources.front();
    own.milliseconds =
        session_->milliseconds(own.path, (monotonic_ns() - begin + 500'000) / 1'000'000);
    if (outcome.part) {
      outcome.part->path = own.path;
      own.status = code_name(Code::kOk);
      own.tasks = static_cast<int64_t>(outcome.part->spec.task_count());
    } else {
      own.status = code_name(outcome.part.error().code);
      own.message = outcome.part.error().message;
    }
    log(own);
    return outcome;
  }

 private:
  NodeOutcome ask_kind(const Node& node, int64_t deadline_ns, const CancelToken& cancel) const {
    switch (node.config->kind) {
      case ResolverConfig::Kind::kLeaf: return ask_leaf(node, deadline_ns, cancel);
      case ResolverConfig::Kind::kChain: return ask_chain(node, deadline_ns, cancel);
      case ResolverConfig::Kind::kMerge: return ask_merge(node, deadline_ns, cancel);
    }
    return {Error{Code::kInternal, "no such kind of resolver", {}}, {own_record(node)}};
  }

  void log(const SourceRecord& own) const {
    session_->log().write(
        1,
        fmt::format("{} ({}): {}{}{}, {} ms", own.backend, own.path, own.status,
                    own.status == "OK" ? fmt::format(", tasks: {}", own.tasks) : "",
                    own.message.empty() ? "" : ": " + own.message, own.milliseconds),
        session_->secrets());
  }

  static SourceRecord own_record(const Node& node) {
    SourceRecord record;
    record.path = node.config->path;
    record.backend = kind_name(*node.config);
    if (node.backend != nullptr) record.where = node.backend->where();
    return record;
  }

  static void record_not_asked(const Node& node, const std::string& why,
                               std::vector<SourceRecord>& sources) {
    SourceRecord record = own_record(node);
    record.status = "NOT_ASKED";
    record.message = why;
    sources.push_back(std::move(record));
    for (const Node& child : node.children) record_not_asked(child, why, sources);
  }

  NodeOutcome ask_leaf(const Node& node, int64_t deadline_ns, const CancelToken& cancel) const {
    SourceRecord record = own_record(node);
    BackendOutcome outcome = node.backend->resolve(session_, deadline_ns, cancel);
    record.requests = std::move(outcome.requests);
    if (!outcome.answer)
      return {placed(config_, *node.config, std::move(outcome.answer).error()),
              {std::move(record)}};
    BackendAnswer& answer = *outcome.answer;
    Part part{record.path,
              std::move(answer.spec),
              std::move(answer.jobs),
              std::move(answer.identity),
              std::move(answer.attributes),
              std::move(answer.warnings)};
    return {std::move(part), {std::move(record)}};
  }

  NodeOutcome ask_chain(const Node& node, int64_t deadline_ns, const CancelToken& cancel) const {
    std::vector<SourceRecord> sources{own_record(node)};
    std::vector<Error> errors;
    for (size_t n = 0; n < node.children.size(); ++n) {
      const Node& child = node.children[n];
      // One that hangs must not eat the time of those behind it: each gets its share of what is left.
      const int64_t now = monotonic_ns();
      const int64_t share = (deadline_ns - now) / static_cast<int64_t>(node.children.size() - n);
      NodeOutcome outcome = ask(child, child.config->timeout ? deadline_ns : now + share, cancel);
      sources.insert(sources.end(), std::make_move_iterator(outcome.sources.begin()),
                     std::make_move_iterator(outcome.sources.end()));
      const bool answered = outcome.part.ok();
      if (!answered) errors.push_back(outcome.part.error());
      if (!answered && chain_goes_on(errors.back().code) && !cancel.cancelled()) continue;
      const std::string why = answered ? fmt::format("{} answered", child.config->path)
                                       : fmt::format("the chain stopped at {}", child.config->path);
      for (size_t rest = n + 1; rest < node.children.size(); ++rest)
        record_not_asked(node.children[rest], why, sources);
      if (answered) {
        if (n > 0)
          sources.front().message =
              fmt::format("{} answered; {}", child.config->path, said_before(node, errors));
        return {std::move(outcome.part), std::move(sources)};
      }
      return {chain_stopped(node, errors, n), std::move(sources)};
    }
    return {chain_failed(node, errors), std::move(sources)};
  }

  static std::string said_before(const Node& node, const std::vector<Error>& errors) {
    std::string said;
    for (size_t n = 0; n < errors.size(); ++n) {
      said += fmt::format("{}{} did not: {}", n == 0 ? "" : ", ", node.children[n].config->path,
                          code_name(errors[n].code));
    }
    return said;
  }

  static Error chain_stopped(const Node& node, std::vector<Error>& errors, size_t at) {
    Error error = std::move(errors[at]);
    if (node.children.size() > 1 && error.code != Code::kCancelled) {
      error.message += fmt::format(
          "\n  (the chain {} goes on only when a source is not here or not now; {} is for you to "
          "mend)",
          node.config->path, code_name(error.code));
    }
    return error;
  }

  // The most telling code: a source that is there and does not answer says more than one that is not there.
  static Error chain_failed(const Node& node, const std::vector<Error>& errors) {
    Code code = Code::kNotFound;
    std::string message = fmt::format("no resolver of the chain {} answered:", node.config->path);
    for (size_t n = 0; n < errors.size(); ++n) {
      const Error& error = errors[n];
      const bool telling = error.code != Code::kNotFound && error.code != Code::kFailedPrecondition;
      if (telling && code == Code::kNotFound) code = error.code;
      message += fmt::format("\n  {} ({}): {}: {}", node.children[n].config->path,
                             kind_name(*node.children[n].config), code_name(error.code),
                             indent(error.message));
    }
    return Error{code, std::move(message), {{"path", node.config->path}}};
  }

  // Side by side. The first failure ends it: there is no partial answer, so the others are not waited for.
  NodeOutcome ask_merge(const Node& node, int64_t deadline_ns, const CancelToken& cancel) const {
    const size_t count = node.children.size();
    const CancelToken enough = cancel.child();
    std::vector<std::optional<NodeOutcome>> outcomes(count);
    const auto ask_one = [&](size_t n) {
      outcomes[n] = ask(node.children[n], deadline_ns, enough);
      // One that was cancelled is no cause: who cancelled it has cancelled the others too. Only a replay of a merge that failed has it come first.
      const auto& part = outcomes[n]->part;
      if (!part && part.error().code != Code::kCancelled) enough.cancel();
    };
    {
      std::vector<std::thread> threads;
      const SignalsBlocked blocked;
      for (size_t n = 1; n < count; ++n) {
        try {
          threads.emplace_back(ask_one, n);
        } catch (
            const std::system_error&) {  // no thread to be had: one after another answers as well
          ask_one(n);
        }
      }
      ask_one(0);
      for (std::thread& thread : threads) thread.join();
    }
    std::vector<SourceRecord> sources{own_record(node)};
    std::vector<Part> parts;
    std::optional<Error> failure;
    for (std::optional<NodeOutcome>& outcome : outcomes) {
      sources.insert(sources.end(), std::make_move_iterator(outcome->sources.begin()),
                     std::make_move_iterator(outcome->sources.end()));
      if (outcome->part) {
        parts.push_back(std::move(*outcome->part));
        continue;
      }
      // One that was cancelled because of another's failure is not the cause.
      Error& error = outcome->part.error();
      if (!failure || (failure->code == Code::kCancelled && error.code != Code::kCancelled)) {
        failure = std::move(error);
      } else if (error.code != Code::kCancelled) {
        failure->message += fmt::format("\nand {}", error.message);
      }
    }
    if (failure) return {std::move(*failure), std::move(sources)};
    return {merge_parts(node.config->path, std::move(parts)), std::move(sources)};
  }

  const Config& config_;
  std::shared_ptr<Session> session_;
};

Status make_nodes(const Config& config, const ResolverConfig& resolver,
                  const BackendFactory& factory, Node& node) {
  node.config = &resolver;
  if (resolver.kind == ResolverConfig::Kind::kLeaf) {
    auto backend = factory(resolver);
    if (!backend) return placed(config, resolver, std::move(backend).error());
    node.backend = std::move(*backend);
    return {};
  }
  node.children.resize(resolver.children.size());
  for (size_t n = 0; n < resolver.children.size(); ++n) {
    if (Status status = make_nodes(config, resolver.children[n], factory, node.children[n]);
        !status)
      return status;
  }
  return {};
}

void add_leaves(const Node& node, std::vector<const Node*>& leaves) {
  if (node.backend != nullptr) leaves.push_back(&node);
  for (const Node& child : node.children) add_leaves(child, leaves);
}

void add_progress(const Node& node, std::string& lines) {
  if (node.backend != nullptr) {
    const std::string progress = node.backend->progress();
    if (!progress.empty())
      lines += fmt::format("{}{} ({}): {}", lines.empty() ? "" : "\n", node.config->backend,
                           node.config->path, progress);
  }
  for (const Node& child : node.children) add_progress(child, lines);
}

}  // namespace

struct Cluster::State {
  Config config;
  Node root;
};

Cluster::Cluster(std::unique_ptr<State> state) : state_(std::move(state)) {}
Cluster::~Cluster() = default;

Result<std::unique_ptr<Cluster>> Cluster::create(Config config, const BackendFactory& factory) {
  auto state = std::make_unique<State>();
  state->config = std::move(config);
  if (Status status = make_nodes(state->config, state->config.cluster, factory, state->root);
      !status)
    return std::move(status).error();
  return std::unique_ptr<Cluster>(new Cluster(std::move(state)));
}

std::variant<SnapshotPtr, ResolveFailure> Cluster::resolve(std::shared_ptr<Session> session,
                                                           const CancelToken& cancel) {
  const Config& config = state_->config;
  const int64_t time_ns = session->realtime_ns("");
  const int64_t deadline_ns = monotonic_ns() + config.timeout.count();
  NodeOutcome outcome = Asking(config, std::move(session)).ask(state_->root, deadline_ns, cancel);
  if (!outcome.part)
    return ResolveFailure{std::move(outcome.part).error(), std::move(outcome.sources)};
  auto snapshot =
      assemble(std::move(*outcome.part), AssembleInput{&config, time_ns, outcome.sources});
  if (!snapshot) return ResolveFailure{std::move(snapshot).error(), std::move(outcome.sources)};
  return std::make_shared<const Snapshot>(std::move(*snapshot));
}

// What some resolvers told, with the errors of the others. Where all failed, or somebody cancelled, the first error is all there is
// to tell.
template <typename Told>
static Result<std::vector<Told>> told_by_some(std::vector<Told> all, const CancelToken& cancel) {
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
  std::vector<const Node*> leaves;
  add_leaves(state_->root, leaves);
  std::vector<ResolverNeeds> all;
  for (const Node* leaf : leaves) {
    all.push_back({leaf->config->path, leaf->config->backend});
    if (!leaf->backend->can_say_needs()) continue;
    auto needs = leaf->backend->needs(session, deadline_ns, cancel, request);
    if (needs)
      all.back().needs = *std::move(needs);
    else
      all.back().error = placed(state_->config, *leaf->config, std::move(needs).error());
    if (cancel.cancelled()) break;
  }
  return told_by_some(std::move(all), cancel);
}

Result<std::vector<ResolverPlan>> Cluster::plan(const std::shared_ptr<Session>& session,
                                                const CancelToken& cancel, int64_t members) const {
  const int64_t deadline_ns = monotonic_ns() + state_->config.timeout.count();
  std::vector<const Node*> leaves;
  add_leaves(state_->root, leaves);
  std::vector<ResolverPlan> all;
  for (const Node* leaf : leaves) {
    all.push_back({leaf->config->path, leaf->config->backend});
    if (!leaf->backend->can_plan()) continue;
    auto plan = leaf->backend->plan(session, deadline_ns, cancel, members);
    if (plan)
      all.back().plan = *std::move(plan);
    else
      all.back().error = placed(state_->config, *leaf->config, std::move(plan).error());
    if (cancel.cancelled()) break;
  }
  return told_by_some(std::move(all), cancel);
}

const Config& Cluster::config() const { return state_->config; }

std::string Cluster::progress() const {
  std::string lines;
  add_progress(state_->root, lines);
  return lines;
}

}  // namespace muster
