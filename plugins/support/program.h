// What a program that failed said, for the message about it.
#pragma once

#include <string>
#include <string_view>

#include <muster/plugin.hpp>

namespace muster::support {

// ": " and the end of its standard error without blanks around it, at most 1000 bytes and never half a character; "" when it said
// nothing.
std::string said_behind(std::string_view error_output);

// What a program that gives credentials wrote to its standard error may hold one: it is marked as a secret, so that no recording has
// it, and no message quotes it.
void hide_said(std::string_view error_output, const sdk::Call& call);

}  // namespace muster::support
