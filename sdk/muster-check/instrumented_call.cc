#include "sdk/muster-check/instrumented_call.h"

#include <fmt/format.h>

#include <cstring>

#include "core/service/text.h"

namespace muster::check {
namespace {

// sizeof(muster_call_v1) of plugin ABI 1.0, whatever it is today.
constexpr size_t kCallSize_1_0 = 152;
static_assert(sizeof(muster_call_v1) >= kCallSize_1_0);
// No struct that a plugin passes in will ever be larger.
constexpr uint64_t kLargestStruct = 4096;

std::string_view shown(const char* text, uint64_t size) {
  return text == nullptr ? std::string_view() : view_of(text, size);
}

}  // namespace

struct InstrumentedCall::Functions {
  static InstrumentedCall& of(const muster_call_v1* call) {
    return static_cast<InstrumentedCall&>(static_cast<SinkCall&>(Call::of(call)));
  }

  // Whether this push is refused, or comes after one that was.
  static bool refuses(InstrumentedCall& self) {
    ++self.pushes_;
    if (self.refused_push_ == 0 || self.pushes_ < self.refused_push_) return false;
    if (self.pushes_ > self.refused_push_) ++self.pushes_after_;
    return true;
  }
  static void say(const char* where, const char* text, uint64_t size) {
    World::here().said().add(where, shown(text, size));
  }
  // Every struct of 1.0 is all pointers and 8-byte numbers, and a plugin knows at least those fields.
  template <typename Struct>
  static void check_size(InstrumentedCall& self, const Struct* given, size_t least,
                         const char* name) {
    if (given == nullptr) return;
    uint64_t size = 0;
    std::memcpy(&size, given, sizeof size);
    if (size >= least && size <= kLargestStruct && size % 8 == 0) return;
    if (self.wrong_size_.empty())
      self.wrong_size_ =
          fmt::format("the struct_size of a {} is {}; it must be sizeof({}), which is {} or more",
                      name, size, name, least);
  }

  static int32_t add_job(const muster_call_v1* call, const char* job, uint64_t size) {
    InstrumentedCall& self = of(call);
    return refuses(self) ? kRefusal : self.table()->add_job(self.table(), job, size);
  }
  static int32_t add_task(const muster_call_v1* call, const muster_task_v1* task) {
    InstrumentedCall& self = of(call);
    check_size(self, task, 72, "muster_task_v1");
    if (task != nullptr) {
      say("a task's name", task->name, task->name_size);
      say("a task's address", task->address, task->address_size);
    }
    return refuses(self) ? kRefusal : self.table()->add_task(self.table(), task);
  }
  static int32_t set_attribute(const muster_call_v1* call, const char* key, uint64_t key_size,
                               const char* value, uint64_t value_size) {
    InstrumentedCall& self = of(call);
    say("an attribute", value, value_size);
    return refuses(self)
               ? kRefusal
               : self.table()->set_attribute(self.table(), key, key_size, value, value_size);
  }
  static int32_t add_missing(const muster_call_v1* call, const muster_missing_v1* missing) {
    InstrumentedCall& self = of(call);
    check_size(self, missing, 64, "muster_missing_v1");
    if (missing != nullptr)
      say("the reason of a missing task", missing->reason, missing->reason_size);
    return refuses(self) ? kRefusal : self.table()->add_missing(self.table(), missing);
  }
  static int32_t set_expected(const muster_call_v1* call, const char* job, uint64_t size,
                              int64_t count) {
    InstrumentedCall& self = of(call);
    return refuses(self) ? kRefusal : self.table()->set_expected(self.table(), job, size, count);
  }
  static int32_t set_identity(const muster_call_v1* call, const muster_identity_v1* identity) {
    InstrumentedCall& self = of(call);
    check_size(self, identity, 64, "muster_identity_v1");
    if (identity != nullptr)
      say("the evidence of an identity", identity->evidence, identity->evidence_size);
    return refuses(self) ? kRefusal : self.table()->set_identity(self.table(), identity);
  }
  static int32_t add_warning(const muster_call_v1* call, const char* text, uint64_t size) {
    InstrumentedCall& self = of(call);
    say("a warning", text, size);
    return refuses(self) ? kRefusal : self.table()->add_warning(self.table(), text, size);
  }
  static int32_t commit(const muster_call_v1* call) {
    InstrumentedCall& self = of(call);
    return refuses(self) ? kRefusal : self.table()->commit(self.table());
  }
  static int32_t add_permission(const muster_call_v1* call,
                                const muster_permission_v1* permission) {
    InstrumentedCall& self = of(call);
    check_size(self, permission, 72, "muster_permission_v1");
    return refuses(self) ? kRefusal : self.table()->add_permission(self.table(), permission);
  }
  static int32_t set_grant(const muster_call_v1* call, const char* command, uint64_t command_size,
                           const char* text, uint64_t text_size) {
    InstrumentedCall& self = of(call);
    say("a grant", text, text_size);
    return refuses(self)
               ? kRefusal
               : self.table()->set_grant(self.table(), command, command_size, text, text_size);
  }
  static int32_t add_planned(const muster_call_v1* call, const muster_planned_v1* planned) {
    InstrumentedCall& self = of(call);
    check_size(self, planned, 96, "muster_planned_v1");
    return refuses(self) ? kRefusal : self.table()->add_planned(self.table(), planned);
  }
  static void set_progress(const muster_call_v1* call, const char* text, uint64_t size) {
    InstrumentedCall& self = of(call);
    say("its progress", text, size);
    self.table()->set_progress(self.table(), text, size);
  }
};

InstrumentedCall::InstrumentedCall(World& world, const std::string& backend,
                                   const std::string& path, int64_t deadline_ns,
                                   const CancelToken& cancel, const Core& core)
    : SinkCall(world.session(), path, backend, deadline_ns, cancel) {
  set_http(world.http());
  muster_call_v1 own = *table();
  const size_t known = core.of_minor_0 ? kCallSize_1_0 : sizeof own;
  own.struct_size = known + core.later;
  own.set_progress = Functions::set_progress;
  own.add_job = Functions::add_job;
  own.add_task = Functions::add_task;
  own.set_attribute = Functions::set_attribute;
  own.add_missing = Functions::add_missing;
  own.set_expected = Functions::set_expected;
  own.set_identity = Functions::set_identity;
  own.add_warning = Functions::add_warning;
  own.commit = Functions::commit;
  own.add_permission = Functions::add_permission;
  own.set_grant = Functions::set_grant;
  own.add_planned = Functions::add_planned;
  guarded_ = std::make_unique<Guarded>(&own, known, core.later);
}

}  // namespace muster::check
