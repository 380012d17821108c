// Backend: one configured use of a loaded plugin, called safely.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/cancel.h"
#include "core/config/config.h"
#include "core/plugin/finder.h"
#include "core/plugin/needs.h"
#include "core/plugin/plan.h"
#include "core/result.h"
#include "core/service/host.h"
#include "core/service/session.h"
#include "core/spec/snapshot.h"

namespace muster {

// A plugin in memory: its table copied into ours, checked, the optional functions filled in. Never unloaded.
class PluginLibrary;

// Loads a plugin that was found into this process; the same file is loaded once. kInvalidArgument with a `duty` detail: the plugin is wrong.
// Whether it may be loaded here is core/isolate's to say.
Result<std::shared_ptr<const PluginLibrary>> load_plugin(const FoundPlugin& found, const Log& log);

// What one plugin said in one call, checked; unranked tasks have their indices by natural order of name.
struct BackendAnswer {
  ClusterSpec spec;
  std::vector<JobStatus> jobs;  // expected and missing as the plugin said
  Identity identity;            // resolved to an index; unknown when nothing was said
  Attributes attributes;        // of the cluster
  std::vector<std::string> warnings;
};

// The outcome of one call, good or not.
struct BackendOutcome {
  Result<BackendAnswer> answer;
  std::vector<RequestRecord> requests;
};

// [thread-safe]: calls of one backend take turns, waiting at most until their deadline.
class Backend {
 public:
  // Calls create. The error names the plugin, its path in the config, and, by an `option` detail, the place.
  static Result<std::shared_ptr<Backend>> create(std::shared_ptr<const PluginLibrary> library,
                                                 const ResolverConfig& config,
                                                 std::shared_ptr<const Log> log,
                                                 std::shared_ptr<Secrets> secrets,
                                                 std::shared_ptr<HttpLibrary> http,
                                                 std::string where = "");
  virtual ~Backend() = default;

  // Where it runs and why, in words for `muster explain`, as create was told.
  virtual std::string where() const { return ""; }

  // Asks the plugin, on a thread of its own. Returns by the deadline or cancel plus 500 ms of grace at the latest, whatever the plugin
  // does: a plugin that does not return is marked stuck (MP-12), its late answer dropped, and asking it again fails at once until it
  // has returned. A wrong push, an exception, OK after a refusal: kInternal with `plugin` and `duty` details. Nothing told here, good or
  // not, has a secret in it that the session knows by then (MP-17).
  virtual BackendOutcome resolve(std::shared_ptr<Session> session, int64_t deadline_ns,
                                 const CancelToken& cancel) = 0;

  // Whether the plugin can keep an answer up to date by itself (muster.watch/1).
  virtual bool can_watch() const { return false; }
  // Gives `committed` each snapshot that the plugin commits, on a thread of the backend's, with the requests made since the one
  // before. `interval_ns`: between two questions, of a plugin that polls. Returns when cancelled or when the plugin gives up, with the same promises as resolve; the answer is never good.
  // kUnimplemented: this resolver cannot be watched. Needs can_watch().
  // NOLINTBEGIN(performance-unnecessary-value-param): whoever overrides it keeps them
  virtual BackendOutcome watch(std::shared_ptr<Session> /*session*/, int64_t /*interval_ns*/,
                               const CancelToken& /*cancel*/,
                               std::function<void(BackendOutcome)> /*committed*/) {
    return {Error{Code::kUnimplemented, "this backend cannot be watched", {}}, {}};
  }
  // NOLINTEND(performance-unnecessary-value-param)

  // Whether the plugin can say what it needs to be allowed to do (muster.permissions/1).
  virtual bool can_say_needs() const { return false; }
  // What that is, with the same promises as resolve. Needs can_say_needs().
  // NOLINTBEGIN(performance-unnecessary-value-param): as above
  virtual Result<Needs> needs(std::shared_ptr<Session> /*session*/, int64_t /*deadline_ns*/,
                              const CancelToken& /*cancel*/, NeedsRequest /*request*/) {
    return Error{Code::kUnimplemented, "this backend does not say what it needs", {}};
  }
  // NOLINTEND(performance-unnecessary-value-param)

  // Whether the plugin can say how many requests it makes (muster.plan/1).
  virtual bool can_plan() const { return false; }
  // How many those of a first resolve are when it finds so many members, with the same promises as resolve. Needs can_plan().
  // NOLINTBEGIN(performance-unnecessary-value-param): as above
  virtual Result<RequestPlan> plan(std::shared_ptr<Session> /*session*/, int64_t /*deadline_ns*/,
                                   const CancelToken& /*cancel*/, int64_t /*members*/) {
    return Error{Code::kUnimplemented, "this backend does not say how many requests it makes", {}};
  }
  // NOLINTEND(performance-unnecessary-value-param)

  // What the running call waits for; "" when none runs or it did not say.
  virtual std::string progress() const = 0;
};

}  // namespace muster
