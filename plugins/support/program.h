// What a program that failed said, for the message about it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

namespace muster::support {

// ": " and the end of its standard error without blanks around it, at most 1000 bytes and never half a character; "" when it said
// nothing.
std::string said_behind(std::string_view error_output);

// Whether what has this name is a credential: id-token, CLIENT_SECRET, --password; not --token-file. Taking every value would hide common
// words ("default") everywhere.
bool names_secret(std::string name);

// What follows such a flag, or stands behind its '='.
std::vector<std::string> secret_arguments(const std::vector<std::string>& arguments);

// What a program that gives credentials wrote to its standard error may hold one: it is marked as a secret, so that no recording has
// it, and no message quotes it.
void hide_said(std::string_view error_output, const sdk::Call& call);

}  // namespace muster::support
