// Cluster: a config at work: the tree of resolvers, asked side by side under one deadline, as one snapshot.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/cancel.h"
#include "core/config/config.h"
#include "core/plugin/backend.h"
#include "core/result.h"
#include "core/spec/snapshot.h"

namespace muster {

// A failed resolve: the error, and what each source did.
struct ResolveFailure {
  Error error;
  std::vector<SourceRecord> sources;
};

// What one resolver needs to be allowed to do, or why it cannot find that out; neither: its backend does not say.
struct ResolverNeeds {
  std::string path;
  std::string backend;
  std::optional<Needs> needs = std::nullopt;
  std::optional<Error> error = std::nullopt;
};

// How many requests one resolver makes, or why it cannot find that out; neither: its backend does not say.
struct ResolverPlan {
  std::string path;
  std::string backend;
  std::optional<RequestPlan> plan = std::nullopt;
  std::optional<Error> error = std::nullopt;
};

// Makes a backend of a leaf: core/host gives one that finds and loads the plugin; tests give their own.
using BackendFactory = std::function<Result<std::shared_ptr<Backend>>(const ResolverConfig& leaf)>;

// The backend of one leaf; an error about an option shows its place.
Result<std::shared_ptr<Backend>> make_backend(const Config& config, const ResolverConfig& leaf,
                                              const BackendFactory& factory);

class Cluster {
 public:
  static Result<std::unique_ptr<Cluster>> create(Config config, const BackendFactory& factory);
  ~Cluster();

  // One snapshot, by config().timeout at the latest. The session belongs to this resolve alone.
  std::variant<SnapshotPtr, ResolveFailure> resolve(const std::shared_ptr<Session>& session,
                                                    const CancelToken& cancel);

  // What each backend of the tree needs to be allowed to do, in the order of the config, by config().timeout. One that has no way
  // to say (can_say_needs), or that fails, is told without; a cancel, or that none could find out, ends it with the first
  // error.
  Result<std::vector<ResolverNeeds>> needs(const std::shared_ptr<Session>& session,
                                           const CancelToken& cancel,
                                           const NeedsRequest& request) const;

  // How many requests each backend of the tree makes in a first resolve that finds so many members, in the same way.
  Result<std::vector<ResolverPlan>> plan(const std::shared_ptr<Session>& session,
                                         const CancelToken& cancel, int64_t members) const;

  const Config& config() const;
  std::string progress() const;  // one line for each running resolver

 private:
  struct State;
  explicit Cluster(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace muster
