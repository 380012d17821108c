// The call table that a plugin is given: the core's own sink, watched, read-only, and refusing when a test wants that.
#pragma once

#include <muster/plugin.h>

#include <memory>
#include <string>

#include "core/plugin/sink.h"
#include "sdk/muster-check/guarded.h"
#include "sdk/muster-check/world.h"

namespace muster::check {

// The code with which a test refuses a push: one that no backend has a reason to return by itself.
inline constexpr int32_t kRefusal = MUSTER_E_OUT_OF_RANGE;

class InstrumentedCall : public SinkCall {
 public:
  InstrumentedCall(World& world, const std::string& backend, const std::string& path,
                   int64_t deadline_ns, const CancelToken& cancel, const Core& core);

  const muster_call_v1* instrumented() const {
    return static_cast<const muster_call_v1*>(guarded_->data());
  }

  // Refuses this push, counted from 1; 0: none.
  void refuse(int push) { refused_push_ = push; }
  int pushes() const { return pushes_; }
  bool has_refused() const { return refused_push_ > 0 && pushes_ >= refused_push_; }
  // Those that came after the refused one.
  int pushes_after() const { return pushes_after_; }
  // What was wrong with how the plugin called, in words; "" when nothing was.
  const std::string& wrong_size() const { return wrong_size_; }

 private:
  struct Functions;
  int refused_push_ = 0;
  int pushes_ = 0;
  int pushes_after_ = 0;
  std::string wrong_size_;
  std::unique_ptr<Guarded> guarded_;
};

}  // namespace muster::check
