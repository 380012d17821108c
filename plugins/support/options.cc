#include "plugins/support/options.h"

#include <utility>

#include "plugins/support/json.h"

namespace muster::support {
namespace {

simdjson::error_code walk(const simdjson::padded_string& json, const TakeOption& take) {
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  if (auto error = parser.iterate(json).get(document)) return error;
  simdjson::ondemand::object object;
  if (auto error = document.get_object().get(object)) return error;
  for (auto field : object) {
    std::string_view key;
    if (auto error = field.unescaped_key().get(key)) return error;
    simdjson::ondemand::value value;
    if (auto error = field.value().get(value)) return error;
    bool null = false;
    if (auto error = value.is_null().get(null)) return error;
    if (null) continue;
    if (auto error = take(key, value)) return error;
  }
  return simdjson::SUCCESS;
}

}  // namespace

sdk::Status walk_options(std::string_view json, const TakeOption& take) {
  const simdjson::padded_string padded(json);
  if (auto error = walk(padded, take)) return json_failure({json, "options"}, error, nullptr);
  return {};
}

sdk::Failure wrong_option(std::string message, std::string pointer) {
  return {MUSTER_E_INVALID_ARGUMENT, std::move(message), {{"option", std::move(pointer)}}};
}

}  // namespace muster::support
