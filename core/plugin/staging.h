// Staging: what a plugin has pushed in one call, each item checked as it comes; an answer is made of it only at the end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/plugin/backend.h"
#include "core/plugin/previous_answers.h"
#include "core/spec/snapshot.h"

namespace muster {

// A push that broke a duty, in words.
struct Refusal {
  const char* duty;  // "MP-6"
  std::string what;  // "task 3 of job 'worker': index -2 is neither ..."
};
using Checked = std::optional<Refusal>;  // nothing: accepted

// "task 3 of job 'worker' named 'w-3'", for one.
std::string task_words(std::string_view job, int64_t index, std::string_view name);

// Limits of one call (MP-9). Generous: they bound what a plugin gone wild can take.
inline constexpr uint64_t kTextMaximum = 65'536;       // bytes of one text
inline constexpr uint64_t kBytesMaximum = 512u << 20;  // of all texts
inline constexpr size_t kJobMaximum = 4'096;
inline constexpr size_t kAttributeMaximum = 256;  // of one task, or of the cluster
inline constexpr size_t kWarningMaximum = 1'000;
inline constexpr size_t kIdentityMaximum = 16;

// Used by one thread, for one answer after another. What an answer has that the one before had is taken over from there. Texts given
// are valid UTF-8 without NUL (the sink has seen to that, but of those of the repeat functions) and are copied.
class Staging {
 public:
  Checked add_job(std::string_view job);
  Checked add_task(std::string_view job, int64_t index, std::string_view name,
                   std::string_view address, int64_t port);
  Checked set_attribute(std::string_view key, std::string_view value);
  Checked add_missing(std::string_view job, int64_t index, std::string_view name,
                      std::string_view reason);
  Checked set_expected(std::string_view job, int64_t count);
  Checked set_identity(std::string_view job, int64_t index, std::string_view name,
                       std::string_view evidence);
  Checked add_warning(std::string_view text);

  // The same as add_task or set_attribute, where the answer before had the very same next: then it need not be looked at again. False:
  // nothing was done, and they are to be called.
  bool repeat_task(std::string_view job, int64_t index, std::string_view name,
                   std::string_view address, int64_t port);
  bool repeat_attribute(std::string_view key, std::string_view value);
  // Whether set_attribute had this key from the task before, next after the same keys as now.
  bool expects_key(std::string_view key) const;

  // What can only be said at the end: ranks of the unranked, places that two claim, positions of identities. The error has a `duty`
  // detail when the plugin broke one; two identities that differ are kFailedPrecondition. Empties the staging.
  Result<BackendAnswer> finish();

 private:
  struct StagedJob {
    std::string name;
    bool in_spec = false;  // named by add_job or add_task; else only missing or expected
    bool ranked = false;   // of a job that has tasks
    std::vector<Task> tasks;
    PreviousTasks previous;
    bool repeats = false;               // the last task was found there
    bool in_order = false;              // it is known that names ascend so far
    bool ascending = true;              // indices so far
    std::unordered_set<int32_t> taken;  // indices, once they do not ascend
    std::optional<int64_t> expected;
    std::vector<MissingTask> missing;
  };
  struct StagedIdentity {
    std::string job;
    int64_t index;
    std::string name;
    std::string evidence;
  };
  struct Position {
    std::string job;
    int64_t index = -1;  // -1: of a missing one whose index is not known
    std::string name;
    bool operator==(const Position& other) const {
      return job == other.job && index == other.index && (index >= 0 || name == other.name);
    }
  };

  Checked find_job(std::string_view name, StagedJob*& job);
  Checked count_bytes(size_t bytes);
  // Where an attribute of this key stands (a value, in packed_); counts those that it passed.
  size_t find_attribute(std::string_view key, size_t& count) const;
  size_t find_packed(std::string_view key, size_t& count) const;
  void add_packed(std::string_view key, std::string_view value);
  void unpack_repeated();
  void seal_attributes();
  void append(StagedJob& job, int64_t index, std::string_view name, Address address,
              const Task* before);
  Checked check_index(const StagedJob& job, int64_t index, std::string_view name);
  static bool is_ranked(const StagedJob& job);
  static Checked rank(StagedJob& job);
  static Checked order_by_name(StagedJob& job);
  static Checked rank_by_name(StagedJob& job);
  static void sort_by_name(std::vector<Task>& tasks);
  static Checked check_missing(const StagedJob& job);
  bool is_populated(std::string_view job) const;
  Checked locate(const StagedIdentity& identity, Position& position) const;
  Result<Identity> resolve_identity(std::vector<std::string>& warnings) const;

  std::vector<StagedJob> jobs_;
  std::unordered_map<std::string, size_t> places_;  // of jobs_, by name
  size_t last_job_ = 0;                             // of jobs_: the one named last
  size_t task_job_ = 0;                             // of jobs_: the one of the task added last
  int64_t task_count_ = 0;
  int64_t missing_count_ = 0;
  uint64_t bytes_ = 0;
  Attributes attributes_;  // of the cluster

  // Attributes of the task added last, as RareAttributes has them.
  struct Packed {
    std::string text;
    std::vector<std::pair<size_t, size_t>> sizes;  // of each key and value in it
    void clear() {
      text.clear();
      sizes.clear();
    }
  };
  Packed packed_;
  Packed usual_;                 // of a task before it
  size_t usual_at_ = 0;          // in usual_: the key that comes next if all keys are as there
  bool is_usual_ = false;        // they were so far
  const Task* model_ = nullptr;  // the task as it was in the answer before
  size_t repeated_ =
      0;  // bytes of the model's attributes that were repeated; packed_ is empty then

  std::vector<StagedIdentity> identities_;
  std::vector<std::string> warnings_;
  PreviousAnswers previous_answers_;
};

}  // namespace muster
