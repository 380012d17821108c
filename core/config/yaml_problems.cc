#include "core/config/yaml_problems.h"

#include <fmt/format.h>
#include <yaml-cpp/exceptions.h>

#include <algorithm>
#include <string_view>

#include "core/config/utf8.h"
#include "core/config/words.h"

namespace muster::conf {
namespace {

// yaml-cpp's words for what went wrong, and ours.
struct Wording {
  const char* theirs;
  const char* ours;
};
const Wording kWordings[] = {
    {YAML::ErrorMsg::END_OF_MAP,
     "this is not the next key of the mapping above: is its indentation right?"},
    {YAML::ErrorMsg::END_OF_MAP_FLOW,
     "expected ',' or '}' here, to go on with or to end what '{' began"},
    {YAML::ErrorMsg::END_OF_SEQ,
     "this is not the next '-' of the list above: is its indentation right?"},
    {YAML::ErrorMsg::END_OF_SEQ_FLOW,
     "expected ',' or ']' here, to go on with or to end what '[' began"},
    {YAML::ErrorMsg::FLOW_END, "this closes a bracket that is not open"},
    {YAML::ErrorMsg::TAB_IN_INDENTATION, "a tab cannot indent; use spaces"},
    {YAML::ErrorMsg::BLOCK_ENTRY, "a list entry '-' cannot stand here: is its indentation right?"},
    {YAML::ErrorMsg::MAP_KEY, "a key cannot stand here: is its indentation right?"},
    {YAML::ErrorMsg::MAP_VALUE,
     "a ': ' cannot stand here; a text that holds ': ' is written in quotes"},
    {YAML::ErrorMsg::EOF_IN_SCALAR, "the text that a quote began here or above does not end"},
    {YAML::ErrorMsg::DOC_IN_SCALAR, "the text that a quote began above does not end before this"},
    {YAML::ErrorMsg::UNKNOWN_TOKEN,
     "this character cannot begin a value; write the value in quotes"},
    {YAML::ErrorMsg::UNKNOWN_ANCHOR,
     "there is no anchor of this name above; a text that begins with '*' is written in quotes"},
    {YAML::ErrorMsg::CHAR_IN_SCALAR, "this character cannot stand in a value without quotes"},
    {YAML::ErrorMsg::CHAR_IN_ALIAS,
     "this is no name of an alias; a text that begins with '*' is written in quotes"},
    {YAML::ErrorMsg::CHAR_IN_ANCHOR,
     "this is no name of an anchor; a text that begins with '&' is written in quotes"},
    {YAML::ErrorMsg::ALIAS_NOT_FOUND,
     "'*' begins an alias here, but no name follows; a text that begins with '*' is written in "
     "quotes"},
    {YAML::ErrorMsg::ANCHOR_NOT_FOUND,
     "'&' begins an anchor here, but no name follows; a text that begins with '&' is written in "
     "quotes"},
    {YAML::ErrorMsg::CHAR_IN_BLOCK, "this cannot stand behind '|' or '>'"},
    {YAML::ErrorMsg::BAD_FILE, "lists and mappings are too deep within each other here"},
};

}  // namespace

std::string in_our_words(const std::string& theirs) {
  for (const Wording& wording : kWordings) {
    if (theirs == wording.theirs) return fmt::format("not YAML: {}", wording.ours);
  }
  if (theirs.starts_with(YAML::ErrorMsg::INVALID_ESCAPE)) {
    return fmt::format(
        "not YAML: a text in double quotes cannot hold '\\{}'; write '\\\\' for a backslash",
        printable(theirs.substr(std::string_view(YAML::ErrorMsg::INVALID_ESCAPE).size())));
  }
  if (theirs.starts_with(YAML::ErrorMsg::INVALID_UNICODE)) {
    return "not YAML: this escape is not a character of Unicode";
  }
  return fmt::format("not YAML: {}", printable(theirs));
}

bool check_characters(size_t begin, size_t end, Problems* problems) {
  const std::string_view text = std::string_view(problems->text()).substr(0, end);
  const size_t bad = find_not_utf8(text.substr(begin));
  if (bad != std::string_view::npos) {
    problems->add(begin + bad, "the text is not UTF-8 here");
    return false;
  }
  for (size_t at = begin; at < end; ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == '\r' && (at + 1 == end || text[at + 1] != '\n')) {
      problems->add(at, "a carriage return without a newline behind it");
      return false;
    }
    if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F) {
      problems->add(
          at, fmt::format(
                  "the character U+{:04X} cannot stand in YAML; in a text in double quotes it is "
                  "written \"\\x{:02x}\"",
                  byte, byte));
      return false;
    }
  }
  return true;
}

void hide_secrets_near(size_t offset, Problems* problems) {
  const std::string_view text = problems->text();
  const auto line_begin = [&](size_t at) {
    const size_t newline = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
    return newline == std::string_view::npos ? 0 : newline + 1;
  };
  const auto line_end = [&](size_t at) { return std::min(text.find('\n', at), text.size()); };
  const auto indentation = [&](size_t begin) {
    return std::min(text.find_first_not_of(" \t-", begin), line_end(begin)) - begin;
  };
  // The byte behind the first ':' after a key that sounds secret; npos when there is none.
  const auto secret_value = [&](size_t begin) {
    const size_t end = line_end(begin);
    for (size_t at = begin; at < end; ++at) {
      if (text[at] != ':') continue;
      size_t key = at;
      while (key > begin &&
             std::string_view("{[, \t").find(text[key - 1]) == std::string_view::npos)
        --key;
      if (sounds_secret(text.substr(key, at - key))) {
        return std::min(text.find_first_not_of(" \t", at + 1), end);
      }
    }
    return std::string_view::npos;
  };
  const size_t begin = line_begin(std::min(offset, text.size()));
  if (const size_t value = secret_value(begin); value != std::string_view::npos) {
    problems->hide({value, line_end(begin)});
  }
  for (size_t line = begin, steps = 0; line > 0 && steps < 1000; ++steps) {
    line = line_begin(line - 1);
    if (line_end(line) == line) continue;
    if (indentation(line) >= indentation(begin) && indentation(begin) > 0) continue;
    if (secret_value(line) != std::string_view::npos) problems->hide({begin, line_end(begin)});
    break;
  }
}

}  // namespace muster::conf
