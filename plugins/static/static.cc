// The static backend: the cluster that the user wrote down, in the options or in a file.
#include <fmt/format.h>

#include <muster/plugin.hpp>

#include "plugins/static/options.h"
#include "plugins/support/checked_push.h"
#include "plugins/support/lines.h"
#include "plugins/support/text.h"

namespace muster::static_backend {
namespace {

using support::quote;

// clang-format off
MUSTER_DESCRIPTOR({
  "name": "static",
  "version": "0.1.0",
  "abi": {"major": 1, "minor": 0},
  "description": "A cluster that is written down: in the options, or in a file of 'job index address' lines.",
  "license": "Apache-2.0",
  "services": ["muster.environment/1", "muster.address/1"],
  "options": {
    "type": "object",
    "additionalProperties": false,
    "properties": {
      "cluster_spec": {
        "description": "The tasks: job -> list of addresses, or job -> map of index -> address. May be empty. Either this or 'file'.",
        "type": "object",
        "additionalProperties": {
          "type": ["array", "object"],
          "items": {"type": "string", "description": "host:port"},
          "additionalProperties": {"type": "string", "description": "host:port"}
        }
      },
      "file": {
        "description": "A file of lines 'job index address [name]', with # comments; read anew at each resolve. Either this or 'cluster_spec'.",
        "type": "string",
        "minLength": 1
      },
      "master": {
        "description": "What master() without arguments says; rpc_layer is put before it unless it has a scheme. Default: the address of this process's task.",
        "type": "string"
      },
      "task_type": {"description": "The job of this process's task; needs task_id.", "type": "string", "minLength": 1},
      "task_id": {"description": "The index of this process's task; needs task_type.", "type": "integer", "minimum": 0, "maximum": 2147483647},
      "environment": {"description": "TensorFlow's environment.", "type": "string", "default": ""},
      "num_accelerators": {
        "description": "Accelerators of each task: device type -> count, as {GPU: 4}.",
        "type": "object",
        "additionalProperties": {"type": "integer", "minimum": 0}
      },
      "rpc_layer": {"description": "Scheme of master addresses, as grpc. Default: none.", "type": "string"}
    }
  }
})
// clang-format on

class Static {
 public:
  static sdk::Result<std::unique_ptr<Static>> create(const sdk::Host& host,
                                                     std::string_view options) {
    auto read = read_options(host, options);
    if (!read) return std::move(read).failure();
    return std::make_unique<Static>(*std::move(read));
  }

  explicit Static(Options options) : options_(std::move(options)) {}

  // Its files and variables are this process's own.
  static sdk::Status permissions(sdk::Call&, const sdk::PermissionsRequest&) { return {}; }
  static sdk::Status plan(sdk::Call&, int64_t) { return {}; }

  sdk::Status resolve(sdk::Call& call) {
    support::CheckedPush push(call, MUSTER_E_INVALID_ARGUMENT);
    say_cluster(push);
    identity_seen_ = false;
    if (options_.file) return resolve_file(call, push);
    for (const ListedJob& job : options_.jobs) {
      push.add_job(job.name);
      for (const ListedTask& task : job.tasks)
        if (!push.stopped()) say_task(push, {job.name, task.index, {}, task.address});
    }
    return end(push, "cluster_spec");
  }

 private:
  sdk::Status resolve_file(const sdk::Call& call, support::CheckedPush& push) {
    auto text = call.file(*options_.file);
    if (!text) return std::move(text).failure();
    auto lines = support::read_lines(call.host(), *text, *options_.file);
    if (!lines) return std::move(lines).failure();
    for (const support::TaskLine& line : *lines)
      if (!push.stopped()) say_task(push, {line.job, line.index, line.name, line.address});
    return end(push, *options_.file);
  }

  sdk::Status end(support::CheckedPush& push, const std::string& where) const {
    if (!push.stopped())
      if (auto status = say_identity(push, where); !status) return status;
    sdk::Status status = push.end();
    if (status) return status;
    return sdk::Failure{
        status.failure().code,
        fmt::format("{}: {}", options_.file ? quote(where, 4096) : where, status.failure().message),
        {{"option", options_.file ? "/file" : "/cluster_spec"}}};
  }

  void say_cluster(support::CheckedPush& push) const {
    if (!options_.environment.empty())
      push.set_attribute(MUSTER_ATTRIBUTE_ENVIRONMENT, options_.environment);
    if (options_.rpc_layer) push.set_attribute(MUSTER_ATTRIBUTE_RPC_LAYER, *options_.rpc_layer);
    if (options_.master) push.set_attribute(MUSTER_ATTRIBUTE_MASTER, master());
  }

  // An empty master and "local" mean this process itself, to TensorFlow; they and an address that has a scheme
  // already stay as they are (SIMPLE-1, SIMPLE-3).
  std::string master() const {
    const std::string& given = *options_.master;
    const std::string layer = options_.rpc_layer.value_or("");
    if (given.empty() || given == "local" || layer.empty() ||
        given.find("://") != std::string::npos)
      return given;
    return layer + "://" + given;
  }

  void say_task(support::CheckedPush& push, const sdk::Task& task) {
    push.add_task(task);
    for (const auto& [key, value] : options_.accelerators) push.set_attribute(key, value);
    if (options_.task_type && task.job == *options_.task_type && task.index == options_.task_id)
      identity_seen_ = true;
  }

  sdk::Status say_identity(support::CheckedPush& push, const std::string& where) const {
    if (!options_.task_type) return {};
    if (!identity_seen_)
      return sdk::Failure{
          MUSTER_E_INVALID_ARGUMENT,
          fmt::format("the options say that this process is task {} of job {}, which is not in {}",
                      options_.task_id, quote(*options_.task_type),
                      options_.file ? quote(where, 4096) : where),
          {{"option", "/task_id"}}};
    push.set_identity(*options_.task_type, options_.task_id, {},
                      "the options task_type and task_id say so");
    return {};
  }

  Options options_;
  bool identity_seen_ = false;  // of the running call
};

}  // namespace
}  // namespace muster::static_backend

MUSTER_PLUGIN(muster::static_backend::Static, "static", "0.1.0")
