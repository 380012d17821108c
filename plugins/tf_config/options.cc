#include "plugins/tf_config/options.h"

#include "plugins/support/options.h"

namespace muster::tf_config {
namespace {

class Reader {
 public:
  sdk::Result<Options> read(std::string_view json) {
    auto status =
        support::walk_options(json, [this](std::string_view key, simdjson::ondemand::value& value) {
          return option(key, value);
        });
    if (!status) return std::move(status).failure();
    if (sources_ > 1)
      return sdk::Failure{MUSTER_E_INVALID_ARGUMENT,
                          "give one of 'variable', 'file' and 'config', not several",
                          {{"option", "/" + last_source_}}};
    return std::move(options_);
  }

 private:
  simdjson::error_code option(std::string_view key, simdjson::ondemand::value& value) {
    if (key == "variable" || key == "file" || key == "config") {
      ++sources_;
      last_source_ = key;
    }
    if (key == "task_id") {
      int64_t index = 0;
      if (auto error = value.get_int64().get(index)) return error;
      options_.task_id = index;
      return simdjson::SUCCESS;
    }
    std::string_view text;
    if (key == "config") {
      simdjson::ondemand::json_type type;
      if (auto error = value.type().get(type)) return error;
      if (type == simdjson::ondemand::json_type::object) {
        simdjson::ondemand::object object;
        if (auto error = value.get_object().get(object)) return error;
        if (auto error = object.raw_json().get(text)) return error;
        options_.text = text;
        options_.text_is_object = true;
        return simdjson::SUCCESS;
      }
    }
    if (auto error = value.get_string().get(text)) return error;
    if (key == "variable") options_.variable = text;
    if (key == "file") options_.file = text;
    if (key == "config") options_.text = text;
    if (key == "task_type") options_.task_type = text;
    if (key == "rpc_layer") options_.rpc_layer = text;
    if (key == "environment") options_.environment = text;
    return simdjson::SUCCESS;
  }

  Options options_;
  int sources_ = 0;
  std::string last_source_;
};

}  // namespace

sdk::Result<Options> read_options(std::string_view json) { return Reader().read(json); }

}  // namespace muster::tf_config
