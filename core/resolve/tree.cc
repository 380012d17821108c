#include "core/resolve/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/resolve/source_words.h"
#include "core/spec/rfc3339.h"

namespace muster {
namespace {

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

// What is left of an answer when its source is gone: no members, and each job misses all that it had. So the answer is
// not complete, and the ranks of other sources' tasks stay where they were.
Part without_members(std::string path, const BackendAnswer& last, const std::string& reason) {
  Part part;
  part.path = std::move(path);
  const auto add = [&](const std::string& job, int64_t count) {
    if (count > 0) part.jobs.push_back({job, 0, count, {{-1, "", reason}}});
  };
  for (const Job& job : last.spec.jobs()) {
    const auto said =
        std::find_if(last.jobs.begin(), last.jobs.end(),
                     [&](const JobStatus& status) { return status.name == job.name; });
    int64_t count = static_cast<int64_t>(job.tasks.size());
    if (said != last.jobs.end()) count = expected_or_known(*said, count);
    add(job.name, count);
  }
  for (const JobStatus& status : last.jobs)
    if (last.spec.find(status.name) == nullptr) add(status.name, expected_or_known(status, 0));
  for (const auto& [key, value] : last.attributes)
    if (key == "rpc_layer" || key == "environment") part.attributes.emplace_back(key, value);
  return part;
}

const std::optional<Failing>& earlier_failure(const std::optional<Failing>& a,
                                              const std::optional<Failing>& b) {
  if (!a || !b) return a ? a : b;
  return b->since.monotonic_ns < a->since.monotonic_ns ? b : a;
}

}  // namespace

Tree::Tree(const Config& config, Mode mode) : config_(config), mode_(mode) {
  make(config.cluster, config.timeout.count(), root_);
}

void Tree::make(const ResolverConfig& config, int64_t budget_ns, Node& node) {
  node.config = &config;
  if (config.timeout) budget_ns = std::min(budget_ns, config.timeout->count());
  node.budget_ns = budget_ns;
  if (config.kind == ResolverConfig::Kind::kLeaf) {
    node.leaf = leaves_.size();
    Leaf& leaf = leaves_.emplace_back();
    leaf.config = &config;
    leaf.budget_ns = budget_ns;
    return;
  }
  const size_t count = config.children.size();
  node.children.resize(count);
  for (size_t n = 0; n < count; ++n) {
    const ResolverConfig& child = config.children[n];
    const bool shares = config.kind == ResolverConfig::Kind::kChain && !child.timeout;
    make(child, shares ? budget_ns / static_cast<int64_t>(count - n) : budget_ns, node.children[n]);
  }
}

// ---- What leaves say ------------------------------------------------------------------------

void Tree::Leaf::forget() {
  request = {};
  milliseconds = 0;
  requests.clear();
  good.reset();
  gone.reset();
  failing.reset();
}

void Tree::report(size_t number, BackendOutcome outcome, int64_t milliseconds, Moment at) {
  Leaf& leaf = leaves_[number];
  if (!leaf.request.wanted) return;
  leaf.milliseconds = milliseconds;
  leaf.requests = std::move(outcome.requests);
  if (outcome.answer) {
    leaf.good = std::move(*outcome.answer);
    leaf.gone.reset();
    leaf.failing.reset();
    return;
  }
  Error error = placed(config_, *leaf.config, std::move(outcome.answer).error());
  if (leaf.good && error.code == Code::kNotFound) {
    // Told once, with its first words: they may have a number in them that changes.
    if (!leaf.gone) leaf.gone = Failing{std::move(error), at};
    leaf.failing.reset();
    return;
  }
  if (!leaf.failing) {
    leaf.failing = Failing{std::move(error), at};
  } else if (leaf.failing->error.code != error.code) {
    leaf.failing->error = std::move(error);
  }
}

// ---- The evaluation -------------------------------------------------------------------------

Tree::Evaluation Tree::evaluate(Moment now) {
  now_ = now;
  due_ns_ = INT64_MAX;
  changes_.clear();
  prepare(root_);
  View view = ask(root_, now.monotonic_ns + config_.timeout.count());
  rest(root_);
  Evaluation evaluation;
  evaluation.sources = std::move(view.sources);
  evaluation.due_ns = due_ns_;
  evaluation.failed_since = view.failed_since;
  evaluation.changes = std::move(changes_);
  if (view.pending()) return evaluation;
  if (!view.answered()) {
    evaluation.answer = std::move(*view.part).error();
  } else {
    evaluation.answer =
        Answer{std::move(**view.part), std::move(view.stale), view.gone.has_value()};
  }
  return evaluation;
}

void Tree::prepare(Node& node) {
  node.asked = false;
  for (Node& child : node.children) prepare(child);
}

// A resolver that nobody asks any longer rests: a chain had its answer before it. What it said is forgotten.
void Tree::rest(Node& node) {
  for (Node& child : node.children) rest(child);
  if (node.asked || !node.begun) return;
  node.begun = false;
  node.answered = false;
  node.failed_since.reset();
  node.source.reset();
  node.content = false;
  node.search_deadline_ns = 0;
  node.change.clear();
  if (node.children.empty()) leaves_[node.leaf].forget();
}

// `deadline_ns` counts when the resolver is asked for the first time.
Tree::View Tree::ask(Node& node, int64_t deadline_ns) {
  node.asked = true;
  if (!node.begun) {
    node.begun = true;
    node.begun_ns = now_.monotonic_ns;
    node.deadline_ns = deadline_ns;
    if (node.config->timeout)
      node.deadline_ns = std::min(deadline_ns, now_.monotonic_ns + node.config->timeout->count());
  }
  View view;
  switch (node.config->kind) {
    case ResolverConfig::Kind::kLeaf: view = ask_leaf(node); break;
    case ResolverConfig::Kind::kChain: view = ask_chain(node); break;
    case ResolverConfig::Kind::kMerge: view = ask_merge(node); break;
  }
  SourceRecord& own = view.sources.front();
  if (!node.children.empty())
    own.milliseconds = (now_.monotonic_ns - node.begun_ns + 500'000) / 1'000'000;
  if (view.answered()) {
    Part& part = **view.part;
    part.path = own.path;
    own.tasks = static_cast<int64_t>(part.spec.task_count());
    if (own.status.empty()) own.status = code_name(Code::kOk);
  } else if (!view.pending()) {
    own.status = code_name(view.part->error().code);
    own.message = view.part->error().message;
    if (!node.failed_since) node.failed_since = now_;
    view.failed_since = *node.failed_since;
  }
  if (view.pending() || view.answered()) node.failed_since.reset();
  node.answered = !view.pending();
  return view;
}

Tree::View Tree::ask_leaf(Node& node) {
  Leaf& leaf = leaves_[node.leaf];
  leaf.request.wanted = true;
  leaf.request.cancelled = node.cancelled;
  leaf.request.deadline_ns = node.deadline_ns;
  View view;
  SourceRecord& record = view.sources.emplace_back(own_record(node));
  record.milliseconds = leaf.milliseconds;
  record.requests = leaf.requests;
  if (!leaf.good && !leaf.failing) {
    if (mode_ == Mode::kResolve) return view;  // its backend keeps the deadline
    if (now_.monotonic_ns < node.deadline_ns) {
      due_ns_ = std::min(due_ns_, node.deadline_ns);
      return view;
    }
    view.part = Error{Code::kDeadlineExceeded,
                      "the deadline came before a first answer" +
                          (leaf.progress.empty() ? "" : "; it is waiting for: " + leaf.progress),
                      {}};
    return view;
  }
  if (!leaf.good) {
    view.part = leaf.failing->error;
    node.failed_since = leaf.failing->since;
    return view;
  }
  const std::string who = fmt::format("{} ({})", record.path, record.backend);
  const Failing* trouble = leaf.failing ? &*leaf.failing : leaf.gone ? &*leaf.gone : nullptr;
  if (trouble != nullptr) {
    record.status = code_name(trouble->error.code);
    record.message = trouble->error.message;
  }
  view.stale = leaf.failing;
  view.gone = leaf.gone;
  if (leaf.failing && !chain_goes_on(leaf.failing->error.code)) view.stopped = leaf.failing;
  if (leaf.gone) {
    const std::string since = rfc3339(leaf.gone->since.realtime_ns);
    Part part = without_members(
        record.path, *leaf.good,
        fmt::format("gone since {}: {}", since, first_line(leaf.gone->error.message)));
    part.warnings.push_back(
        fmt::format("{} is gone since {}: {}", who, since, with_hint(leaf.gone->error)));
    view.part = std::move(part);
  } else {
    const BackendAnswer& last = *leaf.good;
    view.part =
        Part{record.path, last.spec, last.jobs, last.identity, last.attributes, last.warnings};
  }
  if (leaf.failing)
    (*view.part)
        ->warnings.push_back(failing_words(who, leaf.failing->since.realtime_ns,
                                           "this is the last good answer", leaf.failing->error));
  return view;
}

// ---- Chains ---------------------------------------------------------------------------------

// One that hangs must not eat the time of those behind it: each child gets its share of what is left.
Tree::View Tree::ask_child(Node& chain, size_t n) {
  Node& child = chain.children[n];
  if (!child.begun) {
    const int64_t now = now_.monotonic_ns;
    if (chain.search_deadline_ns == 0) chain.search_deadline_ns = chain.deadline_ns;
    if (mode_ == Mode::kWatch && chain.search_deadline_ns <= now)
      chain.search_deadline_ns = now + chain.budget_ns;
    const int64_t left = chain.search_deadline_ns - now;
    const auto behind = static_cast<int64_t>(chain.children.size() - n);
    return ask(child, child.config->timeout ? chain.search_deadline_ns : now + left / behind);
  }
  return ask(child, child.deadline_ns);
}

// Whether the chain is content with this child. Of its source it is for some time, though that fails.
bool Tree::is_good(const Node& chain, size_t n, const View& view) {
  if (!view.answered()) return false;
  // As in a resolve, no other source is asked then.
  if (view.stopped) return chain.source == n || !chain.source;
  if (view.gone) return false;
  if (!view.stale) return true;
  if (chain.source != n || !chain.content) return false;
  const int64_t until = view.stale->since.monotonic_ns + chain.config->fallback_after.count();
  if (now_.monotonic_ns >= until) return false;
  if (n + 1 < chain.children.size()) due_ns_ = std::min(due_ns_, until);
  return true;
}

// Takes the answer of a child. `errors` are those of the children before it.
void Tree::choose(Node& chain, size_t n, const std::vector<Error>& errors, View& view) {
  const std::string& path = chain.children[n].config->path;
  if (chain.source && *chain.source != n) {
    const std::string& before = chain.children[*chain.source].config->path;
    std::string why = "which answers again";
    if (n > *chain.source) {
      const Error& error = errors[*chain.source];
      why = fmt::format("for {} said {}: {}", before, code_name(error.code),
                        first_line(error.message));
    }
    chain.change = fmt::format("{} changed its source at {} from {} to {}, {}", chain.config->path,
                               rfc3339(now_.realtime_ns), before, path, why);
    changes_.push_back(chain.change);
  }
  chain.source = n;
  if (!chain.change.empty())
    (*view.part)->warnings.insert((*view.part)->warnings.begin(), chain.change);
}

Tree::View Tree::ask_chain(Node& chain) {
  const size_t count = chain.children.size();
  std::vector<SourceRecord> sources{own_record(chain)};
  std::vector<Error> errors;        // of the children so far
  std::optional<View> second_best;  // an answer whose source is gone, or fails for too long
  size_t second_best_at = 0;
  bool waiting = false;
  const auto finish = [&](View view, size_t next, const std::string& why) {
    for (size_t n = next; n < count; ++n) record_not_asked(chain.children[n], why, sources);
    view.sources = std::move(sources);
    return view;
  };
  const auto take = [&](View view, size_t at, size_t next, bool content) {
    chain.content = content;
    const std::string& path = chain.children[at].config->path;
    choose(chain, at, errors, view);
    if (at > 0)
      sources.front().message =
          fmt::format("{} answered; {}", path, said_before(*chain.config, errors, at));
    return finish(std::move(view), next, path + " answered");
  };

  size_t n = 0;
  for (; n < count; ++n) {
    View view = ask_child(chain, n);
    sources.insert(sources.end(), view.sources.begin(), view.sources.end());
    if (is_good(chain, n, view)) return take(std::move(view), n, n + 1, true);
    if (view.pending()) {
      waiting = true;
      // Those behind it are asked when it has said something; the source that the chain has goes on.
      if (!chain.source || *chain.source <= n) break;
      errors.push_back({Code::kUnavailable, "it has not answered yet", {}});
    } else if (view.stopped) {
      const Failing stopped = *view.stopped;
      errors.push_back(stopped.error);
      if (!second_best) second_best = std::move(view);
      return stop_chain(chain, n, stopped.since, std::move(errors), std::move(second_best),
                        std::move(sources));
    } else if (view.answered()) {
      errors.push_back((view.gone ? view.gone : view.stale)->error);
      if (second_best && chain.source != n) continue;
      second_best = std::move(view);
      second_best_at = n;
    } else {
      errors.push_back(view.part->error());
      if (chain.cancelled && chain_goes_on(errors.back().code))
        errors.back() =
            Error{Code::kCancelled,
                  fmt::format("{} was cancelled after {} had said {}", chain.config->path,
                              chain.children[n].config->path, code_name(errors.back().code)),
                  {}};
      if (!chain_goes_on(errors.back().code))
        return stop_chain(chain, n, view.failed_since, std::move(errors), std::move(second_best),
                          std::move(sources));
    }
  }
  if (second_best) return take(*std::move(second_best), second_best_at, n + 1, false);
  if (waiting) return finish({}, n + 1, "those before it have not answered yet");
  View failed;
  failed.part = chain_failed(*chain.config, errors);
  return finish(std::move(failed), count, "");
}

// An error that is for the user to mend ends the chain. An answer that was given stays, and is stale: that of the source that
// the chain has behind this child, or `last`, of one before it.
Tree::View Tree::stop_chain(Node& chain, size_t at, Moment since, std::vector<Error> errors,
                            std::optional<View> last, std::vector<SourceRecord> sources) {
  const std::string& path = chain.children[at].config->path;
  for (size_t n = at + 1; n < chain.children.size(); ++n) {
    if (chain.source == n) {
      View source = ask_child(chain, n);
      sources.insert(sources.end(), source.sources.begin(), source.sources.end());
      if (source.answered()) last = std::move(source);
    } else {
      record_not_asked(chain.children[n], "the chain stopped at " + path, sources);
    }
  }
  View view;
  if (last && last->answered()) {
    view = *std::move(last);
    const Error& error = errors[at];
    (*view.part)
        ->warnings.push_back(failing_words(
            path, since.realtime_ns, "the last answer of " + chain.config->path + " stays", error));
    view.stale = earlier_failure(view.stale, Failing{error, since});
    view.stopped = earlier_failure(view.stopped, Failing{error, since});
  } else {
    view.part = chain_stopped(*chain.config, std::move(errors), at);
  }
  view.sources = std::move(sources);
  return view;
}

// ---- Merges ---------------------------------------------------------------------------------

// All are asked side by side. The first failure ends it: there is no partial answer, so the others are not waited for.
Tree::View Tree::ask_merge(Node& merge) {
  View view;
  view.sources.push_back(own_record(merge));
  std::vector<Part> parts;
  std::optional<Error> failure;
  bool pending = false;
  for (Node& child : merge.children) {
    View one = ask(child, merge.deadline_ns);
    view.sources.insert(view.sources.end(), std::make_move_iterator(one.sources.begin()),
                        std::make_move_iterator(one.sources.end()));
    view.stale = earlier_failure(view.stale, one.stale);
    view.gone = earlier_failure(view.gone, one.gone);
    view.stopped = earlier_failure(view.stopped, one.stopped);
    if (one.pending()) {
      pending = true;
    } else if (one.answered()) {
      parts.push_back(std::move(**one.part));
    } else {
      // One that was cancelled because of another's failure is not the cause.
      Error& error = one.part->error();
      if (!failure || (failure->code == Code::kCancelled && error.code != Code::kCancelled)) {
        failure = std::move(error);
      } else if (error.code != Code::kCancelled) {
        failure->message += fmt::format("\nand {}", error.message);
      }
    }
  }
  if (failure && pending && mode_ == Mode::kResolve) {
    // Whoever really cancels reaches the others as well.
    if (failure->code != Code::kCancelled) cancel(merge);
    return view;
  }
  if (failure) {
    view.part = *std::move(failure);
  } else if (!pending) {
    view.part = merge_parts(merge.config->path, std::move(parts));
  }
  if (!view.answered()) {
    view.stale.reset();
    view.gone.reset();
    view.stopped.reset();
  }
  return view;
}

// Whatever of it has not answered yet is to end.
void Tree::cancel(Node& node) {
  if (node.answered) return;
  node.cancelled = true;
  if (node.children.empty()) {
    Leaf& leaf = leaves_[node.leaf];
    leaf.request.cancelled = true;
  }
  for (Node& child : node.children)
    if (child.begun) cancel(child);
}

// ---- Words ----------------------------------------------------------------------------------

SourceRecord Tree::own_record(const Node& node) const {
  SourceRecord record;
  record.path = node.config->path;
  record.backend = kind_name(*node.config);
  if (node.children.empty()) record.where = leaves_[node.leaf].where;
  return record;
}

void Tree::record_not_asked(const Node& node, const std::string& why,
                            std::vector<SourceRecord>& sources) const {
  SourceRecord record = own_record(node);
  record.status = "NOT_ASKED";
  record.message = why;
  sources.push_back(std::move(record));
  for (const Node& child : node.children) record_not_asked(child, why, sources);
}

}  // namespace muster
