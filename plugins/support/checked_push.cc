#include "plugins/support/checked_push.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plugins/support/text.h"

namespace muster::support {
namespace {

// Of one call (MP-9).
constexpr size_t kTextMaximum = 65'536;
constexpr uint64_t kBytesMaximum = uint64_t{512} << 20;
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

template <typename What>
bool CheckedPush::is_good(std::string_view text, const What& what) {
  bytes_ += text.size();
  if (bytes_ > kBytesMaximum)
    return fail(code_, fmt::format("all texts together have more than {} bytes", kBytesMaximum));
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

CheckedPush::Job* CheckedPush::job(std::string_view name) {
  if (stopped()) return nullptr;
  if (last_ != nullptr && last_name_ == name) return last_;
  if (!is_job_name(name)) {
    fail(code_,
         fmt::format("{} is no name for a job: 1 to 255 bytes of UTF-8 without control characters",
                     quote(name, kShown)));
    return nullptr;
  }
  last_name_ = name;
  last_ = &jobs_[last_name_];
  return count(static_cast<int64_t>(jobs_.size()), kJobMaximum, "jobs") ? last_ : nullptr;
}

bool CheckedPush::take_place(Job& job, std::string_view job_name, int64_t index,
                             std::string_view name) {
  const auto twice = [&] {
    return fail(code_ == MUSTER_E_DATA_LOSS ? MUSTER_E_ALREADY_EXISTS : code_,
                fmt::format("{} is there twice", task_words(job_name, index, name)));
  };
  if (index == MUSTER_UNRANKED) return name.empty() || job.names.emplace(name).second || twice();
  if (index < 0 || index > kIndexMaximum)
    return fail(code_, fmt::format("a task{} of job {} has index {}, which is not 0 to {}",
                                   name.empty() ? "" : " named " + quote(name, kShown),
                                   quote(job_name, kShown), index, kIndexMaximum));
  if (job.ascending && index > job.last) {
    job.last = index;
    job.indices.push_back(index);
    return true;
  }
  if (job.ascending) {
    job.ascending = false;
    job.taken.insert(job.indices.begin(), job.indices.end());
    job.indices = {};
  }
  return job.taken.insert(index).second || twice();
}

void CheckedPush::add_job(std::string_view name) {
  if (job(name) != nullptr) call_.add_job(name);
}

void CheckedPush::add_task(const sdk::Task& task) {
  Job* const known = job(task.job);
  if (known == nullptr || !count(++tasks_, MUSTER_TASKS_MAXIMUM, "tasks")) return;
  keys_.clear();
  const bool unranked = task.index == MUSTER_UNRANKED;
  (unranked ? known->unranked : known->ranked) = true;
  const auto words = [&] { return task_words(task.job, task.index, task.name); };
  if (known->ranked && known->unranked) {
    fail(code_, fmt::format("job {} has tasks with an index and tasks without one",
                            quote(task.job, kShown)));
    return;
  }
  if (unranked && task.name.empty()) {
    fail(code_, fmt::format("{} has neither an index nor a name", words()));
    return;
  }
  if (!is_good(task.name, [&] { return "the name of " + words(); })) return;
  if (const auto problem = call_.host().address_problem(task.address, task.port)) {
    fail(code_, fmt::format("{}: {}", words(), *problem));
    return;
  }
  if (take_place(*known, task.job, task.index, task.name)) call_.add_task(task);
}

void CheckedPush::set_attribute(std::string_view key, std::string_view value) {
  if (stopped()) return;
  if (key.empty() || key.size() > 255 || has_control(key) || !is_text(key)) {
    fail(code_, fmt::format("the key {} of an attribute is not 1 to 255 bytes of UTF-8 without "
                            "control characters",
                            quote(key, kShown)));
    return;
  }
  if (!is_good(value, [&] { return fmt::format("the attribute {}", quote(key, kShown)); })) return;
  if (std::find(keys_.begin(), keys_.end(), key) == keys_.end()) {
    keys_.emplace_back(key);
    if (!count(static_cast<int64_t>(keys_.size()), kAttributeMaximum,
               tasks_ == 0 ? "attributes of the cluster" : "attributes of one task"))
      return;
  }
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

sdk::Status CheckedPush::end() {
  if (failure_) return *std::move(failure_);
  if (warnings_ == kWarningMaximum) call_.add_warning(held_back_);
  if (warnings_ > kWarningMaximum)
    call_.add_warning(fmt::format("and {} more warnings", warnings_ - kWarningMaximum + 1));
  return {};
}

}  // namespace muster::support
