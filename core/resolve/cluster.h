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
#include "core/resolve/snapshot.h"
#include "core/result.h"

namespace muster {

// A failed resolve: the error, and what each source did.
struct ResolveFailure {
  Error error;
  std::vector<SourceRecord> sources;
};

// Makes a backend of a leaf: core/host gives one that finds and loads the plugin; tests give their own.
using BackendFactory = std::function<Result<std::shared_ptr<Backend>>(const ResolverConfig& leaf)>;

class Cluster {
 public:
  static Result<std::unique_ptr<Cluster>> create(Config config, const BackendFactory& factory);
  ~Cluster();

  // One snapshot, by config().timeout at the latest. The session belongs to this resolve alone.
  std::variant<SnapshotPtr, ResolveFailure> resolve(std::shared_ptr<Session> session,
                                                    const CancelToken& cancel);

  const Config& config() const;
  std::string progress() const;  // one line for each running resolver

 private:
  struct State;
  explicit Cluster(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace muster
