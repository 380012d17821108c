// The options of the tf_config backend, as they are after create.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <muster/plugin.hpp>

namespace muster::tf_config {

struct Options {
  // Where the text is; one of three.
  std::string variable = "TF_CONFIG";
  std::optional<std::string> file;
  std::optional<std::string> text;  // written in the options
  bool text_is_object = false;      // ... as a map, so that places in it are places in the options

  // TFConfigClusterResolver's constructor arguments: they win over the text.
  std::optional<std::string> task_type;
  std::optional<int64_t> task_id;
  std::optional<std::string> rpc_layer;
  std::optional<std::string> environment;
};

// `json` was checked against the schema. INVALID_ARGUMENT with an `option` detail when more than one of
// variable, file and config is given.
sdk::Result<Options> read_options(std::string_view json);

}  // namespace muster::tf_config
