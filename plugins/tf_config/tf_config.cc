// The tf_config backend: the cluster that TF_CONFIG says, as TFConfigClusterResolver reads it.
#include <fmt/format.h>

#include <muster/plugin.hpp>

#include "plugins/support/text.h"
#include "plugins/support/tf_config.h"
#include "plugins/support/tf_config_answer.h"
#include "plugins/tf_config/options.h"

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

    support::TfConfigReader reader(call.host(), *text, name, options_.text_is_object);
    auto facts = reader.facts();
    if (!facts) return std::move(facts).failure();
    override_with_options(*facts);
    const bool by_option = options_.task_type || options_.task_id;
    return support::push_tf_config(
        call, reader, *facts,
        {name, by_option ? "the options task_type and task_id say so" : name + " says so by 'task'",
         options_.task_id          ? "/task_id"
         : options_.task_type      ? "/task_type"
         : options_.text_is_object ? "/config/task"
                                   : ""});
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

  void override_with_options(support::TfConfigFacts& facts) const {
    if (options_.task_type) facts.task_type = options_.task_type;
    if (options_.task_id) facts.task_index = options_.task_id;
    if (options_.rpc_layer) facts.rpc_layer = options_.rpc_layer;
    if (options_.environment) facts.environment = options_.environment;
  }

  Options options_;
};

}  // namespace
}  // namespace muster::tf_config

MUSTER_PLUGIN(muster::tf_config::TfConfig, "tf_config", "0.1.0")
