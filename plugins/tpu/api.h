// The requests to the Cloud TPU API.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/support/google/api.h"
#include "plugins/tpu/node.h"
#include "plugins/tpu/queued.h"

namespace muster::tpu {

// Where it is asked.
struct Place {
  std::string base;  // "https://tpu.googleapis.com" without a slash at its end
  std::string version;
  std::string project;
};

// The place that a discovery document tells, as TensorFlow's `discovery_url` means it; "{api}" and "{apiVersion}" in the URL are
// filled in. DATA_LOSS: it is none; UNIMPLEMENTED: of a version that muster does not speak.
sdk::Result<Place> discover(std::string url, const std::string& version, const sdk::Call& call);

template <typename T>
struct Listed {
  std::vector<T> items;
  std::vector<std::string> unreachable;  // zones whose items are not among them
};

constexpr const char* kAllZones = "-";

class Api {
 public:
  Api(support::google::Credentials& credentials, const Place& place, sdk::Call& call)
      : credentials_(credentials), place_(place), call_(call) {}

  // One; nothing when there is none.
  sdk::Result<std::optional<Node>> node(const std::string& zone, const std::string& name);
  sdk::Result<std::optional<Queued>> queued(const std::string& zone, const std::string& name);
  // All of a zone, or of all zones.
  sdk::Result<Listed<Node>> nodes(const std::string& zone);
  sdk::Result<Listed<Queued>> all_queued(const std::string& zone);

 private:
  support::google::Question question(const std::string& version, const std::string& zone,
                                     const std::string& collection, const std::string& rest,
                                     const std::string& what) const;
  template <typename T, typename Read>
  sdk::Result<Listed<T>> list(support::google::Question ask, const Read& read);

  support::google::Credentials& credentials_;
  const Place& place_;
  sdk::Call& call_;
};

}  // namespace muster::tpu
