#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/resolve/part.h"

namespace muster {
namespace {

const std::string* find_attribute(const Attributes& attributes, std::string_view key) {
  for (const auto& [name, value] : attributes) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::optional<int64_t> parse_count(const std::string& text) {
  int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 0) return std::nullopt;
  return count;
}

JobStatus& status_of(std::vector<JobStatus>& jobs, const std::string& name) {
  for (JobStatus& status : jobs) {
    if (status.name == name) return status;
  }
  jobs.push_back(JobStatus{name, 0, std::nullopt, {}});
  return jobs.back();
}

void read_accelerators(const Attributes& attributes, std::map<std::string, int64_t>& accelerators) {
  constexpr std::string_view kCountOf = "accelerator.count.";
  for (const auto& [key, value] : attributes) {
    if (!key.starts_with(kCountOf)) continue;
    if (const auto count = parse_count(value)) accelerators[key.substr(kCountOf.size())] = *count;
  }
  const std::string* type = find_attribute(attributes, "accelerator.type");
  if (type == nullptr || type->empty()) return;
  const std::string* text = find_attribute(attributes, "accelerator.count");
  const auto count = text == nullptr ? std::optional<int64_t>(1) : parse_count(*text);
  if (count) accelerators[*type] = *count;
}

// By place, those that have none behind, whichever way the source came by them: an answer that a watch keeps is then the same as
// a fresh one.
bool stands_before(const MissingTask& a, const MissingTask& b) {
  const bool a_placed = a.index >= 0, b_placed = b.index >= 0;
  if (a_placed != b_placed) return a_placed;
  if (a.index != b.index) return a.index < b.index;
  return natural_compare(a.name, b.name) < 0;
}

// Jobs in the order of the spec, then those of which only something is said; expectations of the config over the sources'.
void fill_jobs(const Config& config, std::vector<JobStatus> said, Snapshot& snapshot) {
  for (const Job& job : snapshot.spec.jobs()) {
    status_of(snapshot.jobs, job.name).found = static_cast<int64_t>(job.tasks.size());
  }
  for (JobStatus& from : said) {
    JobStatus& status = status_of(snapshot.jobs, from.name);
    status.expected = from.expected;
    status.missing = std::move(from.missing);
    std::stable_sort(status.missing.begin(), status.missing.end(), stands_before);
  }
  for (const auto& [name, count] : config.expect) {
    JobStatus& status = status_of(snapshot.jobs, name);
    if (status.expected && *status.expected != count) {
      snapshot.warnings.push_back(
          fmt::format("the config expects {} tasks of {}, the source says that it has {}", count,
                      name, *status.expected));
    }
    status.expected = count;
  }
  for (const JobStatus& status : snapshot.jobs) {
    if (status.expected && status.found > *status.expected) {
      snapshot.warnings.push_back(fmt::format("{} has {} tasks, {} were expected", status.name,
                                              status.found, *status.expected));
    }
    if (!status.missing.empty() || (status.expected && status.found < *status.expected))
      snapshot.complete = false;
  }
}

// Nobody trains on a cluster without a task: it is complete only where somebody expects none, or a source knows that this
// process is alone.
void check_emptiness(bool evidence, Snapshot& snapshot) {
  if (evidence) return;
  const bool expected = std::any_of(snapshot.jobs.begin(), snapshot.jobs.end(),
                                    [](const JobStatus& job) { return job.expected.has_value(); });
  if (expected || snapshot.spec.task_count() != 0) return;
  snapshot.complete = false;
  snapshot.warnings.emplace_back(
      "the answer has no task, and nothing says how many there should be; `expect:` can say so");
}

bool is_missing(const Snapshot& snapshot, const std::string& type, int64_t index) {
  for (const JobStatus& status : snapshot.jobs) {
    if (status.name != type) continue;
    return std::any_of(status.missing.begin(), status.missing.end(),
                       [index](const MissingTask& missing) { return missing.index == index; });
  }
  return false;
}

// The identity's job may have no task in the cluster: then the task stands outside of it. `said` is who says the identity.
Status check_place(const std::string& said, Snapshot& snapshot) {
  const auto& [type, index, evidence] = snapshot.identity;
  const Job* job = snapshot.spec.find(type);
  if (job == nullptr || job->find(index) != nullptr || is_missing(snapshot, type, index)) return {};
  if (job->tasks.empty() && snapshot.complete) return {};
  if (!snapshot.complete) {
    snapshot.warnings.push_back(fmt::format("{}, which is not among the tasks found", said));
    return {};
  }
  auto address = snapshot.spec.task_address(type, index);
  return Error{Code::kFailedPrecondition, fmt::format("{}: {}", said, address.error().message), {}};
}

// The config's task (a flag's stands in the config too, marked in `task_from`) against the sources' evidence.
Status fill_identity(const Config& config, Identity evidence, Snapshot& snapshot) {
  snapshot.identity = std::move(evidence);
  if (!config.task_type || !config.task_id) {
    if (!snapshot.identity.known()) return {};
    return check_place(
        fmt::format("the evidence says that this process is {} {} ({})", snapshot.identity.type,
                    snapshot.identity.index, fmt::join(snapshot.identity.evidence, "; ")),
        snapshot);
  }
  const std::string& type = *config.task_type;
  const int64_t index = *config.task_id;
  const Identity found = snapshot.identity;
  const bool conflict = found.known() && (found.type != type || found.index != index);
  const std::string said =
      fmt::format("{} says that this process is {} {}", config.task_origin, type, index);
  if (conflict && !config.task_overrides) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("{}, the evidence says {} {} ({}). Take `task:` out of the config, "
                             "mend it, or pass the task as a setting "
                             "(--task-type and --task-id), which wins over evidence",
                             said, found.type, found.index, fmt::join(found.evidence, "; ")),
                 {}};
  }
  if (conflict) {
    snapshot.warnings.push_back(fmt::format("{}; the evidence says {} {} ({})", said, found.type,
                                            found.index, fmt::join(found.evidence, "; ")));
    snapshot.identity.evidence.clear();
  }
  snapshot.identity.type = type;
  snapshot.identity.index = index;
  snapshot.identity.evidence.insert(snapshot.identity.evidence.begin(), said);
  return check_place(said, snapshot);
}

}  // namespace

std::map<std::string, int64_t> accelerators_of(const Attributes& task, const Attributes& cluster) {
  std::map<std::string, int64_t> accelerators;
  read_accelerators(cluster, accelerators);
  read_accelerators(task, accelerators);
  return accelerators;
}

const char* state_name(const Snapshot& snapshot) {
  if (snapshot.stale) return "stale";
  return snapshot.gone ? "gone" : "fresh";
}

Result<Snapshot> assemble(Part root, AssembleInput input) {
  const Config& config = *input.config;
  Snapshot snapshot;
  snapshot.time_ns = input.time_ns;
  snapshot.sources = std::move(input.sources);
  snapshot.spec = std::move(root.spec);
  snapshot.warnings = std::move(root.warnings);
  fill_jobs(config, std::move(root.jobs), snapshot);
  check_emptiness(root.identity.known(), snapshot);
  if (Status status = fill_identity(config, std::move(root.identity), snapshot); !status)
    return std::move(status).error();
  if (const std::string* value = find_attribute(root.attributes, "rpc_layer"))
    snapshot.rpc_layer = *value;
  if (config.rpc_layer) snapshot.rpc_layer = *config.rpc_layer;
  if (const std::string* value = find_attribute(root.attributes, "environment"))
    snapshot.environment = *value;
  if (config.environment) snapshot.environment = *config.environment;
  if (const std::string* value = find_attribute(root.attributes, "master")) {
    snapshot.has_own_master = true;
    snapshot.own_master = *value;
  }
  const Job* own_job = snapshot.spec.find(snapshot.identity.type);
  const Task* own = own_job == nullptr ? nullptr : own_job->find(snapshot.identity.index);
  snapshot.accelerators =
      accelerators_of(own == nullptr ? Attributes() : own->attributes, root.attributes);
  snapshot.attributes = std::move(root.attributes);
  // A process whose own task has no address yet has no master to name; the snapshot says so by being incomplete.
  snapshot.rpc_layer_said = config.rpc_layer.has_value();
  if (config.task_type && config.task_id)
    snapshot.task_said_by = config.task_overrides ? TaskSaidBy::kSetting : TaskSaidBy::kConfig;
  auto own_master = master(snapshot, std::nullopt, std::nullopt, std::nullopt);
  if (own_master) snapshot.master = std::move(*own_master);
  return snapshot;
}

}  // namespace muster
