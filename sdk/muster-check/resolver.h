// One configured resolver of the plugin under test, and the calls of it.
#pragma once

#include <muster/plugin.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/plugin/backend.h"
#include "sdk/muster-check/instrumented_call.h"
#include "sdk/muster-check/subject.h"

namespace muster::check {

inline constexpr int64_t kMillisecond = 1'000'000;
inline constexpr int64_t kSecond = 1'000'000'000;
inline constexpr int64_t kGrace_ns = 500 * kMillisecond;  // MP-12

// A function of the plugin that gets a call: resolve, or that of an extension.
enum class Function { kResolve, kWatch, kPermissions, kPlan };
const char* name_of(Function function);

// How one call is made.
struct Ask {
  Function function = Function::kResolve;
  int64_t time_ns = 10 * kSecond;                   // to its deadline; may be negative
  int refused_push = 0;                             // 0: none
  std::optional<int64_t> cancel_ns = std::nullopt;  // after this long it is cancelled
  bool may_be_late = false;                         // the caller judges `late_ns` itself
  bool for_watch = false;                           // of permissions
  int64_t members = 1;                              // of plan
};

// What came of a call.
struct Outcome {
  int32_t code = MUSTER_OK;  // as returned
  std::optional<Result<BackendAnswer>>
      answer;        // as the core takes it; of create nothing when it was good
  Needs needs;       // of permissions, when it was good
  RequestPlan plan;  // of plan, likewise
  int pushes = 0;
  int pushes_after = 0;  // after the refused one
  int commits = 0;
  int64_t late_ns = 0;    // after its deadline, or after it was cancelled
  bool ended = false;     // by the core, which did not wait any longer for its process
  int64_t waited_ns = 0;  // of create: that it neither ran nor was runnable
  bool good() const { return code == MUSTER_OK && (!answer || answer->ok()); }
  const Error& error() const { return answer->error(); }
};

class Resolver {
 public:
  Resolver(Trial& trial, World& world, const Subject& subject, const ResolverConfig& config);
  ~Resolver() { destroy(); }
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // Each tells the report what broke a duty whatever the test is about: a crash, a wrong push, a leaked secret, a failure without
  // words. One that does not come back ends the test.
  Outcome create();
  Outcome ask(const Ask& ask = {});
  void destroy();
  bool made() const { return resolver_ != nullptr; }
  // Whether it has this function.
  bool has(Function function) const;

 private:
  // Through the frames an error comes whole, and not by the host's functions, which are watched.
  void take_error(const Error& error);
  void check_outcome(const char* function, const Outcome& outcome, const InstrumentedCall* call);
  // Calls the function of the plugin; its code.
  int32_t run(const Ask& ask, const muster_call_v1* call, muster_error* error) const;

  Trial& trial_;
  World& world_;
  const Subject& subject_;
  const ResolverConfig& config_;
  InstrumentedHost host_;
  muster_resolver* resolver_ = nullptr;
};

// Runs `body` on a thread of its own and waits for it. When it has not ended by then, the plugin broke `duty`, and the test is over.
void run_within(Trial& trial, const char* duty, const std::string& what, int64_t time_ns,
                const std::function<void()>& body);

// Creates; where that fails, the test cannot go on and says so.
bool make_or_skip(Trial& trial, Resolver& resolver);

// Creates, asks once and destroys, if all of that goes well; what the resolve answered.
std::optional<Outcome> ask_once(Trial& trial, World& world, const Subject& subject,
                                const ResolverConfig& config, const Ask& ask = {});

// An answer in a line: its digest, and who is missing. Two that are equal say the same.
std::string summary_of(const BackendAnswer& answer);
// Whether it tells somebody missing, or fewer found than expected.
bool is_incomplete(const BackendAnswer& answer);
// "UNAVAILABLE: message".
std::string told(const Error& error);

}  // namespace muster::check
