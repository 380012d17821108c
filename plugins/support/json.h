// simdjson (on demand), with failures that a person can find in the text.
#pragma once

#include <simdjson.h>

#include <string>
#include <string_view>

#include <muster/plugin.hpp>

namespace muster::support {

// A text that is being read, and what errors call it: "TF_CONFIG", "/etc/tf_config.json".
struct JsonSource {
  std::string_view text;
  std::string name;
};

// INVALID_ARGUMENT "NAME:LINE:COLUMN: why", with a few characters of the place and never the whole text.
sdk::Failure json_failure(const JsonSource& source, size_t offset, std::string_view why);

// The same for an error of simdjson: the text is looked at once more for the exact place and reason.
// `location` is where simdjson stood, or null.
sdk::Failure json_failure(const JsonSource& source, simdjson::error_code error,
                          const char* location);

// Where a value of this document begins.
size_t offset_of(const JsonSource& source, simdjson::ondemand::value& value);

// Reads over a value that nobody asked for, and fails where it is not right JSON: on demand, simdjson looks
// only at brackets and quotes there.
simdjson::error_code skip_strictly(simdjson::ondemand::value value, int depth = 0);

// Type of a value in words: "a list", "null", "a number".
const char* type_in_words(simdjson::ondemand::json_type type);

}  // namespace muster::support
