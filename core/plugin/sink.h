// SinkCall: the table of one running call, through which a plugin pushes.
#pragma once

#include <muster/plugin.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/plugin/needs.h"
#include "core/plugin/plan.h"
#include "core/plugin/staging.h"
#include "core/service/call.h"

namespace muster {

// Made by the caller, used on the plugin's thread; held by both until the plugin has really returned. Each push is checked, copied and
// kept in the staging; the first that is refused is remembered, and nothing the plugin returns makes up for it (MP-10).
class SinkCall : public Call {
 public:
  SinkCall(std::shared_ptr<Session> session, std::string path, std::string backend,
           int64_t deadline_ns, CancelToken cancel);

  const muster_call_v1* table() const { return &table_; }

  // Makes this the call of a watch: each snapshot that the plugin commits is given to `committed`, on the plugin's thread.
  void watch(std::function<void(BackendAnswer)> committed, int64_t interval_ns = 0) {
    committed_ = std::move(committed);
    table_.interval_ns = interval_ns;
  }

  // Makes this the call of muster.permissions/1: what the plugin says is kept for take_needs, once finish was good.
  void ask_needs() { needs_.emplace(); }
  Needs take_needs() { return *std::move(needs_); }

  // Makes this the call of muster.plan/1, likewise.
  void ask_plan() { plan_.emplace(); }
  RequestPlan take_plan() { return *std::move(plan_); }

  // The thread that runs the plugin's function says so before it does; pushes from others are refused (MP-15).
  void begin() {
    thread_ = std::this_thread::get_id();
    begun_secrets_ = session().secrets().additions();
  }

  // What became of the call, once the function has returned `code` and filled `error`: the answer, the plugin's own error, or kInternal
  // with `duty` when it broke one. On the thread of begin().
  Result<BackendAnswer> finish(int32_t code, Error error);
  // The same when an exception left the function.
  Error thrown(const std::string& words) const;

  // kInternal with `plugin`, `path` and `duty`: the plugin broke a duty.
  Error misbehaved(const char* duty, std::string_view what) const;

 private:
  struct Functions;  // the C functions of the table

  const char* function() const {
    return needs_ ? "permissions" : plan_ ? "plan" : committed_ == nullptr ? "resolve" : "watch";
  }
  Checked add_permission(Permission permission);
  Checked set_grant(std::string_view command, std::string_view text);
  Checked add_planned(PlannedRequests planned);
  // What was staged, checked as a whole.
  Result<BackendAnswer> take();
  int32_t commit();

  // Remembers the first refusal; the code for the plugin to return.
  int32_t refuse(Refusal refusal);
  int32_t answer(Checked checked) { return checked ? refuse(std::move(*checked)) : MUSTER_OK; }
  void redact(BackendAnswer& answer) const;

  muster_call_v1 table_{};
  std::thread::id thread_;
  Staging staging_;
  std::mutex refusal_mutex_;  // a push from a wrong thread is refused too
  std::optional<Refusal> refusal_;
  bool out_of_memory_ = false;  // a push could not be kept for that
  uint64_t known_secrets_ = 0;  // of Secrets::additions, when the answer before was begun
  uint64_t begun_secrets_ = 0;  // the same of this answer
  std::function<void(BackendAnswer)> committed_;
  std::optional<Error> refused_commit_;
  std::optional<Needs> needs_;
  std::optional<RequestPlan> plan_;
};

}  // namespace muster
