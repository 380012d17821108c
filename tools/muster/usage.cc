#include "tools/muster/usage.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <numeric>
#include <string>
#include <vector>

#include "tools/muster/terminal.h"

namespace muster_command {
namespace {

// Levenshtein's distance.
size_t distance(const std::string& left, const std::string& right) {
  std::vector<size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < left.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < right.size(); ++j) {
      const size_t above = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, above + 1, diagonal + (left[i] == right[j] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

// The known word that is near enough to be meant, or "".
std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  size_t least = std::max<size_t>(word.size() / 3, 1) + 1;
  for (const std::string& candidate : known) {
    const size_t far = distance(word, candidate);
    if (far < least) {
      least = far;
      best = candidate;
    }
  }
  return best;
}

// The subcommand that the words reached: "muster plugins list".
const CLI::App* innermost(const CLI::App& app, std::string& words) {
  const CLI::App* reached = &app;
  words = app.get_name();
  while (!reached->get_subcommands().empty()) {
    reached = reached->get_subcommands().front();
    words += " " + reached->get_name();
  }
  return reached;
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string unexpected(const CLI::App& reached, const std::string& word) {
  const bool is_option = word.starts_with("-") && word != "-";
  const std::vector<std::string> known =
      is_option ? option_names(reached) : subcommand_names(reached);
  const std::string near = nearest(word.substr(0, word.find('=')), known);
  std::string text =
      !is_option && known.empty()
          ? fmt::format("'{}' is one word too many", word)
          : fmt::format("there is no {} '{}'", is_option ? "option" : "command", word);
  if (!near.empty()) return text + fmt::format("; did you mean '{}'?", near);
  if (!is_option && !known.empty()) text += fmt::format("; there are {}", fmt::join(known, ", "));
  return text;
}

}  // namespace

void say_usage(const CLI::App& app, const CLI::ParseError& error) {
  std::string words;
  const CLI::App* reached = innermost(app, words);
  const std::vector<std::string> rest = app.remaining(true);
  std::string text = error.what();
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) && !rest.empty()) {
    text = unexpected(*reached, rest.front());
  } else if (!subcommand_names(*reached).empty()) {
    // A wrong word where a command should stand is as good as none.
    text = rest.empty() ? fmt::format("no command given; there are {}",
                                      fmt::join(subcommand_names(*reached), ", "))
                        : unexpected(*reached, rest.front());
  }
  say(text);
  say_hint(words + " --help");
}

}  // namespace muster_command
