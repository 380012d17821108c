// What stands behind the handles of <muster/muster.h>.
#pragma once

#include <muster/muster.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/resolve/cluster.h"
#include "core/resolve/live_cluster.h"
#include "core/service/host.h"

struct muster_text {
  std::string text;
};

// A function that is given settings works on a copy of its own, as they are when it begins: the launcher's other threads may use the handle
// and go on setting.
struct muster_settings {
  muster_settings() = default;
  muster_settings(const muster_settings& other) {
    const std::lock_guard lock(other.mutex);
    values = other.values;
    log_level = other.log_level;
    log_write = other.log_write;
    log_ctx = other.log_ctx;
  }
  muster_settings& operator=(const muster_settings&) = delete;

  mutable std::mutex mutex;  // of what the launcher sets
  std::map<std::string, std::vector<std::string>> values;
  int32_t log_level = 0;
  void (*log_write)(void* ctx, int32_t level, const char* text, size_t size) = nullptr;
  void* log_ctx = nullptr;

  // The last value of a setting, or that of its environment variable, or null. One thread at a time.
  const std::string* find(const std::string& name) const { return find_with_origin(name).first; }
  // And who says it, in the user's words: "the setting task_type", "MUSTER_TASK_TYPE".
  std::pair<const std::string*, std::string> find_with_origin(const std::string& name) const;
  const std::vector<std::string>& all(const std::string& name) const;

 private:
  mutable std::map<std::string, std::string>
      environment_;  // values read, so that pointers to them live
};

// [thread-safe]
struct muster_snapshot {
  explicit muster_snapshot(muster::SnapshotPtr shown);

  const muster::SnapshotPtr snapshot;
  std::vector<size_t> job_ends;  // where each job's tasks end among all
  std::string recording_error;   // why the resolve is not recorded; "" when it is, or was not to be

  // Of task `n` of all, job after job.
  size_t task_count() const { return job_ends.empty() ? 0 : job_ends.back(); }
  const muster::Job& job_of(size_t n) const;
  const muster::Task& task(size_t n) const;
  // What only some ask for is made when it is asked for first. With a NUL behind it.
  std::string_view address(size_t n) const;
  const std::string& digest() const;

 private:
  mutable std::once_flag digest_made_, addresses_made_;
  mutable std::string digest_;
  mutable std::string addresses_;             // each with a NUL behind it
  mutable std::vector<size_t> address_ends_;  // in addresses_
};

struct muster_cluster {
  // A plugin that is stuck may go on after this; what it logs then has nowhere to go.
  ~muster_cluster();

  std::unique_ptr<muster::Cluster> cluster;
  muster::BackendFactory make_backend;  // how its backends were made, for a watch to have its own
  std::shared_ptr<const muster::Log> log;
  std::shared_ptr<muster::Secrets> secrets;
  std::string record;                       // path, or ""
  std::shared_ptr<muster::Session> replay;  // null, or what each resolve begins anew
  std::vector<std::string> variables;  // names that the config interpolates: part of a recording
  int64_t watch_interval_ns = 0;
  std::shared_ptr<muster::CancelSwitch> cancel_switch = std::make_shared<muster::CancelSwitch>();
  // An eventfd that is readable while the switch is set, once there is a watch; -1 before.
  std::atomic<int> cancel_event{-1};
  std::atomic<int64_t> running{0};  // resolves under way
  mutable std::mutex watches_mutex;
  std::vector<const muster::LiveCluster*> watches;  // those that are watched

  // Async-signal-safe.
  void cancel();
  void reset_cancel();
  // Makes cancel_event; false: there is no descriptor left.
  bool make_cancel_event();
  // After cancel_event was found readable: whether the switch is set. If not, the event is no longer readable.
  bool confirm_cancel();
  std::string watch_progress() const;

  // One resolve of `cluster`: the snapshot, or a new error in *error. `recording_error`: why it is not recorded.
  int32_t resolve(const muster::CancelToken& cancel, muster::SnapshotPtr& snapshot,
                  std::string& recording_error, muster_error** error);
  // Where a resolve that is not recorded asks the world.
  std::shared_ptr<muster::Session> session() const {
    return replay != nullptr ? replay->replay_again() : muster::Session::live(log, secrets);
  }
};

namespace muster {

// Stores `error` as a new handle where the caller wants one; returns its code.
int32_t fail(Error error, muster_error** out);
int32_t fail_open(Error error, muster_error** out);
int32_t fail_resolve(ResolveFailure failure, muster_error** out);

// A text for a getter, with a NUL behind it: its data and, where asked for, its size.
const char* give(std::string_view text, size_t* size);

// The config, read and checked, with the plugins that it names found but not loaded.
struct OpenedConfig {
  Config config;
  std::map<PluginUse, FoundPlugin> plugins;
  std::vector<std::string> variables;
};
Result<OpenedConfig> open_config(const muster_settings& settings,
                                 const EnvironmentLookup& environment);

// Where the settings and the environment say plugins are, with nothing of a config.
PluginSearch search_of(const muster_settings& settings, const Config* config);

// Runs the body of a C function: no exception leaves it.
template <typename Body>
int32_t guarded(muster_error** error, Body body) noexcept {
  try {
    return body();
  } catch (const std::exception& exception) {
    return fail(exception_error(exception, "muster: unexpected"), error);
  }
}

}  // namespace muster
