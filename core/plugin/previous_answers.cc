#include "core/plugin/previous_answers.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace muster {
namespace {

// The newest answer is held by those it was given to, the one before mostly by nobody.
constexpr size_t kAnswersMaximum = 2;
constexpr size_t kNear = 2;  // the next, and the one behind it

}  // namespace

const Task* PreviousTasks::find(std::string_view name) {
  const size_t end = std::min(next_ + kNear, newest_.size());
  for (size_t at = next_; at < end; ++at) {
    if (!(newest_[at].name == name)) continue;
    next_ = at + 1;
    return &newest_[at];
  }
  return nullptr;
}

Task PreviousTasks::take(const Task& found) {
  const size_t end = std::min(next_older_ + kNear, older_.size());
  for (size_t at = next_older_; at < end; ++at) {
    if (!older_[at].name.shares_with(found.name)) continue;
    next_older_ = at + 1;
    return std::move(older_[at]);
  }
  return found;
}

PreviousTasks PreviousAnswers::tasks(std::string_view job) {
  if (answers_.empty()) return {};
  const Answer& newest = answers_.back();
  const Job* tasks = newest.spec.find(job);
  if (tasks == nullptr) return {};
  std::optional<std::vector<Task>> older;
  if (answers_.size() > 1) older = answers_.front().spec.take_tasks(job);
  return {tasks->tasks, newest.by_name.count(job) != 0,
          std::move(older).value_or(std::vector<Task>())};
}

void PreviousAnswers::keep(const ClusterSpec& spec, std::set<std::string, std::less<>> by_name) {
  if (answers_.size() == kAnswersMaximum) answers_.erase(answers_.begin());
  answers_.push_back({spec, std::move(by_name)});
}

}  // namespace muster
