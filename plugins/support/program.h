// What a program that failed said, for the message about it.
#pragma once

#include <string>
#include <string_view>

namespace muster::support {

// ": " and the end of its standard error without blanks around it, at most 1000 bytes and never half a character; "" when it said
// nothing.
std::string said_behind(std::string_view error_output);

}  // namespace muster::support
