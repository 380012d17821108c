#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "answer.h"
#include "google.h"
#include "google_tokens.h"
#include "tpu_api.h"

namespace muster::sim {

// Compute Engine's instances and groups, and beside them Cloud TPU, the metadata server and those who give tokens. One unchanging world; safe
// to call from many threads.
class ComputeApi {
 public:
  // address: of the server.
  ComputeApi(Google world, std::shared_ptr<GoogleTokens> tokens, std::string address);

  // Whether a path is one of Google's.
  static bool serves(const std::string& path);
  Answer handle(const Call& call) const;

 private:
  using Path = std::vector<std::string>;
  Answer route(const Call& call) const;
  Answer group_call(const Call& call, const Path& path) const;
  Answer instances(const Call& call, const std::string& zone) const;
  Answer aggregated(const Call& call) const;
  // `items` cut into the page that the call asks for, as a member `key` of a list; `pages` false: all of it at once.
  Answer list(const Call& call, const std::string& kind, const std::string& key,
              const std::vector<std::string>& items, bool pages) const;
  const Instance* find(const std::string& zone, const std::string& name) const;

  Google world_;
  std::shared_ptr<GoogleTokens> tokens_;
  TpuApi tpu_;
  std::vector<std::string> texts_;  // of world_.instances
  mutable std::mutex mutex_;
  mutable std::map<std::string, Answer> answered_;  // guarded by mutex_
};

}  // namespace muster::sim
