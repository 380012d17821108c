// The options of a backend, one at a time.
#pragma once

#include <simdjson.h>

#include <functional>
#include <string>
#include <string_view>

#include <muster/plugin.hpp>

namespace muster::support {

// Takes one option; its texts live until it returns. Anything but SUCCESS ends the walk.
using TakeOption =
    std::function<simdjson::error_code(std::string_view key, simdjson::ondemand::value& value)>;

// Hands over the options in the order in which they are written; one that is null is not given, and left out.
// `json` was checked against the schema, so a failure is an INVALID_ARGUMENT that only a broken core ever sees.
sdk::Status walk_options(std::string_view json, const TakeOption& take);

// INVALID_ARGUMENT of the option at a JSON pointer, "" for no single one.
sdk::Failure wrong_option(std::string message, std::string pointer);

}  // namespace muster::support
