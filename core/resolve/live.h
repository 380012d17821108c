// LiveBackend: a backend whose answer is kept up to date, so that asking it costs no request.
#pragma once

#include <functional>
#include <memory>

#include "core/plugin/backend.h"

namespace muster {

// What a watch lends its backends.
struct LiveSettings {
  int64_t interval_ns = 0;  // between two polls of a backend that cannot watch
  int64_t timeout_ns = 0;   // of one poll
  std::function<std::shared_ptr<Session>()> session;  // for each call
  std::function<void()> changed;  // there is something new to ask for; from any thread
};

// Wraps the backend of one leaf of a watched cluster. A thread of its own, begun when it is first asked, watches the backend by its
// own stream (muster.watch/1), or polls it where there is none; a failure is tried again with backoff and jitter.
// Between two such outcomes resolve gives the last one, good or not; the first is waited for.
class LiveBackend : public Backend {
 public:
  LiveBackend(std::shared_ptr<Backend> backend, LiveSettings settings);
  ~LiveBackend() override;
  LiveBackend(const LiveBackend&) = delete;
  LiveBackend& operator=(const LiveBackend&) = delete;

  BackendOutcome resolve(std::shared_ptr<Session> session, int64_t deadline_ns,
                         const CancelToken& cancel) override;
  std::string progress() const override;

  // Ends a round of asking: one that was not asked in it (a chain had its answer before) lets its source rest until it is.
  void end_round();

 private:
  class Keeper;
  std::shared_ptr<Backend> backend_;
  LiveSettings settings_;
  bool asked_ = false;
  std::unique_ptr<Keeper> keeper_;
};

}  // namespace muster
