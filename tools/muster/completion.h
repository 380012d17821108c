// Completion scripts for bash, zsh and fish, written from the command line's own description.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace muster_command {

// The script for a shell, or "" when there is none for it.
std::string completion(CLI::App& app, const std::string& shell);

}  // namespace muster_command
