#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "answer.h"
#include "google.h"

namespace muster::sim {

// Cloud TPU: nodes and queued resources, one or a list, of one location or of all ("-"), as v1, v2 and v2alpha1 have them. Safe to
// call from many threads.
class TpuApi {
 public:
  // world: outlives it. address: of the server, for the discovery document.
  TpuApi(const Google& world, std::string address)
      : world_(world),
        address_(std::move(address)),
        asked_(world.tpus.size()),
        asked_queued_(world.queued_resources.size()) {}

  static bool serves(const std::string& path);
  // To a call that may get in.
  Answer handle(const Call& call) const;
  // The discovery document, which asks for no token; nothing for other paths.
  std::optional<Answer> discovery(const Call& call) const;

 private:
  Answer nodes(const Call& call, const std::string& version,
               const std::vector<std::string>& path) const;
  Answer queued(const Call& call, const std::string& version,
                const std::vector<std::string>& path) const;
  // One as it is for whoever asks now.
  TpuNode now(std::size_t node) const;
  QueuedResource queued_now(std::size_t queued) const;

  const Google& world_;
  std::string address_;
  mutable std::mutex mutex_;
  mutable std::vector<std::int64_t> asked_, asked_queued_;  // how often; guarded by mutex_
};

}  // namespace muster::sim
