// What the answers before this one had: in a watch one task of ten thousand changes, and the others are told again as they were.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/spec/cluster_spec.h"

namespace muster {

// The tasks of one job in earlier answers. Used by one thread.
class PreviousTasks {
 public:
  PreviousTasks() = default;
  // `newest`: of the answer before; `by_name`: they stand in natural order of name. `older`: of one that nobody holds any longer.
  PreviousTasks(Tasks newest, bool by_name, std::vector<Task> older)
      : newest_(std::move(newest)), by_name_(by_name), older_(std::move(older)) {}

  size_t size() const { return newest_.size(); }
  // Whether what find() gives comes in natural order of name.
  bool by_name() const { return by_name_; }

  // The one behind the last that was found, which it is once it is passed; null: there is none. Lives as long as this.
  const Task* next() const { return next_ < newest_.size() ? &newest_[next_] : nullptr; }
  void pass() { ++next_; }
  // The task of this name, where it is the next one or stands behind one that is no more; else null.
  const Task* find(std::string_view name);
  // One with the texts of `found`, the last that was found: an older task that has them already, for that costs nothing, or a copy.
  // What it has besides its name is to be set.
  Task take(const Task& found);

 private:
  Tasks newest_;
  bool by_name_ = false;
  size_t next_ = 0;
  std::vector<Task> older_;
  size_t next_older_ = 0;
};

// The last two answers of one call. Texts that did not change are the same in all of them.
class PreviousAnswers {
 public:
  PreviousTasks tasks(std::string_view job);
  // `by_name`: the jobs whose tasks stand in natural order of name.
  void keep(const ClusterSpec& spec, std::set<std::string, std::less<>> by_name);

 private:
  struct Answer {
    ClusterSpec spec;
    std::set<std::string, std::less<>> by_name;
  };
  std::vector<Answer> answers_;  // the oldest first
};

}  // namespace muster
