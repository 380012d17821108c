// Staging: the order of a job's tasks, and which place each member has.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/plugin/staging.h"
#include "core/spec/natural_order.h"
#include "core/spec/quote.h"

namespace muster {

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
  if (Checked wrong = order_by_name(job)) return wrong;
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
  int32_t index = 0;
  auto next = job.tasks.begin();
  const auto number_up_to = [&](std::vector<Task>::iterator end) {
    for (; next != end; ++next) next->index = index++;
  };
  for (size_t gap = 0; gap < missing.size(); ++gap) {
    MissingTask& one = *missing[gap];
    if (gap > 0 && one.name == missing[gap - 1]->name) {
      return Refusal{
          "MP-8", fmt::format("task {} of job {} is told missing twice: {} and {}", quote(one.name),
                              quote(job.name), quote(missing[gap - 1]->reason), quote(one.reason))};
    }
    const auto place = std::lower_bound(next, job.tasks.end(), one.name,
                                        [](const Task& task, const std::string& name) {
                                          return natural_compare(task.name, name) < 0;
                                        });
    if (place != job.tasks.end() && place->name == one.name) {
      return Refusal{"MP-8", fmt::format("task {} of job {} is told both found, at {}, and "
                                         "missing: {}",
                                         quote(one.name), quote(job.name),
                                         quote(place->address.to_string()), quote(one.reason))};
    }
    number_up_to(place);
    one.index = index++;
  }
  number_up_to(job.tasks.end());
  return {};
}

// Sorts the unranked; each name is there once.
Checked Staging::order_by_name(StagedJob& job) {
  if (job.in_order) return {};
  sort_by_name(job.tasks);
  const auto twice =
      std::adjacent_find(job.tasks.begin(), job.tasks.end(),
                         [](const Task& a, const Task& b) { return a.name == b.name; });
  if (twice == job.tasks.end()) return {};
  return Refusal{
      "MP-8", fmt::format("two unranked tasks of job {} are named {}: {} and {}", quote(job.name),
                          quote(twice->name), quote(twice->address.to_string()),
                          quote((twice + 1)->address.to_string()))};
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

}  // namespace muster
