#include "tests/model/model.h"

#include <algorithm>
#include <set>

namespace muster::model {
namespace {

constexpr int64_t kNever = INT64_MAX;

bool goes_on(Code code) {
  return code == Code::kNotFound || code == Code::kUnavailable || code == Code::kDeadlineExceeded ||
         code == Code::kResourceExhausted || code == Code::kFailedPrecondition;
}

int64_t known(const Job& job) {
  return job.expected.value_or(static_cast<int64_t>(job.tasks.size() + job.missing.size()));
}

// How many places a job takes in a list; nothing: it is a map.
std::optional<int64_t> places(const Job& job) {
  std::set<int64_t> indices;
  int64_t unplaced = 0;
  for (const auto& [index, address] : job.tasks) indices.insert(index);
  for (const int64_t index : job.missing)
    if (index < 0)
      ++unplaced;
    else
      indices.insert(index);
  const int64_t count = static_cast<int64_t>(indices.size());
  const int64_t end = indices.empty() ? 0 : *indices.rbegin() + 1;
  const bool gaps = end != count;
  if (gaps && end > job.expected.value_or(0) && end > count + unplaced) return std::nullopt;
  return std::max({end, job.expected.value_or(0), count + unplaced});
}

View failure(Code code) {
  View view;
  view.code = code;
  return view;
}

// The most telling code of a chain that has no answer.
Code telling(const std::vector<Code>& codes) {
  for (const Code code : codes)
    if (code != Code::kNotFound && code != Code::kFailedPrecondition) return code;
  return Code::kNotFound;
}

}  // namespace

std::string View::text() const {
  if (pending) return "not yet";
  if (!answer) return code_name(code);
  std::string text;
  for (const auto& [name, job] : answer->jobs) {
    text += name + ":";
    for (const auto& [index, address] : job.tasks)
      text += " " + std::to_string(index) + "=" + address;
    if (job.expected) text += " of " + std::to_string(*job.expected);
    std::vector<int64_t> missing = job.missing;
    std::sort(missing.begin(), missing.end());
    for (const int64_t index : missing) text += " without " + std::to_string(index);
    text += "; ";
  }
  if (answer->me) text += "me " + answer->me->first + " " + std::to_string(answer->me->second);
  if (stale_since) text += " stale since " + std::to_string(*stale_since);
  if (gone) text += " gone";
  return text;
}

View merge(const std::vector<Said>& parts) {
  View merged;
  merged.answer.emplace();
  std::set<std::string> names;
  for (const Said& part : parts)
    for (const auto& [name, job] : part.jobs) names.insert(name);
  std::map<std::pair<size_t, std::string>, int64_t> offsets;
  for (const std::string& name : names) {
    bool list = true, counted = false, said = false;
    for (const Said& part : parts) {
      const auto job = part.jobs.find(name);
      if (job == part.jobs.end()) continue;
      list = list && places(job->second).has_value();
      counted = counted || job->second.expected.has_value();
      said = said || job->second.said();
    }
    Job all;
    int64_t next = 0, expected = 0;
    for (size_t n = 0; n < parts.size(); ++n) {
      const auto found = parts[n].jobs.find(name);
      if (found == parts[n].jobs.end()) continue;
      const Job& job = found->second;
      const int64_t offset = list ? next : 0;
      offsets[{n, name}] = offset;
      all.listed = all.listed || job.listed;
      for (const auto& [index, address] : job.tasks)
        if (!all.tasks.emplace(index + offset, address).second)
          return failure(Code::kAlreadyExists);
      for (const int64_t index : job.missing)
        all.missing.push_back(index < 0 ? index : index + offset);
      expected += known(job);
      if (list) next += *places(job);
    }
    if (counted) all.expected = expected;
    merged.answer->jobs[name] = all;
  }
  for (size_t n = 0; n < parts.size(); ++n) {
    if (!parts[n].me) continue;
    auto me = *parts[n].me;
    if (const auto offset = offsets.find({n, me.first}); offset != offsets.end())
      me.second += offset->second;
    if (merged.answer->me && merged.answer->me != me) return failure(Code::kFailedPrecondition);
    merged.answer->me = me;
  }
  return merged;
}

// ---- One resolve ----------------------------------------------------------------------------

namespace {

struct Ended {
  View view;
  int64_t at = 0;
};

class Resolve {
 public:
  explicit Resolve(const std::vector<Script>& scripts) : scripts_(scripts) {}

  // From `begin` to `deadline`; at `cancelled` whatever still runs is cancelled.
  Ended ask(const ResolverConfig& config, size_t first_leaf, int64_t begin, int64_t deadline,
            int64_t cancelled) const {
    if (config.timeout) deadline = std::min(deadline, begin + config.timeout->count());
    switch (config.kind) {
      case ResolverConfig::Kind::kLeaf: return ask_leaf(first_leaf, begin, deadline, cancelled);
      case ResolverConfig::Kind::kChain:
        return ask_chain(config, first_leaf, begin, deadline, cancelled);
      case ResolverConfig::Kind::kMerge: break;
    }
    return ask_merge(config, first_leaf, begin, deadline, cancelled);
  }

  static size_t leaves(const ResolverConfig& config) {
    if (config.kind == ResolverConfig::Kind::kLeaf) return 1;
    size_t count = 0;
    for (const ResolverConfig& child : config.children) count += leaves(child);
    return count;
  }

 private:
  Ended ask_leaf(size_t leaf, int64_t begin, int64_t deadline, int64_t cancelled) const {
    const Script& script = scripts_[leaf];
    const int64_t end = begin + script.delay_ns;
    const int64_t limit = std::max(deadline, begin);
    Ended ended{View{}, std::min(end, limit)};
    if (end <= limit) {
      ended.view.answer = script.outcome.answer;
      ended.view.code = script.outcome.code;
    } else {
      ended.view = failure(Code::kDeadlineExceeded);
    }
    if (ended.at > cancelled) return {failure(Code::kCancelled), std::max(cancelled, begin)};
    return ended;
  }

  Ended ask_chain(const ResolverConfig& config, size_t leaf, int64_t begin, int64_t deadline,
                  int64_t cancelled) const {
    std::vector<Code> codes;
    int64_t now = begin;
    const size_t count = config.children.size();
    for (size_t n = 0; n < count; ++n) {
      const ResolverConfig& child = config.children[n];
      const int64_t share = now + (deadline - now) / static_cast<int64_t>(count - n);
      Ended one = ask(child, leaf, now, child.timeout ? deadline : share, cancelled);
      leaf += leaves(child);
      now = one.at;
      if (one.view.answer || !goes_on(one.view.code)) return {one.view, now};
      // What would be begun at the moment of the cancel is cancelled.
      if (now >= cancelled && n + 1 < count) return {failure(Code::kCancelled), now};
      codes.push_back(one.view.code);
    }
    return {failure(telling(codes)), now};
  }

  Ended ask_merge(const ResolverConfig& config, size_t leaf, int64_t begin, int64_t deadline,
                  int64_t cancelled) const {
    int64_t stop = cancelled;
    std::vector<Ended> all;
    size_t next = leaf;
    for (const ResolverConfig& child : config.children) {
      all.push_back(ask(child, next, begin, deadline, cancelled));
      if (!all.back().view.answer) stop = std::min(stop, all.back().at);
      next += leaves(child);
    }
    // The first failure cancels the others: they are looked at once more.
    next = leaf;
    for (size_t n = 0; n < all.size(); ++n) {
      const ResolverConfig& child = config.children[n];
      if (all[n].at > stop) all[n] = ask(child, next, begin, deadline, stop);
      next += leaves(child);
    }
    int64_t end = begin;
    std::vector<Said> parts;
    std::optional<Code> code;
    for (const Ended& one : all) {
      end = std::max(end, one.at);
      if (one.view.answer) {
        parts.push_back(*one.view.answer);
      } else if (!code || (*code == Code::kCancelled && one.view.code != Code::kCancelled)) {
        code = one.view.code;
      }
    }
    return {code ? failure(*code) : merge(parts), end};
  }

  const std::vector<Script>& scripts_;
};

}  // namespace

View resolve(const Config& config, const std::vector<Script>& scripts) {
  return Resolve(scripts).ask(config.cluster, 0, 0, config.timeout.count(), kNever).view;
}

// ---- A watch --------------------------------------------------------------------------------

Watch::Watch(const Config& config) { add(config.cluster, config.timeout.count()); }

size_t Watch::add(const ResolverConfig& config, int64_t budget_ns) {
  if (config.timeout) budget_ns = std::min(budget_ns, config.timeout->count());
  const size_t own = nodes_.size();
  nodes_.emplace_back();
  nodes_[own].config = &config;
  nodes_[own].budget_ns = budget_ns;
  if (config.kind == ResolverConfig::Kind::kLeaf) leaves_.push_back(own);
  const size_t count = config.children.size();
  for (size_t n = 0; n < count; ++n) {
    const bool share = config.kind == ResolverConfig::Kind::kChain && !config.children[n].timeout;
    const size_t child =
        add(config.children[n], share ? budget_ns / static_cast<int64_t>(count - n) : budget_ns);
    nodes_[own].children.push_back(child);
  }
  return own;
}

void Watch::report(size_t leaf, const Outcome& outcome, int64_t now) {
  Node& node = nodes_[leaves_[leaf]];
  if (!node.begun) return;
  if (outcome.answer) {
    node.good = outcome.answer;
    node.gone = false;
    node.failing.reset();
  } else if (outcome.code == Code::kNotFound && node.good) {
    node.gone = true;
    node.failing.reset();
  } else {
    node.failing = {outcome.code, node.failing ? node.failing->second : now};
  }
}

bool Watch::plain() const {
  for (const size_t leaf : leaves_) {
    const Node& node = nodes_[leaf];
    if (node.begun && (node.good.has_value() == node.failing.has_value() || node.gone))
      return false;
  }
  return true;
}

View Watch::evaluate(int64_t now) {
  for (Node& node : nodes_) node.asked = false;
  View view = ask(0, now + nodes_[0].budget_ns, now);
  for (Node& node : nodes_) {
    if (node.asked || !node.begun) continue;
    Node rested;
    rested.config = node.config;
    rested.children = node.children;
    rested.budget_ns = node.budget_ns;
    node = rested;
  }
  return view;
}

View Watch::ask(size_t at, int64_t deadline_ns, int64_t now) {
  {
    Node& node = nodes_[at];
    node.asked = true;
    if (!node.begun) {
      node.begun = true;
      node.deadline_ns = deadline_ns;
      if (node.config->timeout)
        node.deadline_ns = std::min(deadline_ns, now + node.config->timeout->count());
    }
  }
  View view = nodes_[at].config->kind == ResolverConfig::Kind::kLeaf    ? ask_leaf(nodes_[at], now)
              : nodes_[at].config->kind == ResolverConfig::Kind::kChain ? ask_chain(at, now)
                                                                        : ask_merge(at, now);
  Node& node = nodes_[at];
  if (view.pending || view.answer) {
    node.failed_since.reset();
  } else {
    if (node.failing) node.failed_since = node.failing->second;
    if (!node.failed_since) node.failed_since = now;
    view.failed_since = *node.failed_since;
  }
  return view;
}

View Watch::ask_leaf(Node& node, int64_t now) {
  View view;
  if (!node.good && !node.failing) {
    if (now >= node.deadline_ns) return failure(Code::kDeadlineExceeded);
    view.pending = true;
    return view;
  }
  if (!node.good) return failure(node.failing->first);
  view.answer = node.good;
  if (node.failing) view.stale_since = node.failing->second;
  if (node.failing && !goes_on(node.failing->first)) view.stopped = node.failing->second;
  if (node.gone) {
    view.gone = true;
    view.answer.emplace();
    for (const auto& [name, job] : node.good->jobs) {
      const int64_t had = known(job);
      if (had == 0) continue;
      Job empty;
      empty.expected = had;
      empty.missing = {-1};
      view.answer->jobs[name] = empty;
    }
  }
  return view;
}

View Watch::ask_chain(size_t at, int64_t now) {
  const std::vector<size_t> children = nodes_[at].children;
  const size_t count = children.size();
  const auto ask_child = [&](size_t n) {
    Node& chain = nodes_[at];
    const Node& child = nodes_[children[n]];
    int64_t deadline = child.deadline_ns;
    if (!child.begun) {
      if (!chain.search_by) chain.search_by = chain.deadline_ns;
      if (*chain.search_by <= now) chain.search_by = now + chain.budget_ns;
      const int64_t left = *chain.search_by - now;
      deadline =
          child.config->timeout ? *chain.search_by : now + left / static_cast<int64_t>(count - n);
    }
    return ask(children[n], deadline, now);
  };
  std::optional<View> second;
  size_t second_at = 0;
  bool waiting = false;
  std::vector<Code> codes;
  for (size_t n = 0; n < count; ++n) {
    View view = ask_child(n);
    std::optional<size_t>& source = nodes_[at].source;
    if (view.stopped && (!source || source == n)) {
      source = n;
      nodes_[at].content = true;
      return view;
    }
    if (view.answer && !view.gone && !view.stopped) {
      const bool young = view.stale_since && source == n && nodes_[at].content &&
                         now < *view.stale_since + nodes_[at].config->fallback_after.count();
      if (!view.stale_since || young) {
        source = n;
        nodes_[at].content = true;
        return view;
      }
    }
    if (view.pending) {
      waiting = true;
      if (!source || *source <= n) break;
    } else if (view.answer && !view.stopped) {
      if (!second || source == n) {
        second = view;
        second_at = n;
      }
    } else if (!view.stopped && goes_on(view.code)) {
      codes.push_back(view.code);
    } else {
      // For the user to mend. The answer given last stays.
      std::optional<View> last = second;
      if (!last && view.answer) last = view;
      if (source && *source > n) {
        const View behind = ask_child(*source);
        if (behind.answer) last = behind;
      }
      if (!last) return view;
      const int64_t since = view.stopped.value_or(view.failed_since);
      last->stale_since = std::min(last->stale_since.value_or(kNever), since);
      last->stopped = std::min(last->stopped.value_or(kNever), since);
      return *last;
    }
  }
  if (second) {
    nodes_[at].source = second_at;
    nodes_[at].content = false;
    return *second;
  }
  if (waiting) {
    View view;
    view.pending = true;
    return view;
  }
  return failure(telling(codes));
}

View Watch::ask_merge(size_t at, int64_t now) {
  const std::vector<size_t> children = nodes_[at].children;
  std::vector<Said> parts;
  std::optional<Code> code;
  std::optional<int64_t> stale_since, stopped;
  bool pending = false, gone = false;
  for (const size_t child : children) {
    const View view = ask(child, nodes_[at].deadline_ns, now);
    if (view.pending) {
      pending = true;
    } else if (!view.answer) {
      if (!code) code = view.code;
    } else {
      parts.push_back(*view.answer);
      gone = gone || view.gone;
      if (view.stale_since) stale_since = std::min(stale_since.value_or(kNever), *view.stale_since);
      if (view.stopped) stopped = std::min(stopped.value_or(kNever), *view.stopped);
    }
  }
  if (code) return failure(*code);
  View merged;
  merged.pending = pending;
  if (pending) return merged;
  merged = merge(parts);
  if (merged.answer) {
    merged.stale_since = stale_since;
    merged.gone = gone;
    merged.stopped = stopped;
  }
  return merged;
}

}  // namespace muster::model
