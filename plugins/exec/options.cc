#include "plugins/exec/options.h"

#include "plugins/support/options.h"

namespace muster::exec {
namespace {

simdjson::error_code read_command(simdjson::ondemand::value& value,
                                  std::vector<std::string>& command) {
  simdjson::ondemand::array words;
  if (auto error = value.get_array().get(words)) return error;
  for (auto element : words) {
    std::string_view word;
    if (auto error = element.get_string().get(word)) return error;
    command.emplace_back(word);
  }
  return simdjson::SUCCESS;
}

}  // namespace

sdk::Result<Options> read_options(std::string_view json) {
  Options options;
  auto status = support::walk_options(
      json, [&](std::string_view key, simdjson::ondemand::value& value) -> simdjson::error_code {
        if (key == "command") return read_command(value, options.command);
        if (key == "timeout_seconds") return value.get_int64().get(options.timeout_s);
        if (key == "maximum_size") return value.get_uint64().get(options.maximum_size);
        std::string_view text;
        if (auto error = value.get_string().get(text)) return error;
        if (key == "job") options.job = text;
        if (key == "format") options.format = format_of_word(text);
        return simdjson::SUCCESS;
      });
  if (!status) return std::move(status).failure();
  if (options.command.empty() || options.command[0].empty())
    return sdk::Failure{MUSTER_E_INVALID_ARGUMENT,
                        "the first word of 'command', which is the program, is empty",
                        {{"option", "/command"}}};
  return options;
}

}  // namespace muster::exec
