// The pushes of a call, checked as far as pointers go and sent as frames. What they say is judged by the core's own sink.
#include <cstring>
#include <string_view>

#include "core/cancel.h"
#include "core/isolate/child/remote_host.h"
#include "core/plugin/crossing.h"
#include "core/service/text.h"

namespace muster::isolate {
namespace {

using frames::v1::Frame;

// Gathers what is pushed, once `read` has read it.
template <typename Read, typename Gather>
int32_t push(const muster_call_v1* call, Read&& read, Gather&& gather) {
  if (call == nullptr) return MUSTER_E_INVALID_ARGUMENT;
  RemoteHost& remote = RemoteHost::the();
  if (const int32_t refused = remote.link().refused(); refused != MUSTER_OK) return refused;
  if (!remote.on_call_thread())
    return remote.misbehaved("MP-15",
                             "it pushed from another thread than the one that runs the call");
  if (const Checked wrong = read()) return remote.misbehaved(wrong->duty, wrong->what);
  gather(remote.link());
  return MUSTER_OK;
}

template <typename Read>
int32_t push_frame(const muster_call_v1* call, const Frame& frame, Read&& read) {
  return push(call, read, [&](Link& link) { link.gather(frame); });
}

// Leaves pointer and size as they are to be sent.
Checked read_text_of(const char*& text, uint64_t& size, const char* what) {
  std::string_view view;
  Checked wrong = read_text(text, size, what, view);
  text = view.data();
  size = view.size();
  return wrong;
}

Checked read_into(const char* text, uint64_t size, const char* what, std::string* out) {
  std::string_view view;
  Checked wrong = read_text(text, size, what, view);
  out->assign(view);
  return wrong;
}

int32_t is_cancelled(const muster_call_v1* call) {
  return RemoteHost::the().link().cancelled() || monotonic_ns() >= call->deadline_ns ? 1 : 0;
}

void set_progress(const muster_call_v1*, const char* text, uint64_t size) {
  Frame frame;
  frame.mutable_set_progress()->set_text(clean_text(view_of(text, size).substr(0, 4096), false));
  RemoteHost::the().link().send(frame);
}

int32_t add_job(const muster_call_v1* call, const char* job, uint64_t job_size) {
  Frame frame;
  return push_frame(call, frame, [&] {
    return read_into(job, job_size, "the name of a job", frame.mutable_add_job()->mutable_job());
  });
}

int32_t add_task(const muster_call_v1* call, const muster_task_v1* pushed) {
  muster_task_v1 task;
  const auto read = [&]() -> Checked {
    if (Checked wrong = read_struct(pushed, task, "muster_task_v1")) return wrong;
    if (Checked wrong = read_text_of(task.job, task.job_size, "the job of a task")) return wrong;
    if (Checked wrong = read_text_of(task.name, task.name_size, "the name of a task")) return wrong;
    return read_text_of(task.address, task.address_size, "the address of a task");
  };
  return push(call, read, [&](Link& link) { link.gather(task); });
}

int32_t set_attribute(const muster_call_v1* call, const char* key, uint64_t key_size,
                      const char* value, uint64_t value_size) {
  std::string_view name, text;
  const auto read = [&]() -> Checked {
    if (Checked wrong = read_text(key, key_size, "the key of an attribute", name)) return wrong;
    return read_text(value, value_size, "the value of an attribute", text);
  };
  return push(call, read, [&](Link& link) { link.gather_attribute(name, text); });
}

int32_t add_missing(const muster_call_v1* call, const muster_missing_v1* pushed) {
  static thread_local Frame frame;
  return push_frame(call, frame, [&]() -> Checked {
    muster_missing_v1 missing;
    if (Checked wrong = read_struct(pushed, missing, "muster_missing_v1")) return wrong;
    frames::v1::AddMissing& out = *frame.mutable_add_missing();
    out.set_index(missing.index);
    if (Checked wrong = read_into(missing.job, missing.job_size, "the job of a missing task",
                                  out.mutable_job()))
      return wrong;
    if (Checked wrong = read_into(missing.name, missing.name_size, "the name of a missing task",
                                  out.mutable_name()))
      return wrong;
    return read_into(missing.reason, missing.reason_size, "the reason why a task is missing",
                     out.mutable_reason());
  });
}

int32_t set_expected(const muster_call_v1* call, const char* job, uint64_t job_size,
                     int64_t count) {
  Frame frame;
  return push_frame(call, frame, [&] {
    frame.mutable_set_expected()->set_count(count);
    return read_into(job, job_size, "the name of a job",
                     frame.mutable_set_expected()->mutable_job());
  });
}

int32_t set_identity(const muster_call_v1* call, const muster_identity_v1* pushed) {
  Frame frame;
  return push_frame(call, frame, [&]() -> Checked {
    muster_identity_v1 identity;
    if (Checked wrong = read_struct(pushed, identity, "muster_identity_v1")) return wrong;
    frames::v1::SetIdentity& out = *frame.mutable_set_identity();
    out.set_index(identity.index);
    if (Checked wrong =
            read_into(identity.job, identity.job_size, "the job of an identity", out.mutable_job()))
      return wrong;
    if (Checked wrong = read_into(identity.name, identity.name_size, "the name of an identity",
                                  out.mutable_name()))
      return wrong;
    return read_into(identity.evidence, identity.evidence_size, "the evidence of an identity",
                     out.mutable_evidence());
  });
}

int32_t add_warning(const muster_call_v1* call, const char* text, uint64_t size) {
  Frame frame;
  return push_frame(call, frame, [&] {
    return read_into(text, size, "a warning", frame.mutable_add_warning()->mutable_text());
  });
}

void mark_secret(const muster_call_v1*, const char* text, uint64_t size) {
  if (text == nullptr) return;
  Frame frame;
  frame.mutable_mark_secret()->set_text(
      text, size == MUSTER_NUL_TERMINATED ? std::strlen(text) : static_cast<size_t>(size));
  RemoteHost::the().link().gather(frame);
}

int32_t commit(const muster_call_v1* call) {
  if (call == nullptr) return MUSTER_E_INVALID_ARGUMENT;
  RemoteHost& remote = RemoteHost::the();
  if (remote.function() != frames::v1::WATCH) return MUSTER_E_FAILED_PRECONDITION;
  if (!remote.on_call_thread())
    return remote.misbehaved("MP-15",
                             "it pushed from another thread than the one that runs the call");
  Frame frame;
  frame.mutable_commit();
  return remote.link().ask(frame).code();
}

int32_t add_permission(const muster_call_v1* call, const muster_permission_v1* pushed) {
  if (RemoteHost::the().function() != frames::v1::PERMISSIONS) return MUSTER_E_FAILED_PRECONDITION;
  Frame frame;
  return push_frame(call, frame, [&]() -> Checked {
    muster_permission_v1 theirs;
    if (Checked wrong = read_struct(pushed, theirs, "muster_permission_v1")) return wrong;
    frames::v1::AddPermission& out = *frame.mutable_add_permission();
    if (Checked wrong =
            read_into(theirs.principal_kind, theirs.principal_kind_size,
                      "the kind of a permission's principal", out.mutable_principal_kind()))
      return wrong;
    if (Checked wrong = read_into(theirs.principal, theirs.principal_size,
                                  "the principal of a permission", out.mutable_principal()))
      return wrong;
    if (Checked wrong = read_into(theirs.scope, theirs.scope_size, "the scope of a permission",
                                  out.mutable_scope()))
      return wrong;
    return read_into(theirs.rule, theirs.rule_size, "the rule of a permission", out.mutable_rule());
  });
}

int32_t set_grant(const muster_call_v1* call, const char* command, uint64_t command_size,
                  const char* text, uint64_t text_size) {
  if (RemoteHost::the().function() != frames::v1::PERMISSIONS) return MUSTER_E_FAILED_PRECONDITION;
  Frame frame;
  return push_frame(call, frame, [&]() -> Checked {
    frames::v1::SetGrant& out = *frame.mutable_set_grant();
    if (Checked wrong =
            read_into(command, command_size, "the command of a grant", out.mutable_command()))
      return wrong;
    return read_into(text, text_size, "the text of a grant", out.mutable_text());
  });
}

int32_t add_planned(const muster_call_v1* call, const muster_planned_v1* pushed) {
  if (RemoteHost::the().function() != frames::v1::PLAN) return MUSTER_E_FAILED_PRECONDITION;
  Frame frame;
  return push_frame(call, frame, [&]() -> Checked {
    muster_planned_v1 theirs;
    if (Checked wrong = read_struct(pushed, theirs, "muster_planned_v1")) return wrong;
    frames::v1::AddPlanned& out = *frame.mutable_add_planned();
    out.set_least(theirs.least);
    out.set_most(theirs.most);
    out.set_quota_per_minute(theirs.quota_per_minute);
    if (Checked wrong =
            read_into(theirs.api, theirs.api_size, "the API of a plan", out.mutable_api()))
      return wrong;
    if (Checked wrong = read_into(theirs.request, theirs.request_size, "the request of a plan",
                                  out.mutable_request()))
      return wrong;
    if (Checked wrong = read_into(theirs.reason, theirs.reason_size, "the reason in a plan",
                                  out.mutable_reason()))
      return wrong;
    return read_into(theirs.quota, theirs.quota_size, "the quota of a plan", out.mutable_quota());
  });
}

}  // namespace

muster_call_v1 remote_call_table() {
  muster_call_v1 table = {};
  table.struct_size = sizeof table;
  table.is_cancelled = is_cancelled;
  table.set_progress = set_progress;
  table.add_job = add_job;
  table.add_task = add_task;
  table.set_attribute = set_attribute;
  table.add_missing = add_missing;
  table.set_expected = set_expected;
  table.set_identity = set_identity;
  table.add_warning = add_warning;
  table.mark_secret = mark_secret;
  table.commit = commit;
  table.add_permission = add_permission;
  table.set_grant = set_grant;
  table.add_planned = add_planned;
  return table;
}

}  // namespace muster::isolate
