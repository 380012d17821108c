// ClusterSpec: all tasks of a cluster, by job and index.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "core/spec/address.h"
#include "core/spec/rare.h"

namespace muster {

// One member. Name and attributes are told to people; equality and digest do not look at them. Clusters have a hundred thousand
// members, so one has 40 bytes: the index lies in what the address leaves free of its own.
struct Task {
  Task() = default;
  Task(int32_t index_, Address address_, std::string_view name_ = {},
       const Attributes& attributes_ = {})
      : address(std::move(address_)), index(index_), name(name_), attributes(attributes_) {}

  [[no_unique_address]] Address address;
  int32_t index = 0;
  RareText name;
  RareAttributes attributes;
};

// Tasks that copies share until one of them is edited. Copies may be used by several threads, one of them by one thread at a time.
class Tasks {
 public:
  Tasks() = default;
  Tasks(std::vector<Task> tasks) : block_(new Block{{1}, std::move(tasks)}) {}
  Tasks(const Tasks& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) block_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  Tasks(Tasks&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Tasks& operator=(Tasks other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Tasks() {
    if (block_ != nullptr && block_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete block_;
  }

  size_t size() const { return block_ == nullptr ? 0 : block_->tasks.size(); }
  bool empty() const { return size() == 0; }
  const Task* data() const { return block_ == nullptr ? nullptr : block_->tasks.data(); }
  const Task* begin() const { return data(); }
  const Task* end() const { return data() + size(); }
  const Task& operator[](size_t at) const { return block_->tasks[at]; }
  const Task& front() const { return block_->tasks.front(); }
  const Task& back() const { return block_->tasks.back(); }

  bool shares_with(const Tasks& other) const { return block_ == other.block_; }
  bool is_shared() const {
    return block_ != nullptr && block_->owners.load(std::memory_order_acquire) != 1;
  }
  // Its own, to be changed.
  std::vector<Task>& edit() {
    if (block_ == nullptr || is_shared()) *this = Tasks(std::vector<Task>(begin(), end()));
    return block_->tasks;
  }

 private:
  struct Block {
    std::atomic<uint32_t> owners;
    std::vector<Task> tasks;
  };
  Block* block_ = nullptr;  // null: none
};

// A named group of tasks, sorted by index, each index once. May have no task.
struct Job {
  std::string name;
  Tasks tasks;

  // Indices are 0..n-1: shown as a list. A job without tasks is dense too (mends SPEC-3).
  bool dense() const;
  const Task* find(int64_t index) const;
};

// TensorFlow's ClusterSpec (tf-semantics sections 3 and 14) without its quirks: indices are 0..2^31-1,
// addresses are checked, jobs keep the order in which they were added whatever they came from, names are
// not empty and valid UTF-8 without control characters.
class ClusterSpec {
 public:
  const std::vector<Job>& jobs() const { return jobs_; }
  bool empty() const { return jobs_.empty(); }
  size_t task_count() const;
  const Job* find(std::string_view job) const;

  // Adds a job without tasks unless it is there. kInvalidArgument: not a job name.
  Status add_job(std::string_view name);
  // Adds a task; appending in index order is O(1). kAlreadyExists names the job, the index and both
  // addresses; kInvalidArgument: not a job name, or an index out of range.
  Status add_task(std::string_view job, Task task);
  // Adds many tasks of one job, in any order, in O(n log n); adds the job also when there are none. Fails as
  // add_task does, and then adds nothing.
  Status add_tasks(std::string_view job, std::vector<Task> tasks);

  // The tasks of a job, if there is one and no other spec shares them; the job has none then.
  std::optional<std::vector<Task>> take_tasks(std::string_view job);

  // The address of a task. kNotFound says which jobs or indices there are.
  Result<Address> task_address(std::string_view job, int64_t index) const;

  // Same jobs, indices and addresses; the order of jobs does not matter (TensorFlow's equality).
  bool operator==(const ClusterSpec& other) const;

 private:
  // The job's place in jobs_, or -1.
  int64_t place(std::string_view job) const;
  // The job, added if need be; null with `status` set when it is no job name.
  Job* job_for(std::string_view name, Status& status);

  std::vector<Job> jobs_;
  std::map<std::string, size_t, std::less<>> places_;  // by name, once there are many jobs
};

// kInvalidArgument with the reason: empty, longer than 255 bytes, invalid UTF-8, a control character (C0, DEL, C1).
Status check_job_name(std::string_view name);

// True for well-formed UTF-8 without NUL (RFC 3629: no surrogates, no overlong forms).
bool is_valid_text(std::string_view text);

// Natural order: runs of digits of any length compare as numbers (worker-2 before worker-10), the rest as bytes;
// texts that differ in leading zeros alone: fewer zeros first. A strict total order. <0, 0, >0.
int natural_compare(std::string_view a, std::string_view b);

// "sha256:<64 hex digits>" of the ordered members; `sdk/digest.md` says of which bytes. Jobs are taken
// sorted by name (as bytes), so equal specs have equal digests.
std::string digest(const ClusterSpec& spec);

// One difference between two specs.
struct Change {
  enum class Kind { kAdded, kRemoved, kMoved };  // moved: the same index, another address
  Kind kind;
  std::string job;
  int32_t index;
  std::string before;  // address; "" when added
  std::string after;   // address; "" when removed
};

// What turns `before` into `after`, by job (in `after`'s order, then the removed ones) and index.
std::vector<Change> diff(const ClusterSpec& before, const ClusterSpec& after);

}  // namespace muster
