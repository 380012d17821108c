#include "tests/model/world.h"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace muster::model {
namespace {

constexpr Code kCodes[] = {
    Code::kNotFound,           Code::kNotFound,         Code::kUnavailable,
    Code::kUnavailable,        Code::kDeadlineExceeded, Code::kResourceExhausted,
    Code::kFailedPrecondition, Code::kPermissionDenied, Code::kInvalidArgument,
    Code::kInternal,           Code::kDataLoss,         Code::kAlreadyExists,
    Code::kUnauthenticated,    Code::kUnknown,          Code::kAborted};

// Not the same as any other moment of a tree: ties are told apart by chance of threads, which no rule covers.
int64_t odd(Chance& chance, int64_t below_ns) { return chance.below(below_ns / 2) * 2 + 1; }

ResolverConfig random_resolver(Chance& chance, int depth, const std::string& path) {
  ResolverConfig resolver;
  resolver.path = path;
  const int64_t kind = depth == 0 ? 0 : chance.below(5);
  if (kind <= 1) {
    resolver.backend = "scripted";
    if (chance.one_in(6)) resolver.timeout = std::chrono::nanoseconds(odd(chance, 20 * kSecond));
    return resolver;
  }
  const bool chain = kind != 4;
  resolver.kind = chain ? ResolverConfig::Kind::kChain : ResolverConfig::Kind::kMerge;
  if (chain) resolver.fallback_after = std::chrono::nanoseconds(odd(chance, 90 * kSecond));
  if (chance.one_in(8)) resolver.timeout = std::chrono::nanoseconds(odd(chance, 30 * kSecond));
  const int64_t count = 1 + chance.below(3);
  for (int64_t n = 0; n < count; ++n)
    resolver.children.push_back(random_resolver(
        chance, depth - 1, path + (chain ? ".chain[" : ".merge[") + std::to_string(n) + "]"));
  return resolver;
}

}  // namespace

Config random_config(Chance& chance) {
  Config config;
  do {
    config.cluster = random_resolver(chance, 3, "cluster");
  } while (leaf_count(config.cluster) > 8);
  config.timeout = std::chrono::nanoseconds(kSecond + odd(chance, 40 * kSecond));
  return config;
}

size_t leaf_count(const ResolverConfig& config) {
  if (config.kind == ResolverConfig::Kind::kLeaf) return 1;
  size_t count = 0;
  for (const ResolverConfig& child : config.children) count += leaf_count(child);
  return count;
}

Outcome random_outcome(Chance& chance, size_t leaf) {
  Outcome outcome;
  if (chance.one_in(2)) {
    outcome.code = kCodes[chance.below(std::size(kCodes))];
    return outcome;
  }
  Said said;
  const int64_t jobs = chance.one_in(12) ? 0 : 1 + chance.below(2);
  for (int64_t n = 0; n < jobs; ++n) {
    Job job;
    const std::string name = chance.one_in(3) ? "ps" : "worker";
    const int64_t count = chance.below(4);
    const bool sparse = chance.one_in(5);
    int64_t index = 0;
    for (int64_t task = 0; task < count; ++task) {
      if (sparse || chance.one_in(8)) index += chance.below(3);
      job.tasks[index] = "10." + std::to_string(leaf) + "." + std::to_string(chance.below(3)) +
                         "." + std::to_string(index) + ":1";
      ++index;
    }
    job.listed = count > 0 || chance.one_in(3);
    if (chance.one_in(3)) job.expected = count + chance.below(3);
    if (chance.one_in(4)) job.missing.push_back(chance.one_in(2) ? -1 : index + chance.below(2));
    if (!job.listed && !job.said()) continue;
    said.jobs[name] = job;
  }
  if (chance.one_in(6) && said.jobs.count("worker") != 0 && !said.jobs["worker"].tasks.empty())
    said.me = {"worker", said.jobs["worker"].tasks.begin()->first};
  outcome.answer = said;
  return outcome;
}

Script random_script(Chance& chance, size_t leaf) {
  // An even number: deadlines are odd ones. The leaf's number keeps two leaves apart.
  const int64_t delay = (chance.below(25'000'000) * 16 + static_cast<int64_t>(leaf)) * 2 * 50;
  return {chance.one_in(10) ? 1000 * kSecond : delay, random_outcome(chance, leaf)};
}

std::string words(const ResolverConfig& config) {
  std::string text;
  if (config.kind == ResolverConfig::Kind::kLeaf) {
    text = "leaf";
  } else {
    text = config.kind == ResolverConfig::Kind::kChain ? "chain[" : "merge[";
    for (const ResolverConfig& child : config.children) text += words(child) + ", ";
    text.replace(text.size() - 2, 2, "]");
  }
  return config.timeout ? text + " in " + std::to_string(config.timeout->count()) : text;
}

// ---- The core -------------------------------------------------------------------------------

BackendOutcome to_core(const Outcome& outcome) {
  if (!outcome.answer) return {Error{outcome.code, "as scripted", {}}, {}};
  BackendAnswer answer;
  for (const auto& [name, job] : outcome.answer->jobs) {
    if (job.listed && !answer.spec.add_job(name)) throw std::logic_error("no such job");
    for (const auto& [index, address] : job.tasks) {
      Task task;
      task.index = static_cast<int32_t>(index);
      task.address = *Address::parse(address);
      if (!answer.spec.add_task(name, std::move(task))) throw std::logic_error("no such task");
    }
    if (!job.said()) continue;
    JobStatus status{name, 0, job.expected, {}};
    for (const int64_t index : job.missing) status.missing.push_back({index, "", "as scripted"});
    answer.jobs.push_back(std::move(status));
  }
  if (outcome.answer->me)
    answer.identity = {outcome.answer->me->first, outcome.answer->me->second, {"as scripted"}};
  return {std::move(answer), {}};
}

View from_core(const Tree::Evaluation& evaluation) {
  View view;
  view.pending = !evaluation.answer.has_value();
  if (view.pending) return view;
  if (!evaluation.answer->ok()) {
    view.code = evaluation.answer->error().code;
    return view;
  }
  const Tree::Answer& answer = **evaluation.answer;
  view.answer.emplace();
  for (const muster::Job& job : answer.part.spec.jobs()) {
    Job& said = view.answer->jobs[job.name];
    said.listed = true;
    for (const Task& task : job.tasks) said.tasks[task.index] = task.address.to_string();
  }
  for (const JobStatus& status : answer.part.jobs) {
    Job& said = view.answer->jobs[status.name];
    said.expected = status.expected;
    for (const MissingTask& missing : status.missing) said.missing.push_back(missing.index);
  }
  if (answer.part.identity.known())
    view.answer->me = {answer.part.identity.type, answer.part.identity.index};
  if (answer.stale) view.stale_since = answer.stale->since.monotonic_ns;
  view.gone = answer.gone;
  return view;
}

View core_resolve(const Config& config, const std::vector<Script>& scripts) {
  struct Call {
    bool begun = false, ended = false;
    int64_t end = 0;
    Outcome outcome;
  };
  Tree tree(config, Tree::Mode::kResolve);
  std::vector<Call> calls(tree.leaf_count());
  int64_t now = 0;
  for (;;) {
    Tree::Evaluation evaluation = tree.evaluate({now, now});
    const Call* next = nullptr;
    for (size_t leaf = 0; leaf < calls.size(); ++leaf) {
      Call& call = calls[leaf];
      const Tree::Request& request = tree.request(leaf);
      if (request.wanted && !call.begun) {
        call.begun = true;
        call.outcome = scripts[leaf].outcome;
        call.end = now + scripts[leaf].delay_ns;
        if (call.end > std::max(request.deadline_ns, now)) {
          call.end = std::max(request.deadline_ns, now);
          call.outcome = {std::nullopt, Code::kDeadlineExceeded};
        }
      }
      if (request.cancelled && call.begun && !call.ended && call.end > now) {
        call.end = now;
        call.outcome = {std::nullopt, Code::kCancelled};
      }
      if (call.begun && !call.ended && (next == nullptr || call.end < next->end)) next = &call;
    }
    if (next == nullptr) return from_core(evaluation);
    now = next->end;
    for (size_t leaf = 0; leaf < calls.size(); ++leaf) {
      Call& call = calls[leaf];
      if (!call.begun || call.ended || call.end > now) continue;
      call.ended = true;
      tree.report(leaf, to_core(call.outcome), 0, {now, now});
    }
  }
}

}  // namespace muster::model
