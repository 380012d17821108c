// Reads one TF_CONFIG text: first what is said about the cluster and this task, then the tasks.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/support/cluster_json.h"
#include "plugins/support/json.h"

namespace muster::support {

// Everything but the tasks.
struct TfConfigFacts {
  std::optional<std::string> task_type;
  std::optional<int64_t> task_index;
  std::optional<std::string> rpc_layer;
  std::optional<std::string> environment;
  std::optional<std::string> session_master;
  bool has_cluster = false;
  bool sparse = false;  // the cluster is under Kubeflow's `sparseCluster`
  std::vector<std::string> warnings;
};

// One text. The tasks of a large one are never all in memory: they go from the text to the visitor.
class TfConfigReader {
 public:
  // `host` says what an address is. `padded` is readable for simdjson::SIMDJSON_PADDING bytes behind its end and outlives the reader. `name` is what
  // errors call it; with `in_options` they point into the option `config` instead of line and column.
  TfConfigReader(const sdk::Host& host, std::string_view padded, std::string name, bool in_options)
      : host_(host), source_{padded, std::move(name)}, in_options_(in_options) {}

  // INVALID_ARGUMENT for what is no JSON, a key that stands twice, and a wrong type or null where TensorFlow
  // wants a value (TFCONFIG-5), with the place.
  sdk::Result<TfConfigFacts> facts();

  // Visits jobs and tasks; after facts() alone. INVALID_ARGUMENT as read_cluster says.
  sdk::Status cluster(const TfConfigFacts& facts, ClusterVisitor& visitor);

 private:
  sdk::Failure not_json(simdjson::error_code error);
  sdk::Failure problem(const char* location, const std::string& pointer, const std::string& why);
  sdk::Status start(simdjson::ondemand::object& object);
  sdk::Status key(std::string_view key, simdjson::ondemand::value value, TfConfigFacts& facts);
  sdk::Status task(simdjson::ondemand::value value, TfConfigFacts& facts);
  sdk::Status task_type(simdjson::ondemand::value& value, TfConfigFacts& facts);
  sdk::Status task_index(simdjson::ondemand::value& value, TfConfigFacts& facts);
  sdk::Result<std::optional<std::string>> text_or_null(std::string_view key,
                                                       simdjson::ondemand::value& value);

  const sdk::Host& host_;
  JsonSource source_;
  bool in_options_;
  simdjson::ondemand::parser parser_;
  simdjson::ondemand::document document_;
};

}  // namespace muster::support
