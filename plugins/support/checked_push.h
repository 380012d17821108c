// CheckedPush: what a source says, held against the core's limits before it is pushed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <muster/plugin.hpp>

namespace muster::support {

// Pushes as sdk::Call does. A push that the core refuses is this plugin's fault (exit status 16, "tell its author"), while a wrong
// address or a member that stands twice is the source's: so each is checked here first, and the first that is wrong is
// the failure of `end`, by the field and the value. Nothing is pushed after it. [call]
class CheckedPush {
 public:
  // `code` of what is wrong: DATA_LOSS of a source that is asked, INVALID_ARGUMENT of what the user wrote. What stands twice is
  // ALREADY_EXISTS of the first and `code` of the second.
  explicit CheckedPush(sdk::Call& call, int32_t code = MUSTER_E_DATA_LOSS)
      : call_(call),
        addresses_(call.host().service<muster_address_v1>(MUSTER_ADDRESS_V1)),
        code_(code) {}
  CheckedPush(const CheckedPush&) = delete;
  CheckedPush& operator=(const CheckedPush&) = delete;

  void add_job(std::string_view job);
  void add_task(const sdk::Task& task);
  void set_attribute(std::string_view key, std::string_view value);
  // The same for what the caller's reader has held against the limits by itself: texts of at most 65,536 bytes that are UTF-8, an IP
  // address, an index or a name that no other push of the job has, and keys of the caller's own. What is left to do is to count.
  void add_known_task(const sdk::Task& task);
  void set_known_attribute(std::string_view key, std::string_view value) {
    if (!failure_ && count_bytes(key.size() + value.size())) call_.set_attribute(key, value);
  }
  void add_missing(std::string_view job, int64_t index, std::string_view name,
                   std::string_view reason);
  void set_expected(std::string_view job, int64_t count);
  void set_identity(std::string_view job, int64_t index, std::string_view name,
                    std::string_view evidence);
  // Those beyond the limit are counted, and `end` says how many.
  void add_warning(std::string_view text);

  // Nothing more is pushed: a long loop may end.
  bool stopped() const { return failure_.has_value() || call_.refused(); }
  // After the last push: what was wrong, if anything was.
  sdk::Status end();

 private:
  struct Job {
    bool ranked = false, unranked = false;  // of the tasks
    std::vector<int64_t> ascending;         // indices that were above all before them
    std::unordered_set<int64_t> others;     // and those that were not
    // Of the unranked: their names, one behind the other, and where each ends. That each is there once is looked at in the
    // end, and only where they do not ascend.
    std::string names;
    std::vector<size_t> name_ends;
    bool names_ascend = true;
  };

  static constexpr uint64_t kBytesMaximum = uint64_t{512} << 20;  // of all texts of a call (MP-9)

  Job* job(std::string_view name) {
    return last_ != nullptr && !failure_ && last_name_ == name ? last_ : other_job(name);
  }
  Job* other_job(std::string_view name);
  // The job of a task that is one more.
  Job* count_task(const sdk::Task& task);
  bool take_place(Job& job, std::string_view job_name, int64_t index, std::string_view name);
  bool take_name(Job& job, std::string_view name);
  bool take_key(std::string_view key);
  void check_end(std::string_view job_name, const Job& job);
  bool count_bytes(size_t bytes) {
    bytes_ += bytes;
    return bytes_ <= kBytesMaximum || too_many_bytes();
  }
  bool too_many_bytes();
  bool twice(std::string_view job_name, int64_t index, std::string_view name);
  // `what()` says whose text it is; it is asked where the text is wrong.
  template <typename What>
  bool is_good(std::string_view text, const What& what);
  bool count(int64_t number, int64_t most, const char* what);
  bool fail(int32_t code, std::string why);

  sdk::Call& call_;
  const muster_address_v1* addresses_;
  int32_t code_;
  std::optional<sdk::Failure> failure_;
  std::unordered_map<std::string, Job> jobs_;
  std::string last_name_;  // of jobs_: the one named last
  Job* last_ = nullptr;
  // Keys of the attributes of the task added last, or of the cluster: so many of keys_. What is behind them is of the task
  // before, which mostly has the same.
  std::vector<std::string> keys_;
  size_t key_count_ = 0;
  int64_t tasks_ = 0, missing_ = 0, warnings_ = 0;
  uint64_t bytes_ = 0;
  std::string held_back_;  // the last warning that there is room for
};

}  // namespace muster::support
