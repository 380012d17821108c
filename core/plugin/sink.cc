#include "core/plugin/sink.h"

#include <fmt/format.h>

#include <cstring>
#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "core/plugin/crossing.h"
#include "core/spec/quote.h"

namespace muster {
namespace {

// MP-9
constexpr size_t kPermissionsMaximum = 1000;
constexpr size_t kPlannedMaximum = 1000;

// A text as it crossed, to be compared with those that were looked at. One that is to be looked at first is like none of them.
std::string_view as_it_is(const char* text, uint64_t size) {
  static constexpr char kNul = '\0';
  if (size > kTextMaximum || (text == nullptr && size != 0)) return {&kNul, 1};
  return {text, size};
}

}  // namespace

// Each function: the thread, the texts, the staging. What goes wrong on the way is a refusal.
struct SinkCall::Functions {
  static SinkCall& of(const muster_call_v1* call) { return static_cast<SinkCall&>(Call::of(call)); }

  template <typename Body>
  static int32_t push(const muster_call_v1* call, Body&& body) {
    if (call == nullptr) return MUSTER_E_INVALID_ARGUMENT;
    SinkCall& sink = of(call);
    if (std::this_thread::get_id() != sink.thread_) {
      return sink.refuse(
          {"MP-15", "it pushed from another thread than the one that runs the call"});
    }
    try {
      return sink.answer(body(sink.staging_));
    } catch (const std::bad_alloc&) {  // no fault of the plugin
      sink.out_of_memory_ = true;
      return MUSTER_E_RESOURCE_EXHAUSTED;
    } catch (const std::exception& exception) {
      return sink.refuse({"MP-9", fmt::format("a push cannot be kept: {}", exception.what())});
    }
  }

  static int32_t is_cancelled(const muster_call_v1* call) {
    const SinkCall& sink = of(call);
    return sink.cancelled() || sink.now_ns() >= sink.deadline_ns() ? 1 : 0;
  }

  static void set_progress(const muster_call_v1* call, const char* text, uint64_t size) {
    std::string_view view;
    SinkCall& sink = of(call);
    if (!read_text(text, size, "a progress text", view))
      sink.Call::set_progress(printable(sink.session().secrets().redact(view)));
  }

  static int32_t add_job(const muster_call_v1* call, const char* job, uint64_t job_size) {
    return push(call, [&](Staging& staging) -> Checked {
      std::string_view name;
      if (Checked wrong = read_text(job, job_size, "the name of a job", name)) return wrong;
      return staging.add_job(name);
    });
  }

  static int32_t add_task(const muster_call_v1* call, const muster_task_v1* pushed) {
    return push(call, [&](Staging& staging) -> Checked {
      muster_task_v1 task;
      if (Checked wrong = read_struct(pushed, task, "muster_task_v1")) return wrong;
      if (staging.repeat_task(as_it_is(task.job, task.job_size), task.index,
                              as_it_is(task.name, task.name_size),
                              as_it_is(task.address, task.address_size), task.port))
        return {};
      std::string_view job, name, address;
      if (Checked wrong = read_text(task.job, task.job_size, "the job of a task", job))
        return wrong;
      if (Checked wrong = read_text(task.name, task.name_size, "the name of a task", name))
        return wrong;
      if (Checked wrong =
              read_text(task.address, task.address_size, "the address of a task", address))
        return wrong;
      return staging.add_task(job, task.index, name, address, task.port);
    });
  }

  static int32_t set_attribute(const muster_call_v1* call, const char* key, uint64_t key_size,
                               const char* value, uint64_t value_size) {
    return push(call, [&](Staging& staging) -> Checked {
      const SinkCall& sink = of(call);
      const Secrets& secrets = sink.session().secrets();
      std::string_view name = as_it_is(key, key_size), text = as_it_is(value, value_size);
      // What had no secret in it has none as long as no further one is known.
      if (sink.known_secrets_ == secrets.additions() && staging.repeat_attribute(name, text))
        return {};
      if (!staging.expects_key(name))
        if (Checked wrong = read_text(key, key_size, "the key of an attribute", name)) return wrong;
      if (Checked wrong = read_text(value, value_size, "the value of an attribute", text))
        return wrong;
      if (!secrets.may_be_in(text)) return staging.set_attribute(name, text);
      return staging.set_attribute(name, secrets.redact(text));
    });
  }

  static int32_t add_missing(const muster_call_v1* call, const muster_missing_v1* pushed) {
    return push(call, [&](Staging& staging) -> Checked {
      muster_missing_v1 missing;
      if (Checked wrong = read_struct(pushed, missing, "muster_missing_v1")) return wrong;
      std::string_view job, name, reason;
      if (Checked wrong =
              read_text(missing.job, missing.job_size, "the job of a missing task", job))
        return wrong;
      if (Checked wrong =
              read_text(missing.name, missing.name_size, "the name of a missing task", name))
        return wrong;
      if (Checked wrong = read_text(missing.reason, missing.reason_size,
                                    "the reason why a task is missing", reason))
        return wrong;
      return staging.add_missing(job, missing.index, name, reason);
    });
  }

  static int32_t set_expected(const muster_call_v1* call, const char* job, uint64_t job_size,
                              int64_t count) {
    return push(call, [&](Staging& staging) -> Checked {
      std::string_view name;
      if (Checked wrong = read_text(job, job_size, "the name of a job", name)) return wrong;
      return staging.set_expected(name, count);
    });
  }

  static int32_t set_identity(const muster_call_v1* call, const muster_identity_v1* pushed) {
    return push(call, [&](Staging& staging) -> Checked {
      muster_identity_v1 identity;
      if (Checked wrong = read_struct(pushed, identity, "muster_identity_v1")) return wrong;
      std::string_view job, name, evidence;
      if (Checked wrong = read_text(identity.job, identity.job_size, "the job of an identity", job))
        return wrong;
      if (Checked wrong =
              read_text(identity.name, identity.name_size, "the name of an identity", name))
        return wrong;
      if (Checked wrong = read_text(identity.evidence, identity.evidence_size,
                                    "the evidence of an identity", evidence))
        return wrong;
      return staging.set_identity(job, identity.index, name, evidence);
    });
  }

  static int32_t add_warning(const muster_call_v1* call, const char* text, uint64_t size) {
    return push(call, [&](Staging& staging) -> Checked {
      std::string_view view;
      if (Checked wrong = read_text(text, size, "a warning", view)) return wrong;
      return staging.add_warning(view);
    });
  }

  static void mark_secret(const muster_call_v1* call, const char* text, uint64_t size) {
    if (text == nullptr) return;
    // Any bytes may be a secret; a long one is not refused, for then it would not be hidden.
    const std::string_view view(text, size == MUSTER_NUL_TERMINATED ? std::strlen(text) : size);
    of(call).session().secrets().add(view);
  }

  static int32_t commit(const muster_call_v1* call) {
    int32_t code = MUSTER_OK;
    const int32_t pushed = push(call, [&](Staging&) -> Checked {
      code = of(call).commit();
      return {};
    });
    return pushed != MUSTER_OK ? pushed : code;
  }

  // A push that belongs to permissions alone.
  template <typename Body>
  static int32_t push_need(const muster_call_v1* call, Body&& body) {
    if (call != nullptr && !of(call).needs_) return MUSTER_E_FAILED_PRECONDITION;
    return push(call, [&](Staging&) { return body(of(call)); });
  }

  static int32_t add_permission(const muster_call_v1* call, const muster_permission_v1* pushed) {
    return push_need(call, [&](SinkCall& sink) -> Checked {
      muster_permission_v1 theirs;
      if (Checked wrong = read_struct(pushed, theirs, "muster_permission_v1")) return wrong;
      std::string_view kind, principal, scope, rule;
      if (Checked wrong = read_text(theirs.principal_kind, theirs.principal_kind_size,
                                    "the kind of a permission's principal", kind))
        return wrong;
      if (Checked wrong = read_text(theirs.principal, theirs.principal_size,
                                    "the principal of a permission", principal))
        return wrong;
      if (Checked wrong =
              read_text(theirs.scope, theirs.scope_size, "the scope of a permission", scope))
        return wrong;
      if (Checked wrong =
              read_text(theirs.rule, theirs.rule_size, "the rule of a permission", rule))
        return wrong;
      return sink.add_permission(
          {std::string(kind), std::string(principal), std::string(scope), std::string(rule)});
    });
  }

  static int32_t set_grant(const muster_call_v1* call, const char* command, uint64_t command_size,
                           const char* text, uint64_t text_size) {
    return push_need(call, [&](SinkCall& sink) -> Checked {
      std::string_view name, grant;
      if (Checked wrong = read_text(command, command_size, "the command of a grant", name))
        return wrong;
      if (Checked wrong = read_text(text, text_size, "the text of a grant", grant)) return wrong;
      return sink.set_grant(name, grant);
    });
  }

  static int32_t add_planned(const muster_call_v1* call, const muster_planned_v1* pushed) {
    if (call != nullptr && !of(call).plan_) return MUSTER_E_FAILED_PRECONDITION;
    return push(call, [&](Staging&) -> Checked {
      muster_planned_v1 theirs;
      if (Checked wrong = read_struct(pushed, theirs, "muster_planned_v1")) return wrong;
      std::string_view api, request, reason, quota;
      if (Checked wrong = read_text(theirs.api, theirs.api_size, "the API of a plan", api))
        return wrong;
      if (Checked wrong =
              read_text(theirs.request, theirs.request_size, "the request of a plan", request))
        return wrong;
      if (Checked wrong =
              read_text(theirs.reason, theirs.reason_size, "the reason in a plan", reason))
        return wrong;
      if (Checked wrong = read_text(theirs.quota, theirs.quota_size, "the quota of a plan", quota))
        return wrong;
      return of(call).add_planned({std::string(api), std::string(request), std::string(reason),
                                   theirs.least, theirs.most, std::string(quota),
                                   theirs.quota_per_minute});
    });
  }
};

SinkCall::SinkCall(std::shared_ptr<Session> session, std::string path, std::string backend,
                   int64_t deadline_ns, CancelToken cancel)
    : Call(std::move(session), std::move(path), std::move(backend), deadline_ns,
           std::move(cancel)) {
  table_.struct_size = sizeof table_;
  table_.ctx = static_cast<Call*>(this);
  table_.deadline_ns = deadline_ns;
  table_.is_cancelled = Functions::is_cancelled;
  table_.set_progress = Functions::set_progress;
  table_.add_job = Functions::add_job;
  table_.add_task = Functions::add_task;
  table_.set_attribute = Functions::set_attribute;
  table_.add_missing = Functions::add_missing;
  table_.set_expected = Functions::set_expected;
  table_.set_identity = Functions::set_identity;
  table_.add_warning = Functions::add_warning;
  table_.mark_secret = Functions::mark_secret;
  table_.commit = Functions::commit;
  table_.add_permission = Functions::add_permission;
  table_.set_grant = Functions::set_grant;
  table_.add_planned = Functions::add_planned;
  if (this->session().mode() == Session::Mode::kLive) table_.flags = MUSTER_CALL_LIVE;
}

Checked SinkCall::add_permission(Permission permission) {
  if (permission.scope.empty() || permission.rule.empty())
    return Refusal{"MP-24", "a permission has an empty scope or rule"};
  if (needs_->permissions.size() == kPermissionsMaximum)
    return Refusal{"MP-9", fmt::format("more than {} permissions", kPermissionsMaximum)};
  needs_->permissions.push_back(std::move(permission));
  return {};
}

Checked SinkCall::set_grant(std::string_view command, std::string_view text) {
  if (command.empty() || text.empty())
    return Refusal{"MP-24", "a grant has an empty command or text"};
  needs_->command = session().secrets().redact(command);
  needs_->text = session().secrets().redact(text);
  return {};
}

Checked SinkCall::add_planned(PlannedRequests planned) {
  if (planned.api.empty() || planned.request.empty())
    return Refusal{"MP-25", "a planned request has an empty API or name"};
  if (planned.least < 0 || planned.most < 1 || planned.least > planned.most)
    return Refusal{"MP-25", fmt::format("{} to {} planned requests '{}' are no count",
                                        planned.least, planned.most, planned.request)};
  if (planned.quota_per_minute < 0 || planned.quota.empty() != (planned.quota_per_minute == 0))
    return Refusal{"MP-25", fmt::format("the quota {} of a plan allows {} a minute",
                                        quote(planned.quota), planned.quota_per_minute)};
  if (plan_->size() == kPlannedMaximum)
    return Refusal{"MP-9", fmt::format("more than {} kinds of planned requests", kPlannedMaximum)};
  planned.reason = session().secrets().redact(planned.reason);
  plan_->push_back(std::move(planned));
  return {};
}

int32_t SinkCall::refuse(Refusal refusal) {
  const bool too_many = std::string_view(refusal.duty) == "MP-9";
  const std::lock_guard lock(refusal_mutex_);
  if (!refusal_) refusal_ = std::move(refusal);
  return too_many ? MUSTER_E_RESOURCE_EXHAUSTED : MUSTER_E_INVALID_ARGUMENT;
}

Error SinkCall::misbehaved(const char* duty, std::string_view what) const {
  return Error{Code::kInternal,
               session().secrets().redact(fmt::format("plugin '{}' ({}) misbehaved: {} ({})",
                                                      backend(), path(), what, duty)),
               {{"plugin", backend()},
                {"path", path()},
                {"duty", duty},
                {"hint",
                 "this is a fault of the plugin, not of the configuration: tell its author, with "
                 "the duty's number"}}};
}

Error SinkCall::thrown(const std::string& words) const {
  return misbehaved("MP-13", fmt::format("{} failed: {}", function(), words));
}

// MP-17. Attributes of tasks were looked at as they came.
void SinkCall::redact(BackendAnswer& answer) const {
  const Secrets& secrets = session().secrets();
  if (secrets.empty()) return;
  const auto mend = [&secrets](std::string& text) { text = secrets.redact(text); };
  for (std::string& warning : answer.warnings) mend(warning);
  for (std::string& evidence : answer.identity.evidence) mend(evidence);
  for (auto& [key, value] : answer.attributes) mend(value);
  for (JobStatus& job : answer.jobs) {
    for (MissingTask& missing : job.missing) mend(missing.reason);
  }
}

int32_t SinkCall::commit() {
  if (committed_ == nullptr) return MUSTER_E_FAILED_PRECONDITION;
  {
    const std::lock_guard lock(refusal_mutex_);
    if (refusal_) return MUSTER_E_INVALID_ARGUMENT;
  }
  if (out_of_memory_) return MUSTER_E_RESOURCE_EXHAUSTED;
  Result<BackendAnswer> answer = take();
  if (!answer) {
    refused_commit_ = std::move(answer).error();
    return static_cast<int32_t>(refused_commit_->code);
  }
  committed_(std::move(*answer));
  return MUSTER_OK;
}

Result<BackendAnswer> SinkCall::finish(int32_t code, Error error) {
  {
    const std::lock_guard lock(refusal_mutex_);
    if (refusal_) return misbehaved(refusal_->duty, refusal_->what);
  }
  if (refused_commit_) return *refused_commit_;
  if (out_of_memory_)
    return no_memory(fmt::format("out of memory for what plugin '{}' ({}) told", backend(), path()))
        .with("plugin", backend())
        .with("path", path());
  const Secrets& secrets = session().secrets();
  error.message = secrets.redact(error.message);
  for (Detail& detail : error.details) detail.value = secrets.redact(detail.value);

  if (code != MUSTER_OK) {
    if (code < MUSTER_OK || code > MUSTER_E_UNAUTHENTICATED) {
      return misbehaved("MP-11", fmt::format("{} returned {}, which is no code{}", function(), code,
                                             error.message.empty() ? "" : ": " + error.message));
    }
    error.code = static_cast<Code>(code);
    if (error.message.empty() && committed_ != nullptr && code == MUSTER_E_UNIMPLEMENTED) {
      error.message = fmt::format("plugin '{}' has nothing to watch here", backend());
    } else if (error.message.empty()) {
      error.message = fmt::format("plugin '{}' failed with {} and did not say why (MP-11)",
                                  backend(), code_name(error.code));
      error.details.push_back({"duty", "MP-11"});
    }
    return std::move(error).with("plugin", backend()).with("path", path());
  }
  if (!error.message.empty() || !error.details.empty()) {
    return misbehaved(
        "MP-10",
        fmt::format("{} returned OK after it had set an error: {}: {}; where a failure does "
                    "not matter, pass NULL "
                    "as its error, or take it back with set_error(error, MUSTER_OK, \"\", 0)",
                    function(), code_name(error.code), error.message));
  }
  if (committed_ != nullptr)
    return misbehaved("MP-23", "watch returned OK; it goes on until it is cancelled or fails");
  if (needs_ && !needs_->permissions.empty() && needs_->text.empty())
    return misbehaved("MP-24", "permissions returned OK with permissions and no grant of them");
  return take();
}

Result<BackendAnswer> SinkCall::take() {
  const Secrets& secrets = session().secrets();
  known_secrets_ = std::exchange(begun_secrets_, secrets.additions());
  Result<BackendAnswer> answer = staging_.finish();
  if (!answer) {
    Error wrong = std::move(answer).error();
    if (wrong.code == Code::kInternal && !wrong.detail("duty").empty()) {
      const std::string duty = wrong.detail("duty");
      return misbehaved(duty.c_str(), wrong.message);
    }
    wrong.message = secrets.redact(wrong.message);
    return std::move(wrong).with("plugin", backend()).with("path", path());
  }
  redact(*answer);
  return answer;
}

}  // namespace muster
