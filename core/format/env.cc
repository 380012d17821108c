#include <fmt/format.h>

#include "core/format/renderers.h"
#include "core/format/text.h"
#include "core/spec/rfc3339.h"

namespace muster {
namespace {

// Linux takes an environment string of at most 128 KiB, with its name, the '=' and the final NUL.
constexpr size_t kLongest = 131072;

void add(std::string& out, std::string_view name, std::string_view value) {
  out += fmt::format("export {}={}\n", name, shell_quote(value));
}

// The variables of torch's env:// and of what reads the same. The world is every task of the cluster, in rank order; MASTER_ADDR
// is rank 0's host, IPv6 without brackets.
void add_world(std::string& out, const Snapshot& snapshot, const Identity& own) {
  const std::vector<RankedTask> ranked = ranked_tasks(snapshot.spec);
  if (ranked.empty()) return;
  const Address& first = ranked.front().task->address;
  add(out, "MASTER_ADDR", first.host());
  add(out, "MASTER_PORT", std::to_string(first.port()));
  add(out, "WORLD_SIZE", std::to_string(ranked.size()));
  for (size_t rank = 0; rank < ranked.size(); ++rank) {
    if (ranked[rank].task->index == own.index && ranked[rank].job->name == own.type)
      add(out, "RANK", std::to_string(rank));
  }
}

}  // namespace

Result<std::string> render_env(const Snapshot& snapshot, const FormatOptions& options) {
  auto own = speaking_task(snapshot, options);
  if (!own) return std::move(own).error();
  auto tf_config = render_tf_config(snapshot, options);
  if (!tf_config) return std::move(tf_config).error();
  tf_config->pop_back();  // the line feed
  if (sizeof("TF_CONFIG=") + tf_config->size() > kLongest) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("TF_CONFIG of these {} takes {} bytes, and Linux allows {} for one "
                             "environment variable: no program would start. Write the "
                             "tf_config format to a file and give that to the launcher",
                             count_of(static_cast<int64_t>(snapshot.spec.task_count()), "task"),
                             tf_config->size(), kLongest),
                 {}};
  }
  std::string own_master = snapshot.master;
  if (options.task_type || options.task_id || options.rpc_layer) {
    const bool as_itself = !options.task_type && !options.task_id;
    const auto type = as_itself ? std::nullopt : std::optional<std::string>(own->type);
    const auto index = as_itself ? std::nullopt : std::optional<int64_t>(own->index);
    const bool outside = !as_itself && snapshot.spec.find(own->type) == nullptr;  // an evaluator
    auto asked = outside ? Result<std::string>(std::string())
                         : master(snapshot, type, index, options.rpc_layer);
    if (!asked) return std::move(asked).error();
    own_master = std::move(asked).value();
  }

  std::string out;
  add(out, "MUSTER_COMPLETE", snapshot.complete ? "1" : "0");
  add(out, "MUSTER_STATE", state_name(snapshot));
  // Else one of an earlier answer would stay in the reader's environment.
  if (snapshot.stale) {
    add(out, "MUSTER_STALE_SINCE", rfc3339(snapshot.stale_since_ns));
  } else {
    out += "unset MUSTER_STALE_SINCE\n";
  }
  add(out, "MUSTER_DIGEST", digest(snapshot.spec));
  add(out, "MUSTER_TASKS", std::to_string(snapshot.spec.task_count()));
  add(out, "MUSTER_MASTER", own_master);
  add(out, "MUSTER_RPC_LAYER", options.rpc_layer ? *options.rpc_layer : snapshot.rpc_layer);
  if (own->known()) {
    add(out, "MUSTER_TASK_TYPE", own->type);
    add(out, "MUSTER_TASK_ID", std::to_string(own->index));
    const Job* job = snapshot.spec.find(own->type);
    const Task* task = job == nullptr ? nullptr : job->find(own->index);
    if (task != nullptr) add(out, "MUSTER_ADDRESS", task->address.to_string());
  }
  add(out, "TF_CONFIG", *tf_config);
  add_world(out, snapshot, *own);
  return out;
}

}  // namespace muster
