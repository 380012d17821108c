// What is said about a wrong command line.
#pragma once

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace muster_command {

// Says what is wrong, the nearest known word, and where to read on.
void say_usage(const CLI::App& app, const CLI::ParseError& error);

}  // namespace muster_command
