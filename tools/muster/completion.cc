#include "tools/muster/completion.h"

#include <fmt/format.h>
#include <muster/muster.h>

#include <CLI/CLI.hpp>
#include <vector>

namespace muster_command {
namespace {

// One subcommand as a shell sees it: "plugins describe" with its words.
struct Place {
  std::string words;                                             // "" for muster itself
  std::vector<std::pair<std::string, std::string>> subcommands;  // name, description
  std::vector<std::pair<std::string, std::string>> options;
};

void collect(CLI::App& app, const std::string& words, std::vector<Place>& places) {
  Place place{words, {}, {}};
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; }))
    place.subcommands.emplace_back(sub->get_name(), sub->get_description());
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames())
      place.options.emplace_back("--" + name, option->get_description());
    for (const std::string& name : option->get_snames())
      place.options.emplace_back("-" + name, option->get_description());
  }
  places.push_back(std::move(place));
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) {
    collect(*sub, words.empty() ? sub->get_name() : words + " " + sub->get_name(), places);
  }
}

std::string format_words() {
  std::string words;
  std::string_view lines = muster_format_names();
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    words += fmt::format("{}{}", words.empty() ? "" : " ", line.substr(0, line.find('\t')));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
  }
  return words;
}

std::string bash(const std::vector<Place>& places) {
  std::string cases;
  std::string ways;  // "/config|config/check": from one place to another
  for (const Place& place : places) {
    if (!place.words.empty()) {
      std::string way = place.words;
      const size_t last = way.rfind(' ');
      if (last == std::string::npos) {
        way.insert(0, "/");
      } else {
        way[last] = '/';
      }
      ways += (ways.empty() ? "" : "|") + way;
    }
    std::string words;
    for (const auto& [name, description] : place.subcommands) words += name + " ";
    for (const auto& [name, description] : place.options) words += name + " ";
    cases += fmt::format("    '{}') words='{}' ;;\n", place.words, words);
  }
  return fmt::format(R"(# muster completion for bash: source <(muster completion bash)
_muster() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} place='' words='' word
  case $previous in
    -o|--output) mapfile -t COMPREPLY < <(compgen -W '{}' -- "$current"); return ;;
    -f|--file|--record|--replay|--write) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    --plugin-dir) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
    completion) mapfile -t COMPREPLY < <(compgen -W 'bash zsh fish' -- "$current"); return ;;
  esac
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case $place/$word in
      {}) place="${{place:+$place }}$word" ;;
    esac
  done
  case $place in
{}  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -F _muster muster
)",
                     format_words(), ways, cases);
}

std::string zsh(const std::vector<Place>& places) {
  return "#compdef muster\n# muster completion for zsh: source <(muster completion zsh)\nautoload "
         "-U +X bashcompinit && bashcompinit\n"
         "mapfile() { COMPREPLY=(\"${(@f)$(cat)}\"); }\n" +
         bash(places);
}

std::string fish_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? ' ' : c;
  }
  return quoted + "'";
}

std::string fish(const std::vector<Place>& places) {
  std::string lines =
      "# muster completion for fish: muster completion fish | source\ncomplete -c muster -f\n";
  for (const Place& place : places) {
    std::string condition = "__fish_use_subcommand";
    if (!place.words.empty()) {
      condition.clear();
      size_t begin = 0;
      while (begin < place.words.size()) {
        const size_t end = std::min(place.words.find(' ', begin), place.words.size());
        condition +=
            fmt::format("{}__fish_seen_subcommand_from {}", condition.empty() ? "" : "; and ",
                        place.words.substr(begin, end - begin));
        begin = end + 1;
      }
    }
    for (const auto& [name, description] : place.subcommands) {
      lines += fmt::format("complete -c muster -n {} -a {} -d {}\n", fish_quoted(condition), name,
                           fish_quoted(description));
    }
    for (const auto& [name, description] : place.options) {
      const bool is_long = name.starts_with("--");
      lines += fmt::format("complete -c muster -n {} {} {} -d {}\n", fish_quoted(condition),
                           is_long ? "-l" : "-s", name.substr(is_long ? 2 : 1),
                           fish_quoted(description));
    }
  }
  lines += fmt::format(
      "complete -c muster -n '__fish_seen_subcommand_from resolve' -s o -l output -x -a '{}'\n",
      format_words());
  lines +=
      "complete -c muster -s f -l file -r -F\ncomplete -c muster -n '__fish_seen_subcommand_from "
      "completion' -a 'bash zsh fish'\n";
  return lines;
}

}  // namespace

std::string completion(CLI::App& app, const std::string& shell) {
  std::vector<Place> places;
  collect(app, "", places);
  if (shell == "bash") return bash(places);
  if (shell == "zsh") return zsh(places);
  if (shell == "fish") return fish(places);
  return "";
}

}  // namespace muster_command
