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

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

Error broken(Refusal refusal) {
  return Error{Code::kInternal, std::move(refusal.what), {{"duty", refusal.duty}}};
}

}  // namespace

std::string task_words(std::string_view job, int64_t index, std::string_view name) {
  const std::string named = name.empty() ? "" : " named " + quote(name);
  if (index == kUnranked) return fmt::format("an unranked task{} of job {}", named, quote(job));
  return fmt::format("task {}{} of job {}", index, named, quote(job));
}

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
  jobs_.back().previous = previous_answers_.tasks(name);
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
  const Task* const before = job->previous.find(name);
  const bool moved = before == nullptr || port == 0 || port != before->address.port() ||
                     address != before->address.host();
  Result<Address> parsed = !moved      ? before->address
                           : port == 0 ? Address::parse(address)
                                       : Address::from_host(address, port);
  if (!parsed)
    return Refusal{
        "MP-7", fmt::format("{}: {}", task_words(job_name, index, name), parsed.error().message)};

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
  append(*job, index, name, *std::move(parsed), before);
  return {};
}

// The last one named is the job.
void Staging::append(StagedJob& job, int64_t index, std::string_view name, Address address,
                     const Task* before) {
  seal_attributes();
  std::vector<Task>& tasks = job.tasks;
  const bool repeats = before != nullptr && job.previous.by_name();
  if (tasks.empty()) {
    job.in_order = job.previous.size() != 0;
  } else if (job.in_order && !(repeats && job.repeats)) {
    job.in_order = natural_compare(tasks.back().name, name) < 0;
  }
  job.repeats = repeats;
  // Not one by one at first. More than double would be memory that other things have used before, and so is there.
  if (tasks.size() == tasks.capacity())
    tasks.reserve(std::max({size_t{16}, job.previous.size() + 1, tasks.size() * 2}));
  Task& task = before != nullptr ? tasks.emplace_back(job.previous.take(*before))
                                 : tasks.emplace_back(0, Address(), name);
  task.address = std::move(address);
  task.index = index == kUnranked ? 0 : static_cast<int32_t>(index);
  job.ranked = index != kUnranked;
  job.in_spec = true;
  model_ = before;
  task_job_ = last_job_;
  ++task_count_;
}

bool Staging::repeat_task(std::string_view job_name, int64_t index, std::string_view name,
                          std::string_view address, int64_t port) {
  if (last_job_ >= jobs_.size() || task_count_ >= MUSTER_TASKS_MAXIMUM) return false;
  StagedJob& job = jobs_[last_job_];
  const Task* const before = job.previous.next();
  if (before == nullptr || name.empty() || job.name != job_name || !(before->name == name) ||
      port == 0 || port != before->address.port() || address != before->address.host())
    return false;
  const bool ranked = index != kUnranked;
  if (!job.tasks.empty() && ranked != job.ranked) return false;
  if (ranked && (index != before->index || !job.ascending ||
                 (!job.tasks.empty() && index <= job.tasks.back().index)))
    return false;
  const uint64_t bytes = name.size() + address.size();
  if (bytes_ + bytes > kBytesMaximum) return false;
  bytes_ += bytes;
  job.previous.pass();
  append(job, index, name, before->address, before);
  return true;
}

bool Staging::repeat_attribute(std::string_view key, std::string_view value) {
  if (model_ == nullptr || !packed_.text.empty()) return false;
  const std::string_view left = model_->attributes.packed().substr(repeated_);
  if (left.empty()) return false;
  const std::string_view same_key(left.data());
  if (same_key != key) return false;
  const std::string_view same_value(left.data() + key.size() + 1);
  if (same_value != value) return false;
  if (bytes_ + key.size() + value.size() > kBytesMaximum) return false;
  bytes_ += key.size() + value.size();
  repeated_ += key.size() + value.size() + 2;
  return true;
}

bool Staging::expects_key(std::string_view key) const {
  const size_t nth = packed_.sizes.size();
  return is_usual_ && repeated_ == 0 && nth < usual_.sizes.size() &&
         std::string_view(usual_.text.data() + usual_at_, usual_.sizes[nth].first) == key;
}

Checked Staging::set_attribute(std::string_view key, std::string_view value) {
  if (expects_key(key)) {
    if (Checked full = count_bytes(key.size() + value.size())) return full;
    const auto [key_size, value_size] = usual_.sizes[packed_.sizes.size()];
    usual_at_ += key_size + value_size + 2;
    add_packed(key, value);
    return {};
  }
  if (key.empty()) return Refusal{"MP-4", "the key of an attribute is empty"};
  if (key.size() > 255)
    return Refusal{"MP-4",
                   fmt::format("the key of an attribute has {} bytes, more than 255", key.size())};
  if (has_control(key))
    return Refusal{"MP-4",
                   fmt::format("the key {} of an attribute has a control character", quote(key))};
  const bool of_task = task_count_ != 0;
  if (of_task) unpack_repeated();
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
    is_usual_ = false;
    add_packed(key, value);
  } else {
    packed_.text.replace(same, packed_.sizes[count].second, value);
    packed_.sizes[count].second = value.size();
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
  for (const auto& [key_size, value_size] : packed_.sizes) {
    if (std::string_view(packed_.text.data() + at, key_size) == key) return at + key_size + 1;
    at += key_size + value_size + 2;
    ++count;
  }
  return kNowhere;
}

void Staging::add_packed(std::string_view key, std::string_view value) {
  std::string& text = packed_.text;
  const size_t at = text.size();
  text.resize(at + key.size() + value.size() + 2);
  std::memcpy(text.data() + at, key.data(), key.size());
  if (!value.empty()) std::memcpy(text.data() + at + key.size() + 1, value.data(), value.size());
  packed_.sizes.emplace_back(key.size(), value.size());
}

// What was repeated is not all that the task has, or no longer.
void Staging::unpack_repeated() {
  if (repeated_ == 0) return;
  is_usual_ = false;
  for (const auto& [key, value] : model_->attributes) {
    if (packed_.text.size() == repeated_) break;
    add_packed(key, value);
  }
  repeated_ = 0;
}

// The last task has all its attributes.
void Staging::seal_attributes() {
  if (task_count_ == 0) return;
  RareAttributes& attributes = jobs_[task_job_].tasks.back().attributes;
  if (model_ == nullptr || repeated_ != model_->attributes.packed().size() || !packed_.text.empty())
    unpack_repeated();
  const bool repeated =
      model_ != nullptr && (repeated_ != 0 || model_->attributes.packed() == packed_.text);
  if (!repeated) {
    attributes = RareAttributes(packed_.text);
  } else if (!attributes.shares_with(model_->attributes)) {
    attributes = model_->attributes;
  }
  model_ = nullptr;
  repeated_ = 0;
  if (!packed_.text.empty()) std::swap(packed_, usual_);
  packed_.clear();
  usual_at_ = 0;
  is_usual_ = true;
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
  if (count < 0 || count > MUSTER_TASKS_MAXIMUM)
    return Refusal{"MP-21",
                   fmt::format("the expected number of tasks of job {} is {}; it is 0 to {}",
                               quote(job_name), count, MUSTER_TASKS_MAXIMUM)};
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
  std::set<std::string, std::less<>> by_name;
  for (StagedJob& job : jobs_) {
    if (!is_ranked(job)) by_name.insert(job.name);
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
  previous_answers_.keep(answer.spec, std::move(by_name));
  PreviousAnswers previous = std::move(previous_answers_);
  *this = Staging();
  previous_answers_ = std::move(previous);
  return answer;
}

}  // namespace muster
