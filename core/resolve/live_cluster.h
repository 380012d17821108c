// LiveCluster: a config whose sources are followed, and what they answer together at each moment.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "core/resolve/cluster.h"

namespace muster {

// What a watch gives its sources.
struct LiveSettings {
  int64_t interval_ns = 0;  // between two polls of a backend that cannot watch
  std::function<std::shared_ptr<Session>()> session;  // for each call
  std::function<void()> changed;  // evaluate again; called from the threads of the sources
};

class LiveCluster {
 public:
  // Makes the backends; begins nothing. `config` outlives this.
  static Result<std::unique_ptr<LiveCluster>> create(const Config& config,
                                                     const BackendFactory& factory,
                                                     LiveSettings settings);
  // Ends the threads of the sources and waits for them.
  ~LiveCluster();

  struct Evaluation {
    // Nothing before the first answer or failure. After a first answer there is always one: what fails makes it stale.
    std::variant<std::monostate, SnapshotPtr, ResolveFailure> said;
    int64_t due_ns =
        INT64_MAX;  // evaluate again then, on the monotonic clock, though nothing changed
  };

  // What the sources have said so far, by the rules of sdk/composition.md. Begins and ends their threads as these want it. Waits for
  // nothing and asks nothing. One thread at a time.
  Evaluation evaluate();

  // What is being waited for, one line a source; "" when nothing is. [thread-safe]
  std::string progress() const;

 private:
  struct State;
  explicit LiveCluster(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace muster
