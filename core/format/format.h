// Snapshot -> text, in every format that muster speaks; and the parsers back.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/spec/snapshot.h"

namespace muster {

struct FormatOptions {
  bool color = false;  // table, explain: escape sequences
  bool incomplete =
      false;  // let a format that cannot show gaps show an incomplete answer all the same
  std::optional<std::string>
      task_type;  // tf_config, env: as seen by this task instead of this process
  std::optional<int64_t> task_id;
  std::optional<std::string> rpc_layer;
};

// "NAME=VALUE,..." of muster_render. kInvalidArgument with the known names.
Result<FormatOptions> parse_format_options(std::string_view text);

// Names and one sentence each, in the order in which they are listed: table, json, yaml, tf_config, cluster_def (text), cluster_def_binary, env,
// addresses, hostfile, names, explain.
struct FormatName {
  const char* name;
  const char* sentence;
};
const std::vector<FormatName>& format_names();

// kInvalidArgument: no such format, with the list. kFailedPrecondition: the format cannot say this answer, and why.
Result<std::string> render(const Snapshot& snapshot, std::string_view format,
                           const FormatOptions& options);

// The answer's "sources" list alone, for failed resolves: as the explain format and as JSON.
std::string render_sources_explain(const std::vector<SourceRecord>& sources, bool color);
std::string render_sources_json(const std::vector<SourceRecord>& sources);

// A ClusterSpec as TF_CONFIG's "cluster" object (a list where indices are 0..n-1, else a map), compact JSON.
std::string cluster_to_json(const ClusterSpec& spec);
// Back: lists and maps, as TensorFlow's ClusterSpec takes them (tf-semantics 3), with the quirks mended. kInvalidArgument says where.
Result<ClusterSpec> cluster_from_json(std::string_view json);

// Wire-compatible with tensorflow.ClusterDef; jobs sorted by name, tasks by index.
std::string cluster_to_cluster_def(const ClusterSpec& spec);
std::string cluster_to_cluster_def_text(const ClusterSpec& spec);
Result<ClusterSpec> cluster_from_cluster_def(std::string_view bytes);

// A whole TF_CONFIG, for round trips.
struct TfConfig {
  ClusterSpec cluster;
  Identity task;
  std::optional<std::string> rpc_layer;
  std::optional<std::string> environment;
  std::optional<std::string> session_master;
};
Result<TfConfig> parse_tf_config(std::string_view json);

}  // namespace muster
