#include "plugins/support/checked_push.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plugins/support/text.h"

namespace muster::support {
namespace {

// Of one call (MP-9).
constexpr size_t kTextMaximum = 65'536;
constexpr int64_t kJobMaximum = 4'096;
constexpr size_t kAttributeMaximum = 256;
constexpr int64_t kWarningMaximum = 1'000;
constexpr int64_t kIndexMaximum = 2'147'483'647;
constexpr size_t kShown = 100;  // bytes of a value

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::string task_words(std::string_view job, int64_t index, std::string_view name) {
  const std::string named = name.empty() ? "" : " named " + quote(name, kShown);
  return index == MUSTER_UNRANKED
             ? fmt::format("a task{} of job {}", named, quote(job, kShown))
             : fmt::format("task {}{} of job {}", index, named, quote(job, kShown));
}

}  // namespace

bool CheckedPush::fail(int32_t code, std::string why) {
  if (!failure_) failure_ = sdk::Failure{code, std::move(why), {}};
  return false;
}

bool CheckedPush::too_many_bytes() {
  return fail(code_, fmt::format("all texts together have more than {} bytes", kBytesMaximum));
}

template <typename What>
bool CheckedPush::is_good(std::string_view text, const What& what) {
  if (!count_bytes(text.size())) return false;
  if (text.size() > kTextMaximum)
    return fail(code_, fmt::format("{} has {} bytes, more than {}: {}", what(), text.size(),
                                   kTextMaximum, quote(text, kShown)));
  if (!is_text(text))
    return fail(code_, fmt::format("{} is no text: {}", what(), quote(text, kShown)));
  return true;
}

bool CheckedPush::count(int64_t number, int64_t most, const char* what) {
  return number <= most || fail(code_, fmt::format("there are more than {} {}", most, what));
}

CheckedPush::Job* CheckedPush::other_job(std::string_view name) {
  if (stopped()) return nullptr;
  if (!is_job_name(name)) {
    fail(code_,
         fmt::format("{} is no name for a job: 1 to 255 bytes of UTF-8 without control characters",
                     quote(name, kShown)));
    return nullptr;
  }
  last_name_ = name;
  last_ = &jobs_[last_name_];
  if (!count_bytes(name.size())) return nullptr;
  return count(static_cast<int64_t>(jobs_.size()), kJobMaximum, "jobs") ? last_ : nullptr;
}

bool CheckedPush::twice(std::string_view job_name, int64_t index, std::string_view name) {
  return fail(code_ == MUSTER_E_DATA_LOSS ? MUSTER_E_ALREADY_EXISTS : code_,
              fmt::format("{} is there twice", task_words(job_name, index, name)));
}

bool CheckedPush::take_name(Job& job, std::string_view name) {
  if (name.empty()) return true;
  if (job.names_ascend && !job.name_ends.empty()) {
    const size_t last = job.name_ends.size() == 1 ? 0 : job.name_ends[job.name_ends.size() - 2];
    job.names_ascend = std::string_view(job.names).substr(last) < name;
  }
  job.names += name;
  job.name_ends.push_back(job.names.size());
  return true;
}

bool CheckedPush::take_place(Job& job, std::string_view job_name, int64_t index,
                             std::string_view name) {
  if (index == MUSTER_UNRANKED) return take_name(job, name);
  if (index < 0 || index > kIndexMaximum)
    return fail(code_, fmt::format("a task{} of job {} has index {}, which is not 0 to {}",
                                   name.empty() ? "" : " named " + quote(name, kShown),
                                   quote(job_name, kShown), index, kIndexMaximum));
  if (job.ascending.empty() || index > job.ascending.back()) {
    job.ascending.push_back(index);
    return true;
  }
  const bool is_new = !std::binary_search(job.ascending.begin(), job.ascending.end(), index) &&
                      job.others.insert(index).second;
  return is_new || twice(job_name, index, name);
}

void CheckedPush::add_job(std::string_view name) {
  if (job(name) != nullptr) call_.add_job(name);
}

CheckedPush::Job* CheckedPush::count_task(const sdk::Task& task) {
  Job* const known = job(task.job);
  if (known == nullptr || !count(++tasks_, MUSTER_TASKS_MAXIMUM, "tasks")) return nullptr;
  key_count_ = 0;
  const bool unranked = task.index == MUSTER_UNRANKED;
  (unranked ? known->unranked : known->ranked) = true;
  if (known->ranked && known->unranked) {
    fail(code_, fmt::format("job {} has tasks with an index and tasks without one",
                            quote(task.job, kShown)));
    return nullptr;
  }
  if (unranked && task.name.empty()) {
    fail(code_, fmt::format("{} has neither an index nor a name",
                            task_words(task.job, task.index, task.name)));
    return nullptr;
  }
  return count_bytes(task.address.size()) ? known : nullptr;
}

void CheckedPush::add_task(const sdk::Task& task) {
  Job* const known = count_task(task);
  if (known == nullptr) return;
  const auto words = [&] { return task_words(task.job, task.index, task.name); };
  if (!is_good(task.name, [&] { return "the name of " + words(); })) return;
  char reason[512];
  if (addresses_ != nullptr &&
      addresses_->check(task.address.data() ? task.address.data() : "", task.address.size(),
                        task.port, reason, sizeof reason) != MUSTER_OK) {
    fail(code_, fmt::format("{}: {}", words(), reason));
    return;
  }
  if (take_place(*known, task.job, task.index, task.name)) call_.add_task(task);
}

void CheckedPush::add_known_task(const sdk::Task& task) {
  if (count_task(task) == nullptr || !count_bytes(task.name.size())) return;
  if (task.index > kIndexMaximum) {
    fail(code_, fmt::format("{} has an index above {}", task_words(task.job, task.index, task.name),
                            kIndexMaximum));
    return;
  }
  call_.add_task(task);
}

bool CheckedPush::take_key(std::string_view key) {
  if (!count_bytes(key.size())) return false;
  if (key_count_ < keys_.size() && keys_[key_count_] == key) {
    ++key_count_;
    return true;
  }
  if (key.empty() || key.size() > 255 || has_control(key) || !is_text(key))
    return fail(code_, fmt::format("the key {} of an attribute is not 1 to 255 bytes of UTF-8 "
                                   "without control characters",
                                   quote(key, kShown)));
  keys_.resize(key_count_);
  if (std::find(keys_.begin(), keys_.end(), key) != keys_.end()) return true;
  keys_.emplace_back(key);
  return count(static_cast<int64_t>(++key_count_), kAttributeMaximum,
               tasks_ == 0 ? "attributes of the cluster" : "attributes of one task");
}

void CheckedPush::set_attribute(std::string_view key, std::string_view value) {
  if (stopped() || !take_key(key)) return;
  if (is_good(value, [&] { return fmt::format("the attribute {}", quote(key, kShown)); }))
    call_.set_attribute(key, value);
}

void CheckedPush::add_missing(std::string_view job_name, int64_t index, std::string_view name,
                              std::string_view reason) {
  Job* const known = job(job_name);
  if (known == nullptr || !count(++missing_, MUSTER_TASKS_MAXIMUM, "missing tasks")) return;
  const auto words = [&] { return task_words(job_name, index, name); };
  if (!is_good(name, [&] { return "the name of " + words(); }) ||
      !is_good(reason, [&] { return fmt::format("the reason why {} is missing", words()); }))
    return;
  if (reason.empty()) {
    fail(code_, fmt::format("{} is missing without a reason", words()));
    return;
  }
  if (take_place(*known, job_name, index, name)) call_.add_missing(job_name, index, name, reason);
}

void CheckedPush::set_expected(std::string_view job_name, int64_t number) {
  if (job(job_name) == nullptr) return;
  if (number < 0 || number > MUSTER_TASKS_MAXIMUM) {
    fail(code_, fmt::format("{} tasks of job {} are expected, which is not 0 to {}", number,
                            quote(job_name, kShown), MUSTER_TASKS_MAXIMUM));
    return;
  }
  call_.set_expected(job_name, number);
}

void CheckedPush::set_identity(std::string_view job_name, int64_t index, std::string_view name,
                               std::string_view evidence) {
  if (stopped()) return;
  if (!job_name.empty() && !is_job_name(job_name)) {
    fail(code_, fmt::format("{} is no name for a job", quote(job_name, kShown)));
    return;
  }
  if (is_good(name, [] { return "the name of this process's task"; }) &&
      is_good(evidence, [] { return "the evidence of which task this process is"; }))
    call_.set_identity(job_name, index, name, evidence);
}

void CheckedPush::add_warning(std::string_view text) {
  if (stopped() || text.empty() || !is_good(text, [] { return "a warning"; })) return;
  ++warnings_;
  if (warnings_ < kWarningMaximum) call_.add_warning(text);
  if (warnings_ == kWarningMaximum) held_back_ = text;
}

void CheckedPush::check_end(std::string_view job_name, const Job& job) {
  if (job.names_ascend) return;
  std::vector<std::string_view> names;
  names.reserve(job.name_ends.size());
  size_t begin = 0;
  for (const size_t end : job.name_ends) {
    names.push_back(std::string_view(job.names).substr(begin, end - begin));
    begin = end;
  }
  std::sort(names.begin(), names.end());
  const auto same = std::adjacent_find(names.begin(), names.end());
  if (same != names.end()) twice(job_name, MUSTER_UNRANKED, *same);
}

sdk::Status CheckedPush::end() {
  if (!stopped())
    for (const auto& [name, job] : jobs_) check_end(name, job);
  if (failure_) return *std::move(failure_);
  if (warnings_ == kWarningMaximum) call_.add_warning(held_back_);
  if (warnings_ > kWarningMaximum)
    call_.add_warning(fmt::format("and {} more warnings", warnings_ - kWarningMaximum + 1));
  return {};
}

}  // namespace muster::support
