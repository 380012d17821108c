// The tf_config backend: the cluster that TF_CONFIG says, as TFConfigClusterResolver reads it.
#include <fmt/format.h>

#include <algorithm>
#include <muster/plugin.hpp>

#include "plugins/support/text.h"
#include "plugins/tf_config/options.h"
#include "plugins/tf_config/reader.h"

namespace muster::tf_config {
namespace {

using support::quote;

// clang-format off
MUSTER_DESCRIPTOR({
  "name": "tf_config",
  "version": "0.1.0",
  "abi": {"major": 1, "minor": 0},
  "description": "The cluster that TF_CONFIG says: from the environment, a file or the options.",
  "license": "Apache-2.0",
  "services": ["muster.environment/1", "muster.address/1"],
  "options": {
    "type": "object",
    "additionalProperties": false,
    "properties": {
      "variable": {
        "description": "The environment variable that has the text. Default: TF_CONFIG. At most one of variable, file and config.",
        "type": "string",
        "pattern": "^[^=]+$"
      },
      "file": {"description": "A file that has the text instead; read anew at each resolve.", "type": "string", "minLength": 1},
      "config": {"description": "The text itself, or the map that it is.", "type": ["string", "object"]},
      "task_type": {"description": "The job of this process's task. Default: what task.type says.", "type": "string", "minLength": 1},
      "task_id": {"description": "The index of this process's task. Default: what task.index says.", "type": "integer", "minimum": 0, "maximum": 2147483647},
      "rpc_layer": {"description": "Scheme of master addresses, as grpc; empty for none. Default: what rpc_layer says, else none.", "type": "string"},
      "environment": {"description": "TensorFlow's environment. Default: what environment says.", "type": "string"}
    }
  }
})
// clang-format on

// Hands jobs and tasks on to the call, and learns on the way what the answers need. A cluster of one task is
// held back until it is known to be one: what is said about the cluster comes before its tasks.
class Pusher : public support::ClusterVisitor {
 public:
  Pusher(sdk::Call& call, const Facts& facts) : call_(call), facts_(facts) {}

  void job(std::string_view name) override {
    ++jobs_;
    if (jobs_ == 1) {
      first_job_ = name;
      return;
    }
    release();
    call_.add_job(name);
  }

  void task(std::string_view job, int64_t index, std::string_view address) override {
    ++tasks_;
    if (facts_.task_type && job == *facts_.task_type) {
      ++own_job_tasks_;
      own_only_index_ = index;
      own_maximum_ = std::max(own_maximum_, index);
      if (facts_.task_index && index == *facts_.task_index) own_seen_ = true;
    }
    if (jobs_ == 1 && tasks_ == 1 && index == 0) {
      first_address_ = address;
      return;
    }
    release();
    call_.add_task({job, index, {}, address, 0});
  }

  bool stopped() const override { return call_.refused(); }

  // After the last task: pushes what is still held back. TensorFlow's master() of a cluster with no job or with one
  // single task is "": this process itself.
  void finish() {
    const bool alone = jobs_ == 0 || (jobs_ == 1 && tasks_ == 0) || (!released_ && tasks_ == 1);
    if (alone && !facts_.session_master) call_.set_attribute(MUSTER_ATTRIBUTE_MASTER, "");
    release();
  }

  int64_t jobs() const { return jobs_; }
  int64_t own_job_tasks() const { return own_job_tasks_; }
  int64_t own_only_index() const { return own_only_index_; }
  int64_t own_maximum() const { return own_maximum_; }
  bool own_seen() const { return own_seen_; }

 private:
  void release() {
    if (released_) return;
    released_ = true;
    if (jobs_ == 0) return;
    call_.add_job(first_job_);
    if (!first_address_.empty()) call_.add_task({first_job_, 0, {}, first_address_, 0});
  }

  sdk::Call& call_;
  const Facts& facts_;
  int64_t jobs_ = 0, tasks_ = 0;
  std::string_view first_job_, first_address_;
  bool released_ = false;
  int64_t own_job_tasks_ = 0, own_only_index_ = -1, own_maximum_ = -1;
  bool own_seen_ = false;
};

class TfConfig {
 public:
  static sdk::Result<std::unique_ptr<TfConfig>> create(const sdk::Host&, std::string_view options) {
    auto read = read_options(options);
    if (!read) return std::move(read).failure();
    return std::make_unique<TfConfig>(*std::move(read));
  }

  explicit TfConfig(Options options) : options_(std::move(options)) {}

  // Its files and variables are this process's own.
  static sdk::Status permissions(sdk::Call&, const sdk::PermissionsRequest&) { return {}; }
  static sdk::Status plan(sdk::Call&, int64_t) { return {}; }

  sdk::Status resolve(sdk::Call& call) {
    simdjson::padded_string copy;
    std::string name;
    auto text = find(call, copy, name);
    if (!text) return std::move(text).failure();

    Reader reader(call.host(), *text, name, options_.text_is_object);
    auto facts = reader.facts();
    if (!facts) return std::move(facts).failure();
    override_with_options(*facts);
    for (const std::string& warning : facts->warnings) call.add_warning(warning);
    if (facts->rpc_layer) call.set_attribute(MUSTER_ATTRIBUTE_RPC_LAYER, *facts->rpc_layer);
    if (facts->environment) call.set_attribute(MUSTER_ATTRIBUTE_ENVIRONMENT, *facts->environment);
    if (facts->session_master) call.set_attribute(MUSTER_ATTRIBUTE_MASTER, *facts->session_master);

    Pusher pusher(call, *facts);
    if (auto status = reader.cluster(*facts, pusher); !status) return status;
    pusher.finish();
    return say_identity(call, *facts, pusher, name);
  }

 private:
  // The text, padded for simdjson, and what errors call it. NOT_FOUND when there is none, so that a chain goes on.
  sdk::Result<std::string_view> find(sdk::Call& call, simdjson::padded_string& copy,
                                     std::string& name) const {
    std::string_view text;
    if (options_.file) {
      name = *options_.file;
      auto content = call.file(*options_.file);
      if (!content) return std::move(content).failure();
      text = *content;
    } else if (options_.text) {
      name = "option config";
      text = *options_.text;
    } else {
      name = "variable " + options_.variable;
      const auto value = call.variable(options_.variable.c_str());
      if (!value)
        return sdk::Failure{
            MUSTER_E_NOT_FOUND,
            fmt::format("the environment variable {} is not set", quote(options_.variable)),
            {{"hint",
              "a launcher sets it on each task; by hand: export TF_CONFIG='{\"cluster\": ...}'"}}};
      text = *value;
    }
    if (support::trimmed(text).empty())
      return sdk::Failure{MUSTER_E_NOT_FOUND,
                          fmt::format("{} is set, but blank: no cluster is said there", name),
                          {}};
    if (options_.file) return text;  // the core padded it
    copy = simdjson::padded_string(text);
    return std::string_view(copy.data(), copy.size());
  }

  void override_with_options(Facts& facts) const {
    if (options_.task_type) facts.task_type = options_.task_type;
    if (options_.task_id) facts.task_index = options_.task_id;
    if (options_.rpc_layer) facts.rpc_layer = options_.rpc_layer;
    if (options_.environment) facts.environment = options_.environment;
  }

  sdk::Status say_identity(sdk::Call& call, const Facts& facts, const Pusher& pusher,
                           const std::string& name) const {
    if (!facts.task_type) {
      if (facts.task_index)
        call.add_warning(
            fmt::format("{}: 'task' has an index and no type, so it does not say which task "
                        "this process is",
                        name));
      return {};
    }
    const std::string& type = *facts.task_type;
    int64_t index = facts.task_index.value_or(-1);
    if (!facts.task_index && pusher.own_job_tasks() == 1) index = pusher.own_only_index();
    // Estimators keep the evaluator outside of the cluster; a process on its own may have a task and no cluster.
    const bool outside =
        pusher.own_job_tasks() == 0 && (type == "evaluator" || pusher.jobs() == 0) && index >= 0;
    if (outside || pusher.own_seen() || (!facts.task_index && index >= 0)) {
      const bool by_option = options_.task_type || options_.task_id;
      call.set_identity(
          type, index, {},
          by_option ? "the options task_type and task_id say so" : name + " says so by 'task'");
      return {};
    }
    if (!facts.task_index) {
      call.add_warning(
          fmt::format("{}: 'task' has a type and no index, and job {} has {} tasks; so it does not "
                      "say which task this process is",
                      name, quote(type), pusher.own_job_tasks()));
      return {};
    }
    sdk::Failure failure{
        MUSTER_E_INVALID_ARGUMENT,
        fmt::format(
            "{}: this process is said to be task {} of job {}, which is not in the cluster: {}",
            name, index, quote(type),
            pusher.own_job_tasks() == 0
                ? std::string("it has no such job with tasks")
                : fmt::format("that job has {} tasks, the highest index is {}",
                              pusher.own_job_tasks(), pusher.own_maximum())),
        {}};
    if (options_.task_id) return std::move(failure).with("option", "/task_id");
    if (options_.task_type) return std::move(failure).with("option", "/task_type");
    if (options_.text_is_object) return std::move(failure).with("option", "/config/task");
    return failure;
  }

  Options options_;
};

}  // namespace
}  // namespace muster::tf_config

MUSTER_PLUGIN(muster::tf_config::TfConfig, "tf_config", "0.1.0")
