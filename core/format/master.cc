#include <fmt/format.h>

#include "core/format/renderers.h"
#include "core/spec/quote.h"

namespace muster {
namespace {

std::string with_scheme(const std::string& address, const std::string& rpc_layer) {
  return rpc_layer.empty() ? address : rpc_layer + "://" + address;
}

// The master that a source names, with the scheme that somebody asks for in place of its own. Nobody asks for one: it keeps its
// form. "" and "local" mean this process and get no scheme (mends SIMPLE-1), nor does what has another scheme and is no
// address behind it.
std::string with_asked_scheme(const std::string& master,
                              const std::optional<std::string>& rpc_layer) {
  if (!rpc_layer || master.empty() || master == "local") return master;
  const size_t scheme = master.find("://");
  if (scheme == std::string::npos) return with_scheme(master, *rpc_layer);
  const std::string rest = master.substr(scheme + 3);
  Address address;
  return Address::try_parse(rest, address) ? with_scheme(rest, *rpc_layer) : master;
}

const std::string* default_master(const Snapshot& snapshot) {
  for (const auto& [key, value] : snapshot.attributes)
    if (key == "master.default") return &value;
  return nullptr;
}

}  // namespace

std::optional<std::string> source_master(const Snapshot& snapshot,
                                         const std::optional<std::string>& rpc_layer) {
  const std::string* said = nullptr;
  if (snapshot.has_own_master && snapshot.task_said_by != TaskSaidBy::kSetting)
    said = &snapshot.own_master;
  if (said == nullptr && snapshot.task_said_by == TaskSaidBy::kEvidence)
    said = default_master(snapshot);
  if (said == nullptr) return std::nullopt;
  const bool asked = rpc_layer || snapshot.rpc_layer_said;
  return with_asked_scheme(*said, asked ? rpc_layer.value_or(snapshot.rpc_layer) : rpc_layer);
}

Result<std::string> master(const Snapshot& snapshot, std::optional<std::string> task_type,
                           std::optional<int64_t> task_id, std::optional<std::string> rpc_layer) {
  const std::string& layer = rpc_layer ? *rpc_layer : snapshot.rpc_layer;
  const Identity& own = snapshot.identity;
  if (!task_type && !task_id) {
    if (auto said = source_master(snapshot, rpc_layer)) return *std::move(said);
    const Job* job = snapshot.spec.find(own.type);
    const Task* task = job == nullptr ? nullptr : job->find(own.index);
    return task == nullptr ? std::string() : with_scheme(task->address.to_string(), layer);
  }
  FormatOptions asked;
  asked.task_type = std::move(task_type);
  asked.task_id = task_id;
  auto identity = speaking_task(snapshot, asked);
  if (!identity) return std::move(identity).error();
  auto address = snapshot.spec.task_address(identity->type, identity->index);
  if (!address) return std::move(address).error();
  return with_scheme(address->to_string(), layer);
}

Result<Identity> speaking_task(const Snapshot& snapshot, const FormatOptions& options) {
  Identity task = snapshot.identity;
  if (!options.task_type && !options.task_id) return task;
  if (options.task_type) task.type = *options.task_type;
  if (options.task_id) task.index = *options.task_id;
  if (task.type.empty()) {
    return Error{Code::kInvalidArgument,
                 fmt::format("task_id {} is given without a task_type, and the job of this process "
                             "is not known; give both",
                             *options.task_id),
                 {}};
  }
  if (task.index < 0 && !options.task_id) {
    return Error{Code::kInvalidArgument,
                 fmt::format("task_type {} is given without a task_id, and the index of this "
                             "process is not known; give both",
                             quote(task.type)),
                 {}};
  }
  if (task.type == "evaluator" && snapshot.spec.find("evaluator") == nullptr) return task;
  if (auto address = snapshot.spec.task_address(task.type, task.index); !address)
    return std::move(address).error();
  return task;
}

}  // namespace muster
