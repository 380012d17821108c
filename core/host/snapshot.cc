// Getters and renderings of a snapshot.
#include <fmt/format.h>

#include <algorithm>

#include "core/format/format.h"
#include "core/host/handles.h"

namespace muster {

namespace {

const char* nothing(size_t* size) {
  if (size != nullptr) *size = 0;
  return "";
}

const JobStatus* find_status(const muster_snapshot* snapshot, const char* job) {
  if (snapshot == nullptr || job == nullptr) return nullptr;
  for (const JobStatus& status : snapshot->snapshot->jobs) {
    if (status.name == job) return &status;
  }
  return nullptr;
}

// The place of a task among all, or npos.
size_t find_task(const muster_snapshot* handle, std::string_view job, int64_t index) {
  const std::vector<Job>& jobs = handle->snapshot->spec.jobs();
  for (size_t n = 0; n < jobs.size(); ++n) {
    if (jobs[n].name != job) continue;
    const Task* task = jobs[n].find(index);
    return task == nullptr ? std::string::npos
                           : handle->job_ends[n] - jobs[n].tasks.size() +
                                 static_cast<size_t>(task - jobs[n].tasks.data());
  }
  return std::string::npos;
}

}  // namespace
}  // namespace muster

muster_snapshot::muster_snapshot(muster::SnapshotPtr shown) : snapshot(std::move(shown)) {
  size_t end = 0;
  for (const muster::Job& job : snapshot->spec.jobs()) job_ends.push_back(end += job.tasks.size());
}

const muster::Job& muster_snapshot::job_of(size_t n) const {
  const auto end = std::upper_bound(job_ends.begin(), job_ends.end(), n);
  return snapshot->spec.jobs()[static_cast<size_t>(end - job_ends.begin())];
}

const muster::Task& muster_snapshot::task(size_t n) const {
  const auto end = std::upper_bound(job_ends.begin(), job_ends.end(), n);
  const muster::Job& job = snapshot->spec.jobs()[static_cast<size_t>(end - job_ends.begin())];
  return job.tasks[n - (*end - job.tasks.size())];
}

const std::string& muster_snapshot::digest() const {
  std::call_once(digest_made_, [this] { digest_ = muster::digest(snapshot->spec); });
  return digest_;
}

std::string_view muster_snapshot::address(size_t n) const {
  std::call_once(addresses_made_, [this] {
    address_ends_.reserve(task_count());
    for (const muster::Job& job : snapshot->spec.jobs()) {
      for (const muster::Task& task : job.tasks) {
        task.address.append_to(addresses_);
        address_ends_.push_back(addresses_.size());
        addresses_ += '\0';
      }
    }
  });
  const size_t begin = n == 0 ? 0 : address_ends_[n - 1] + 1;
  return std::string_view(addresses_).substr(begin, address_ends_[n] - begin);
}

using muster::nothing;

extern "C" {

int32_t muster_snapshot_complete(const muster_snapshot* snapshot) {
  return snapshot != nullptr && snapshot->snapshot->complete ? 1 : 0;
}

int32_t muster_snapshot_stale(const muster_snapshot* snapshot) {
  return snapshot != nullptr && snapshot->snapshot->stale ? 1 : 0;
}

const char* muster_snapshot_state(const muster_snapshot* snapshot) {
  return snapshot == nullptr ? "" : muster::state_name(*snapshot->snapshot);
}

int64_t muster_snapshot_stale_since_ms(const muster_snapshot* snapshot) {
  if (snapshot == nullptr || !snapshot->snapshot->stale) return -1;
  return snapshot->snapshot->stale_since_ns / 1'000'000;
}

size_t muster_snapshot_job_count(const muster_snapshot* snapshot) {
  return snapshot == nullptr ? 0 : snapshot->snapshot->jobs.size();
}

const char* muster_snapshot_job_name(const muster_snapshot* snapshot, size_t n, size_t* size) {
  if (n >= muster_snapshot_job_count(snapshot)) return nothing(size);
  return muster::give(snapshot->snapshot->jobs[n].name, size);
}

size_t muster_snapshot_found(const muster_snapshot* snapshot, const char* job) {
  const muster::JobStatus* status = muster::find_status(snapshot, job);
  return status == nullptr ? 0 : static_cast<size_t>(status->found);
}

int64_t muster_snapshot_expected(const muster_snapshot* snapshot, const char* job) {
  const muster::JobStatus* status = muster::find_status(snapshot, job);
  return status == nullptr ? -1 : status->expected.value_or(-1);
}

size_t muster_snapshot_task_count(const muster_snapshot* snapshot) {
  return snapshot == nullptr ? 0 : snapshot->task_count();
}

const char* muster_snapshot_task_job(const muster_snapshot* snapshot, size_t n, size_t* size) {
  if (n >= muster_snapshot_task_count(snapshot)) return nothing(size);
  return muster::give(snapshot->job_of(n).name, size);
}

int64_t muster_snapshot_task_index(const muster_snapshot* snapshot, size_t n) {
  return n >= muster_snapshot_task_count(snapshot) ? -1 : snapshot->task(n).index;
}

const char* muster_snapshot_task_name(const muster_snapshot* snapshot, size_t n, size_t* size) {
  if (n >= muster_snapshot_task_count(snapshot)) return nothing(size);
  return muster::give(snapshot->task(n).name, size);
}

const char* muster_snapshot_task_address(const muster_snapshot* snapshot, size_t n, size_t* size) {
  if (n >= muster_snapshot_task_count(snapshot)) return nothing(size);
  return muster::give(snapshot->address(n), size);
}

const char* muster_snapshot_task_attribute(const muster_snapshot* snapshot, size_t n,
                                           const char* key, size_t* size) {
  if (key == nullptr || n >= muster_snapshot_task_count(snapshot)) return nothing(size);
  for (const auto& [name, value] : snapshot->task(n).attributes) {
    if (name == key) return muster::give(value, size);
  }
  return nothing(size);
}

const char* muster_snapshot_address(const muster_snapshot* snapshot, const char* job, int64_t index,
                                    size_t* size) {
  if (snapshot == nullptr || job == nullptr) return nothing(size);
  const size_t n = muster::find_task(snapshot, job, index);
  return n == std::string::npos ? nothing(size) : muster::give(snapshot->address(n), size);
}

const char* muster_snapshot_task_type(const muster_snapshot* snapshot, size_t* size) {
  return snapshot == nullptr ? nothing(size)
                             : muster::give(snapshot->snapshot->identity.type, size);
}

int64_t muster_snapshot_task_id(const muster_snapshot* snapshot) {
  return snapshot == nullptr ? -1 : snapshot->snapshot->identity.index;
}

const char* muster_snapshot_rpc_layer(const muster_snapshot* snapshot, size_t* size) {
  return snapshot == nullptr ? nothing(size) : muster::give(snapshot->snapshot->rpc_layer, size);
}

const char* muster_snapshot_environment(const muster_snapshot* snapshot, size_t* size) {
  return snapshot == nullptr ? nothing(size) : muster::give(snapshot->snapshot->environment, size);
}

size_t muster_snapshot_warning_count(const muster_snapshot* snapshot) {
  return snapshot == nullptr ? 0 : snapshot->snapshot->warnings.size();
}

const char* muster_snapshot_warning(const muster_snapshot* snapshot, size_t n, size_t* size) {
  if (n >= muster_snapshot_warning_count(snapshot)) return nothing(size);
  return muster::give(snapshot->snapshot->warnings[n], size);
}

const char* muster_snapshot_digest(const muster_snapshot* snapshot, size_t* size) {
  return snapshot == nullptr ? nothing(size) : muster::give(snapshot->digest(), size);
}

const char* muster_snapshot_recording_error(const muster_snapshot* snapshot, size_t* size) {
  return snapshot == nullptr ? nothing(size) : muster::give(snapshot->recording_error, size);
}

int32_t muster_snapshot_master(const muster_snapshot* snapshot, const char* task_type,
                               int64_t task_id, const char* rpc_layer, muster_text** master,
                               muster_error** error) {
  return muster::guarded(error, [&] {
    if (snapshot == nullptr || master == nullptr) {
      return muster::fail({muster::Code::kInvalidArgument,
                           "muster_snapshot_master: snapshot and master must not be NULL",
                           {}},
                          error);
    }
    const auto type = task_type == nullptr ? std::nullopt : std::optional<std::string>(task_type);
    const auto id = task_id < 0 ? std::nullopt : std::optional<int64_t>(task_id);
    const auto layer = rpc_layer == nullptr ? std::nullopt : std::optional<std::string>(rpc_layer);
    auto found = muster::master(*snapshot->snapshot, type, id, layer);
    if (!found) return muster::fail(std::move(found).error(), error);
    *master = new muster_text{std::move(*found)};
    return 0;
  });
}

int64_t muster_snapshot_accelerators(const muster_snapshot* snapshot, const char* task_type,
                                     int64_t task_id, const char* device_type) {
  if (snapshot == nullptr || device_type == nullptr) return -1;
  const auto count_in = [device_type](const std::map<std::string, int64_t>& accelerators) {
    const auto found = accelerators.find(device_type);
    return found == accelerators.end() ? -1 : found->second;
  };
  if (task_type == nullptr || task_id < 0) return count_in(snapshot->snapshot->accelerators);
  const size_t n = muster::find_task(snapshot, task_type, task_id);
  if (n == std::string::npos) return -1;
  return count_in(
      muster::accelerators_of(snapshot->task(n).attributes, snapshot->snapshot->attributes));
}

int32_t muster_render(const muster_snapshot* snapshot, const char* format, const char* options,
                      muster_text** text, muster_error** error) {
  return muster::guarded(error, [&] {
    if (snapshot == nullptr || format == nullptr || text == nullptr) {
      return muster::fail({muster::Code::kInvalidArgument,
                           "muster_render: snapshot, format and text must not be NULL",
                           {}},
                          error);
    }
    auto parsed = muster::parse_format_options(options == nullptr ? "" : options);
    if (!parsed) return muster::fail(std::move(parsed).error(), error);
    auto rendered = muster::render(*snapshot->snapshot, format, *parsed);
    if (!rendered) return muster::fail(std::move(rendered).error(), error);
    *text = new muster_text{std::move(*rendered)};
    return 0;
  });
}

const char* muster_format_names(void) {
  static const std::string names = [] {
    std::string lines;
    for (const muster::FormatName& format : muster::format_names())
      lines += fmt::format("{}\t{}\n", format.name, format.sentence);
    return lines;
  }();
  return names.c_str();
}

void muster_snapshot_destroy(muster_snapshot* snapshot) { delete snapshot; }

}  // extern "C"
