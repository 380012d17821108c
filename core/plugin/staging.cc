#include "core/plugin/staging.h"

#include <fmt/format.h>
#include <muster/plugin.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "core/spec/natural_order.h"
#include "core/spec/quote.h"

namespace muster {
namespace {

constexpr int64_t kIndexMaximum = std::numeric_limits<int32_t>::max();
constexpr int64_t kUnranked = MUSTER_UNRANKED;
constexpr size_t kNowhere = std::string::npos;
// The newest answer is held by those it was given to, the one before mostly by nobody.
constexpr size_t kEarlierMaximum = 2;

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

// "task 3 of job 'worker' ('w-3')"
std::string task_words(std::string_view job, int64_t index, std::string_view name) {
  const std::string named = name.empty() ? "" : " named " + quote(name);
  if (index == kUnranked) return fmt::format("an unranked task{} of job {}", named, quote(job));
  return fmt::format("task {}{} of job {}", index, named, quote(job));
}

Error broken(Refusal refusal) {
  return Error{Code::kInternal, std::move(refusal.what), {{"duty", refusal.duty}}};
}

}  // namespace

Checked Staging::count_bytes(size_t bytes) {
  bytes_ += bytes;
  if (bytes_ <= kBytesMaximum) return {};
  return Refusal{"MP-9",
                 fmt::format("the texts of one call have more than {} bytes", kBytesMaximum)};
}

Checked Staging::find_job(std::string_view name, StagedJob*& job) {
  // Tasks mostly come job by job.
  if (last_job_ < jobs_.size() && jobs_[last_job_].name == name) {
    job = &jobs_[last_job_];
    return {};
  }
  std::string key(name);
  const auto found = places_.find(key);
  if (found != places_.end()) {
    last_job_ = found->second;
    job = &jobs_[last_job_];
    return {};
  }
  if (const Status status = check_job_name(name); !status)
    return Refusal{"MP-5", status.error().message};
  if (jobs_.size() >= kJobMaximum)
    return Refusal{"MP-9", fmt::format("more than {} jobs in one call", kJobMaximum)};
  if (Checked full = count_bytes(name.size())) return full;
  last_job_ = jobs_.size();
  jobs_.emplace_back().name = key;
  jobs_.back().before = tasks_before(name);
  places_.emplace(std::move(key), last_job_);
  job = &jobs_[last_job_];
  return {};
}

Checked Staging::add_job(std::string_view name) {
  StagedJob* job = nullptr;
  if (Checked wrong = find_job(name, job)) return wrong;
  job->in_spec = true;
  return {};
}

Checked Staging::check_index(const StagedJob& job, int64_t index, std::string_view name) {
  if (index < kUnranked || index > kIndexMaximum) {
    return Refusal{
        "MP-6",
        fmt::format(
            "a task{} of job {} has index {}, which is neither MUSTER_UNRANKED ({}) nor 0 to {}",
            name.empty() ? "" : " named " + quote(name), quote(job.name), index, kUnranked,
            kIndexMaximum)};
  }
  if (!job.tasks.empty() && job.ranked != (index != kUnranked)) {
    return Refusal{
        "MP-8", fmt::format("{} was pushed among {} tasks; one job does not mix the two",
                            task_words(job.name, index, name), job.ranked ? "ranked" : "unranked")};
  }
  return {};
}

Checked Staging::add_task(std::string_view job_name, int64_t index, std::string_view name,
                          std::string_view address, int64_t port) {
  if (task_count_ >= MUSTER_TASKS_MAXIMUM)
    return Refusal{"MP-9", fmt::format("more than {} tasks in one call", MUSTER_TASKS_MAXIMUM)};
  StagedJob* job = nullptr;
  if (Checked wrong = find_job(job_name, job)) return wrong;
  if (Checked wrong = check_index(*job, index, name)) return wrong;
  if (index == kUnranked && name.empty()) {
    return Refusal{
        "MP-8", fmt::format("an unranked task of job {} has no name, by which it could be ranked",
                            quote(job_name))};
  }
  if (Checked full = count_bytes(name.size() + address.size())) return full;
  if (port < 0 || port > 65535) {
    return Refusal{"MP-7",
                   fmt::format("{}: port {} is not 1 to 65535, or 0 for the one in the address",
                               task_words(job_name, index, name), port)};
  }
  Task* const before = find_before(*job, name);
  const bool moved = before == nullptr || port == 0 || port != before->address.port() ||
                     address != before->address.host();
  Result<Address> parsed = !moved      ? before->address
                           : port == 0 ? Address::parse(address)
                                       : Address::from_host(address, port);
  if (!parsed)
    return Refusal{
        "MP-7", fmt::format("{}: {}", task_words(job_name, index, name), parsed.error().message)};

  // Not one by one at first. More than double would be memory that other things have used before, and so is there.
  if (job->tasks.size() == job->tasks.capacity())
    job->tasks.reserve(std::max({size_t{16}, job->before.size(), job->tasks.size() * 2}));
  if (index != kUnranked) {
    const auto place = static_cast<int32_t>(index);
    if (job->ascending && !job->tasks.empty() && place <= job->tasks.back().index) {
      job->ascending = false;
      for (const Task& task : job->tasks) job->taken.insert(task.index);
    }
    if (!job->ascending && !job->taken.insert(place).second) {
      const auto first = std::find_if(job->tasks.begin(), job->tasks.end(),
                                      [place](const Task& task) { return task.index == place; });
      return Refusal{
          "MP-6",
          fmt::format("job {} has two tasks with index {}: {} at {} and {} at {}", quote(job_name),
                      index, quote(first->name), quote(first->address.to_string()), quote(name),
                      quote(parsed->to_string()))};
    }
  }
  seal_attributes();
  Task& task = before != nullptr ? job->tasks.emplace_back(std::move(*before))
                                 : job->tasks.emplace_back(0, Address(), name);
  task.address = *std::move(parsed);
  task.index = index == kUnranked ? 0 : static_cast<int32_t>(index);
  job->ranked = index != kUnranked;
  job->in_spec = true;
  task_job_ = last_job_;
  ++task_count_;
  return {};
}

Checked Staging::set_attribute(std::string_view key, std::string_view value) {
  if (key.empty()) return Refusal{"MP-4", "the key of an attribute is empty"};
  if (key.size() > 255)
    return Refusal{"MP-4",
                   fmt::format("the key of an attribute has {} bytes, more than 255", key.size())};
  if (has_control(key))
    return Refusal{"MP-4",
                   fmt::format("the key {} of an attribute has a control character", quote(key))};
  const bool of_task = task_count_ != 0;
  size_t count = 0;
  const size_t same = of_task ? find_packed(key, count) : find_attribute(key, count);
  if (Checked full = count_bytes(value.size() + (same == kNowhere ? key.size() : 0))) return full;
  if (same == kNowhere && count >= kAttributeMaximum) {
    return Refusal{"MP-9", fmt::format("more than {} attributes of one {}", kAttributeMaximum,
                                       of_task ? "task" : "cluster")};
  }
  if (!of_task) {
    if (same == kNowhere)
      attributes_.emplace_back(key, value);
    else
      attributes_[same].second = value;
  } else if (same == kNowhere) {
    add_packed(key, value);
  } else {
    packed_.replace(same, packed_sizes_[count].second, value);
    packed_sizes_[count].second = value.size();
  }
  return {};
}

size_t Staging::find_attribute(std::string_view key, size_t& count) const {
  count = attributes_.size();
  for (size_t at = 0; at < count; ++at)
    if (attributes_[at].first == key) return at;
  return kNowhere;
}

size_t Staging::find_packed(std::string_view key, size_t& count) const {
  size_t at = 0;
  for (const auto& [key_size, value_size] : packed_sizes_) {
    if (std::string_view(packed_.data() + at, key_size) == key) return at + key_size + 1;
    at += key_size + value_size + 2;
    ++count;
  }
  return kNowhere;
}

void Staging::add_packed(std::string_view key, std::string_view value) {
  const size_t at = packed_.size();
  packed_.resize(at + key.size() + value.size() + 2);
  std::memcpy(packed_.data() + at, key.data(), key.size());
  if (!value.empty()) std::memcpy(packed_.data() + at + key.size() + 1, value.data(), value.size());
  packed_sizes_.emplace_back(key.size(), value.size());
}

void Staging::seal_attributes() {
  if (task_count_ == 0) return;
  RareAttributes& attributes = jobs_[task_job_].tasks.back().attributes;
  if (!attributes.is(packed_)) attributes = RareAttributes(packed_);
  packed_.clear();
  packed_sizes_.clear();
}

// Those of the oldest earlier answer of which nobody holds any; it is taken apart.
std::vector<Task> Staging::tasks_before(std::string_view job) {
  for (ClusterSpec& spec : earlier_)
    if (std::optional<std::vector<Task>> tasks = spec.take_tasks(job)) return *std::move(tasks);
  return {};
}

// The task of this name, where it comes next in the earlier answer, or behind one that is no more.
Task* Staging::find_before(StagedJob& job, std::string_view name) {
  const size_t end = std::min(job.next_before + 2, job.before.size());
  for (size_t at = job.next_before; at < end; ++at) {
    if (!(job.before[at].name == name)) continue;
    job.next_before = at + 1;
    return &job.before[at];
  }
  return nullptr;
}

void Staging::keep_for_later(const ClusterSpec& spec) {
  if (earlier_.size() == kEarlierMaximum) earlier_.erase(earlier_.begin());
  earlier_.push_back(spec);
}

Checked Staging::add_missing(std::string_view job_name, int64_t index, std::string_view name,
                             std::string_view reason) {
  if (missing_count_ >= MUSTER_TASKS_MAXIMUM)
    return Refusal{"MP-9",
                   fmt::format("more than {} missing tasks in one call", MUSTER_TASKS_MAXIMUM)};
  StagedJob* job = nullptr;
  if (Checked wrong = find_job(job_name, job)) return wrong;
  if (index < kUnranked || index > kIndexMaximum) {
    return Refusal{"MP-6", fmt::format("a missing task{} of job {} has index {}, which is neither "
                                       "MUSTER_UNRANKED ({}) nor 0 to {}",
                                       name.empty() ? "" : " named " + quote(name), quote(job_name),
                                       index, kUnranked, kIndexMaximum)};
  }
  if (reason.empty())
    return Refusal{"MP-4", fmt::format("the reason why {} is missing is empty",
                                       task_words(job_name, index, name))};
  if (Checked full = count_bytes(name.size() + reason.size())) return full;
  job->missing.push_back(MissingTask{index, std::string(name), std::string(reason)});
  ++missing_count_;
  return {};
}

Checked Staging::set_expected(std::string_view job_name, int64_t count) {
  StagedJob* job = nullptr;
  if (Checked wrong = find_job(job_name, job)) return wrong;
  if (count < 0)
    return Refusal{"MP-21",
                   fmt::format("the expected number of tasks of job {} is {}; it is 0 or more",
                               quote(job_name), count)};
  job->expected = count;
  return {};
}

Checked Staging::set_identity(std::string_view job, int64_t index, std::string_view name,
                              std::string_view evidence) {
  if (evidence.empty()) return Refusal{"MP-4", "the evidence of an identity is empty"};
  if (index < kUnranked || index > kIndexMaximum) {
    return Refusal{
        "MP-6",
        fmt::format("an identity has index {}, which is neither MUSTER_UNRANKED ({}) nor 0 to {}",
                    index, kUnranked, kIndexMaximum)};
  }
  if (name.empty() && (job.empty() || index == kUnranked)) {
    return Refusal{"MP-20", "an identity has neither a job with an index nor a name"};
  }
  if (!job.empty()) {
    if (const Status status = check_job_name(job); !status)
      return Refusal{"MP-5", status.error().message};
  }
  if (identities_.size() >= kIdentityMaximum)
    return Refusal{"MP-9", fmt::format("more than {} identities in one call", kIdentityMaximum)};
  if (Checked full = count_bytes(job.size() + name.size() + evidence.size())) return full;
  identities_.push_back({std::string(job), index, std::string(name), std::string(evidence)});
  return {};
}

Checked Staging::add_warning(std::string_view text) {
  if (text.empty()) return Refusal{"MP-4", "a warning is empty"};
  if (warnings_.size() >= kWarningMaximum)
    return Refusal{"MP-9", fmt::format("more than {} warnings in one call", kWarningMaximum)};
  if (Checked full = count_bytes(text.size())) return full;
  warnings_.emplace_back(text);
  return {};
}

// Whether the indices are the plugin's. A job without tasks is ranked when a missing one has an index.
bool Staging::is_ranked(const StagedJob& job) {
  if (!job.tasks.empty()) return job.ranked;
  return std::any_of(job.missing.begin(), job.missing.end(),
                     [](const MissingTask& missing) { return missing.index >= 0; });
}

// Sorts by index, once every member has the one it is to have.
Checked Staging::rank(StagedJob& job) {
  if (!is_ranked(job)) return rank_by_name(job);
  if (!job.ascending)
    std::sort(job.tasks.begin(), job.tasks.end(),
              [](const Task& a, const Task& b) { return a.index < b.index; });
  return check_missing(job);
}

void Staging::sort_by_name(std::vector<Task>& tasks) {
  const auto before = [](const Task& a, const Task& b) {
    return natural_compare(a.name, b.name) < 0;
  };
  if (std::is_sorted(tasks.begin(), tasks.end(), before)) return;
  std::vector<std::string_view> names;
  names.reserve(tasks.size());
  for (const Task& task : tasks) names.push_back(task.name);
  std::vector<Task> sorted;
  sorted.reserve(tasks.size());
  for (const uint32_t at : natural_order(names)) sorted.push_back(std::move(tasks[at]));
  tasks = std::move(sorted);
}

// Gives the unranked their indices by natural order of name. Missing ones with a name are ranked among the tasks, so that no
// rank moves when they come (MC-7).
Checked Staging::rank_by_name(StagedJob& job) {
  sort_by_name(job.tasks);
  std::vector<MissingTask*> missing;
  for (MissingTask& one : job.missing) {
    if (one.index >= 0) {
      return Refusal{
          "MP-8",
          fmt::format("{} is told missing among unranked tasks; one job does not mix the two",
                      task_words(job.name, one.index, one.name))};
    }
    if (!one.name.empty()) missing.push_back(&one);
  }
  std::sort(missing.begin(), missing.end(), [](const MissingTask* a, const MissingTask* b) {
    return natural_compare(a->name, b->name) < 0;
  });
  size_t task = 0, gap = 0;  // the next of each
  while (task < job.tasks.size() || gap < missing.size()) {
    const auto index = static_cast<int64_t>(task + gap);
    const int order = gap == missing.size() ? -1
                      : task == job.tasks.size()
                          ? 1
                          : natural_compare(job.tasks[task].name, missing[gap]->name);
    if (order == 0) {
      return Refusal{"MP-8", fmt::format("task {} of job {} is told both found, at {}, and "
                                         "missing: {}",
                                         quote(missing[gap]->name), quote(job.name),
                                         quote(job.tasks[task].address.to_string()),
                                         quote(missing[gap]->reason))};
    }
    if (order < 0) {
      if (task > 0 && job.tasks[task].name == job.tasks[task - 1].name) {
        return Refusal{"MP-8", fmt::format("two unranked tasks of job {} are named {}: {} and {}",
                                           quote(job.name), quote(job.tasks[task].name),
                                           quote(job.tasks[task - 1].address.to_string()),
                                           quote(job.tasks[task].address.to_string()))};
      }
      job.tasks[task++].index = static_cast<int32_t>(index);
    } else {
      if (gap > 0 && missing[gap]->name == missing[gap - 1]->name) {
        return Refusal{"MP-8",
                       fmt::format("task {} of job {} is told missing twice: {} and {}",
                                   quote(missing[gap]->name), quote(job.name),
                                   quote(missing[gap - 1]->reason), quote(missing[gap]->reason))};
      }
      missing[gap++]->index = index;
    }
  }
  return {};
}

// Of a ranked job, its tasks sorted. A place is told once: as found or as missing.
Checked Staging::check_missing(const StagedJob& job) {
  std::vector<const MissingTask*> sorted;
  for (const MissingTask& missing : job.missing) {
    if (missing.index >= 0) sorted.push_back(&missing);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const MissingTask* a, const MissingTask* b) { return a->index < b->index; });
  for (size_t i = 0; i < sorted.size(); ++i) {
    const MissingTask& missing = *sorted[i];
    if (i > 0 && sorted[i - 1]->index == missing.index) {
      return Refusal{"MP-6", fmt::format("task {} of job {} is told missing twice: {} and {}",
                                         missing.index, quote(job.name),
                                         quote(sorted[i - 1]->reason), quote(missing.reason))};
    }
    const auto found =
        std::lower_bound(job.tasks.begin(), job.tasks.end(), missing.index,
                         [](const Task& task, int64_t index) { return task.index < index; });
    if (found != job.tasks.end() && found->index == missing.index) {
      return Refusal{
          "MP-6",
          fmt::format("task {} of job {} is told both found, at {}, and missing: {}", missing.index,
                      quote(job.name), quote(found->address.to_string()), quote(missing.reason))};
    }
  }
  return {};
}

// Whether this call says of the job that it has, misses or expects members.
bool Staging::is_populated(std::string_view name) const {
  const auto found = places_.find(std::string(name));
  if (found == places_.end()) return false;
  const StagedJob& job = jobs_[found->second];
  return !job.tasks.empty() || !job.missing.empty() || job.expected.has_value();
}

// Finds the one task, there or missing, that an identity means; or takes its place outside of the cluster.
Checked Staging::locate(const StagedIdentity& identity, Position& position) const {
  const std::string words =
      identity.index >= 0
          ? fmt::format("task {} of job {}", identity.index, quote(identity.job))
          : fmt::format("a task named {}{}", quote(identity.name),
                        identity.job.empty() ? "" : " of job " + quote(identity.job));
  const auto told =
      fmt::format("this process is told to be {} ({})", words, quote(identity.evidence));
  size_t matches = 0;
  const auto matches_one = [&](const std::string& job, int64_t index, std::string_view name) {
    if (identity.index >= 0 ? index != identity.index : name != identity.name) return;
    if (matches++ == 0 || position.index < 0) position = Position{job, index, std::string(name)};
  };
  for (const StagedJob& job : jobs_) {
    if (!identity.job.empty() && job.name != identity.job) continue;
    if (identity.index >= 0 && identity.job.empty()) continue;
    for (const Task& task : job.tasks) matches_one(job.name, task.index, task.name);
    for (const MissingTask& missing : job.missing)
      matches_one(job.name, missing.index, missing.name);
  }
  if (matches == 0 && identity.index >= 0 && !identity.job.empty() && !is_populated(identity.job)) {
    position = Position{identity.job, identity.index, identity.name};
    return {};
  }
  if (matches == 0)
    return Refusal{
        "MP-20",
        fmt::format("{}, which is neither among the tasks of this call nor among the missing ones",
                    told)};
  if (matches > 1)
    return Refusal{"MP-20", fmt::format("{}, of which there are {} in this call", told, matches)};
  if (identity.index >= 0 && !identity.name.empty() && !position.name.empty() &&
      position.name != identity.name) {
    return Refusal{"MP-20", fmt::format("{} and named {}, but that task is named {}", told,
                                        quote(identity.name), quote(position.name))};
  }
  return {};
}

Result<Identity> Staging::resolve_identity(std::vector<std::string>& warnings) const {
  Identity answer;
  std::optional<Position> agreed;
  for (const StagedIdentity& identity : identities_) {
    Position position{};
    if (Checked wrong = locate(identity, position)) return broken(std::move(*wrong));
    if (agreed && !(*agreed == position)) {
      const auto words = [](const Position& at) { return task_words(at.job, at.index, at.name); };
      return Error{
          Code::kFailedPrecondition,
          fmt::format("this process is told to be two tasks: {} ({}) and {} ({})", words(*agreed),
                      quote(answer.evidence.front()), words(position), quote(identity.evidence)),
          {{"hint", "say which one it is: 'task: {type: ..., index: ...}' in the config"}}};
    }
    agreed = position;
    if (std::find(answer.evidence.begin(), answer.evidence.end(), identity.evidence) ==
        answer.evidence.end()) {
      answer.evidence.push_back(identity.evidence);
    }
  }
  if (!agreed) return answer;
  if (agreed->index < 0) {
    warnings.push_back(fmt::format(
        "this process is {} of job {}, which is missing, so its index is not known ({})",
        quote(agreed->name), quote(agreed->job), answer.evidence.front()));
    return Identity{};
  }
  answer.type = agreed->job;
  answer.index = agreed->index;
  return answer;
}

Result<BackendAnswer> Staging::finish() {
  BackendAnswer answer;
  seal_attributes();
  answer.warnings = std::move(warnings_);
  for (StagedJob& job : jobs_) {
    if (Checked wrong = rank(job)) return broken(std::move(*wrong));
  }
  Result<Identity> identity = resolve_identity(answer.warnings);
  if (!identity) return std::move(identity).error();
  answer.identity = std::move(*identity);
  for (StagedJob& job : jobs_) {
    const auto found = static_cast<int64_t>(job.tasks.size());
    if (job.in_spec) {
      if (Status status = answer.spec.add_job(job.name); !status) return std::move(status).error();
      if (Status status = answer.spec.add_tasks(job.name, std::move(job.tasks)); !status)
        return std::move(status).error();
    }
    if (job.expected || !job.missing.empty()) {
      answer.jobs.push_back(JobStatus{job.name, found, job.expected, std::move(job.missing)});
    }
  }
  answer.attributes = std::move(attributes_);
  keep_for_later(answer.spec);
  std::vector<ClusterSpec> earlier = std::move(earlier_);
  *this = Staging();
  earlier_ = std::move(earlier);
  return answer;
}

}  // namespace muster
