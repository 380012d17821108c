// Words that the errors of a config share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/config/tree.h"

namespace muster::conf {

// Text that a terminal shows as it is: control characters as '?', tabs kept. Takes UTF-8; what is not becomes '?'.
std::string printable(std::string_view text);

// What is there instead of what should be: "the text \"http\"", "the number 8470", "true", "a list", "nothing (null)".
// With `secret`, or when it came out of an environment variable, the type alone.
std::string what_is(const Node& node, bool secret = false);

// "; did you mean 'options'?" or, when nothing is near, "; known are 'a', 'b'" (without the list when there are none).
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

// "'a', 'b' or 'c'".
std::string either(const std::vector<std::string>& words);

// Whether a key's name says that its value is a secret: for lines that are shown before any schema is known.
bool sounds_secret(std::string_view key);

// Whether what follows this flag of a command is a secret: --password, --client-secret; not --token-file.
bool names_secret_argument(std::string_view flag);

}  // namespace muster::conf
