#include "core/spec/cluster_spec.h"

#include <algorithm>
#include <cstring>

#include "core/spec/quote.h"

namespace muster {
namespace {

// Below this many jobs a look at each is quicker than a map; real clusters have two to five.
constexpr size_t kManyJobs = 16;

bool by_index(const Task& a, const Task& b) { return a.index < b.index; }

Error taken(std::string_view job, const Task& there, const Task& added) {
  return Error{Code::kAlreadyExists,
               "job " + quote(job) + " has two tasks with index " + std::to_string(added.index) +
                   ": " + quote(there.address.to_string()) + " and " +
                   quote(added.address.to_string()),
               {}};
}

Error negative(std::string_view job, int32_t index) {
  return Error{Code::kInvalidArgument,
               "job " + quote(job) + " has a task with index " + std::to_string(index) +
                   "; indices are 0 to 2147483647",
               {}};
}

// "0-15, 17"; at most a few ranges, then "and more".
std::string index_ranges(const Tasks& tasks) {
  std::string text;
  size_t ranges = 0;
  for (size_t i = 0; i < tasks.size();) {
    size_t end = i + 1;
    while (end < tasks.size() && tasks[end].index - tasks[end - 1].index == 1) ++end;
    if (++ranges > 8) return text + " and more";
    if (!text.empty()) text += ", ";
    text += std::to_string(tasks[i].index);
    if (end - i > 1) text += "-" + std::to_string(tasks[end - 1].index);
    i = end;
  }
  return text;
}

}  // namespace

bool Job::dense() const {
  // Sorted and without repeats: the last index says it all.
  return tasks.empty() || static_cast<size_t>(tasks.back().index) + 1 == tasks.size();
}

const Task* Job::find(int64_t index) const {
  if (static_cast<size_t>(index) < tasks.size() && tasks[static_cast<size_t>(index)].index == index)
    return &tasks[static_cast<size_t>(index)];
  const auto found =
      std::lower_bound(tasks.begin(), tasks.end(), index,
                       [](const Task& task, int64_t wanted) { return task.index < wanted; });
  return found != tasks.end() && found->index == index ? &*found : nullptr;
}

size_t ClusterSpec::task_count() const {
  size_t count = 0;
  for (const Job& job : jobs_) count += job.tasks.size();
  return count;
}

int64_t ClusterSpec::place(std::string_view job) const {
  if (!places_.empty()) {
    const auto found = places_.find(job);
    return found == places_.end() ? -1 : static_cast<int64_t>(found->second);
  }
  // From the end: tasks mostly come job by job.
  for (size_t i = jobs_.size(); i-- > 0;) {
    if (jobs_[i].name == job) return static_cast<int64_t>(i);
  }
  return -1;
}

const Job* ClusterSpec::find(std::string_view job) const {
  const int64_t at = place(job);
  return at < 0 ? nullptr : &jobs_[static_cast<size_t>(at)];
}

Job* ClusterSpec::job_for(std::string_view name, Status& status) {
  if (const int64_t at = place(name); at >= 0) return &jobs_[static_cast<size_t>(at)];
  status = check_job_name(name);
  if (!status) return nullptr;
  jobs_.push_back(Job{std::string(name), {}});
  if (!places_.empty()) {
    places_.emplace(name, jobs_.size() - 1);
  } else if (jobs_.size() > kManyJobs) {
    for (size_t i = 0; i < jobs_.size(); ++i) places_.emplace(jobs_[i].name, i);
  }
  return &jobs_.back();
}

Status ClusterSpec::add_job(std::string_view name) {
  Status status;
  job_for(name, status);
  return status;
}

Status ClusterSpec::add_task(std::string_view job_name, Task task) {
  if (task.index < 0) return negative(job_name, task.index);
  Status status;
  Job* job = job_for(job_name, status);
  if (job == nullptr) return status;
  std::vector<Task>& tasks = job->tasks.edit();
  if (tasks.empty() || tasks.back().index < task.index) {
    tasks.push_back(std::move(task));
    return {};
  }
  const auto place = std::lower_bound(tasks.begin(), tasks.end(), task, by_index);
  if (place->index == task.index) return taken(job_name, *place, task);
  tasks.insert(place, std::move(task));
  return {};
}

Status ClusterSpec::add_tasks(std::string_view job_name, std::vector<Task> added) {
  const auto not_after = [](const Task& a, const Task& b) { return a.index >= b.index; };
  if (std::adjacent_find(added.begin(), added.end(), not_after) != added.end()) {
    std::stable_sort(added.begin(), added.end(), by_index);
    const auto twice = std::adjacent_find(added.begin(), added.end(), not_after);
    if (twice != added.end()) return taken(job_name, *twice, *(twice + 1));
  }
  if (!added.empty() && added.front().index < 0) return negative(job_name, added.front().index);
  if (const Job* job = find(job_name)) {
    for (const Task& task : added) {
      if (const Task* there = job->find(task.index)) return taken(job_name, *there, task);
    }
  }

  Status status;
  Job* job = job_for(job_name, status);
  if (job == nullptr) return status;
  if (job->tasks.empty()) {
    job->tasks = std::move(added);
    return {};
  }
  std::vector<Task>& tasks = job->tasks.edit();
  const auto before = static_cast<std::ptrdiff_t>(tasks.size());
  tasks.insert(tasks.end(), std::make_move_iterator(added.begin()),
               std::make_move_iterator(added.end()));
  std::inplace_merge(tasks.begin(), tasks.begin() + before, tasks.end(), by_index);
  return {};
}

std::optional<std::vector<Task>> ClusterSpec::take_tasks(std::string_view job) {
  const int64_t at = place(job);
  if (at < 0) return std::nullopt;
  Tasks& tasks = jobs_[static_cast<size_t>(at)].tasks;
  if (tasks.empty() || tasks.is_shared()) return std::nullopt;
  return std::move(tasks.edit());
}

Result<Address> ClusterSpec::task_address(std::string_view job_name, int64_t index) const {
  const Job* job = find(job_name);
  if (job == nullptr) {
    std::string known;
    for (size_t i = 0; i < jobs_.size() && i < 8; ++i)
      known += (known.empty() ? "" : ", ") + quote(jobs_[i].name);
    if (jobs_.size() > 8) known += " and " + std::to_string(jobs_.size() - 8) + " more";
    return Error{Code::kNotFound,
                 "there is no job " + quote(job_name) + " in the cluster; " +
                     (known.empty() ? "it has no jobs" : "its jobs are " + known),
                 {}};
  }
  const Task* task = job->find(index);
  if (task == nullptr) {
    return Error{Code::kNotFound,
                 "there is no task " + std::to_string(index) + " in job " + quote(job_name) + "; " +
                     (job->tasks.empty() ? "it has no tasks"
                                         : "its indices are " + index_ranges(job->tasks)),
                 {}};
  }
  return task->address;
}

bool ClusterSpec::operator==(const ClusterSpec& other) const {
  if (jobs_.size() != other.jobs_.size()) return false;
  for (const Job& job : jobs_) {
    const Job* theirs = other.find(job.name);
    if (theirs == nullptr) return false;
    if (job.tasks.shares_with(theirs->tasks)) continue;
    const auto same = [](const Task& a, const Task& b) {
      return a.index == b.index && a.address == b.address;
    };
    if (!std::equal(job.tasks.begin(), job.tasks.end(), theirs->tasks.begin(), theirs->tasks.end(),
                    same))
      return false;
  }
  return true;
}

namespace {

// How many bytes of ASCII without NUL there are at the front; nearly all texts are nothing else.
size_t ascii_front(std::string_view text) {
  constexpr uint64_t kHigh = 0x8080808080808080, kOnes = 0x0101010101010101;
  const auto plain = [&](size_t from) {
    uint64_t eight = 0;
    std::memcpy(&eight, text.data() + from, 8);
    // Of ASCII only a NUL borrows.
    return ((eight | (eight - kOnes)) & kHigh) == 0;
  };
  size_t at = 0;
  while (at + 8 <= text.size() && plain(at)) at += 8;
  // The last eight overlap those before.
  if (at > 0 && at + 8 > text.size() && plain(text.size() - 8)) return text.size();
  while (at < text.size() && static_cast<signed char>(text[at]) > 0) ++at;
  return at;
}

}  // namespace

bool is_valid_text(std::string_view text) {
  while (!text.empty()) {
    text.remove_prefix(ascii_front(text));
    if (text.empty()) break;
    if (text.front() == '\0') return false;
    const size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

Status check_job_name(std::string_view name) {
  const auto refuse = [&](const char* reason) {
    return Error{Code::kInvalidArgument, quote(name) + " is not a job name: " + reason, {}};
  };
  if (name.empty()) return refuse("it is empty");
  if (name.size() > 255) return refuse("it is longer than 255 bytes");
  if (!is_valid_text(name) && name.find('\0') == std::string_view::npos)
    return refuse("it is not valid UTF-8");
  for (size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const bool c1 =
        c == 0xc2 && i + 1 < name.size() && static_cast<unsigned char>(name[i + 1]) < 0xa0;
    if (c < 0x20 || c == 0x7f || c1) return refuse("it has a control character in it");
  }
  return {};
}

}  // namespace muster
