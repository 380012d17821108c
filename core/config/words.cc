#include "core/config/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/config/config.h"
#include "core/config/utf8.h"

namespace muster {

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  const size_t limit = std::max<size_t>(1, word.size() / 3);
  std::string best;
  size_t best_distance = limit + 1;
  if (word.size() > 200) return best;
  for (const std::string& candidate : known) {
    if (candidate.size() > word.size() + limit || word.size() > candidate.size() + limit) continue;
    // Edit distance with neighbours swapped counted as one (optimal string alignment), three rows.
    const size_t columns = candidate.size() + 1;
    std::vector<size_t> two_up(columns), up(columns), row(columns);
    for (size_t j = 0; j < columns; ++j) up[j] = j;
    for (size_t i = 1; i <= word.size(); ++i) {
      row[0] = i;
      for (size_t j = 1; j < columns; ++j) {
        const bool same = std::tolower(static_cast<unsigned char>(word[i - 1])) ==
                          std::tolower(static_cast<unsigned char>(candidate[j - 1]));
        row[j] = std::min({up[j] + 1, row[j - 1] + 1, up[j - 1] + (same ? 0 : 1)});
        if (i > 1 && j > 1 && word[i - 1] == candidate[j - 2] && word[i - 2] == candidate[j - 1]) {
          row[j] = std::min(row[j], two_up[j - 2] + 1);
        }
      }
      std::swap(two_up, up);
      std::swap(up, row);
    }
    if (up[columns - 1] < best_distance) {
      best_distance = up[columns - 1];
      best = candidate;
    }
  }
  return best;
}

namespace conf {

std::string printable(std::string_view text) {
  std::string shown;
  for (size_t at = 0; at < text.size();) {
    const size_t size = utf8_length(text, at);
    const auto byte = static_cast<unsigned char>(text[at]);
    // C1 controls are two bytes, 0xC2 0x80 .. 0xC2 0x9F.
    const bool control =
        (byte < 0x20 && byte != '\t') || byte == 0x7F ||
        (byte == 0xC2 && size == 2 && static_cast<unsigned char>(text[at + 1]) < 0xA0);
    if (size == 0 || control) {
      shown += '?';
    } else {
      shown += text.substr(at, size);
    }
    at += std::max<size_t>(size, 1);
  }
  return shown;
}

std::string what_is(const Node& node, bool secret) {
  const bool show = !secret && !node.interpolated;
  switch (node.kind) {
    case Kind::kNull: return "nothing (null)";
    case Kind::kBool: return show ? (node.boolean ? "true" : "false") : "true or false";
    case Kind::kInteger:
    case Kind::kFloat:
      return show ? fmt::format("the number {}", printable(node.text)) : "a number";
    case Kind::kText: {
      if (!show) return "a text";
      std::string text = node.text.substr(0, node.text.find('\n'));
      bool cut = text.size() != node.text.size();
      if (text.size() > 40) {
        size_t end = 40;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
        text.resize(end);
        cut = true;
      }
      return fmt::format("the text \"{}\"", printable(text) + (cut ? "..." : ""));
    }
    case Kind::kList: return "a list";
    case Kind::kMap: return "a mapping";
    case Kind::kBroken: break;
  }
  return "a value that could not be read";
}

std::string either(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += fmt::format("'{}'", words[i]);
  }
  return text;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string near = nearest(word, known);
  if (!near.empty()) return fmt::format("; did you mean '{}'?", near);
  if (known.empty()) return "";
  std::string text = known.size() == 1 ? "; known is " : "; known are ";
  for (size_t i = 0; i < known.size(); ++i)
    text += fmt::format("{}'{}'", i > 0 ? ", " : "", known[i]);
  return text;
}

bool sounds_secret(std::string_view key) {
  std::string lower;
  for (char c : key) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (std::string_view word : {"token", "secret", "passw", "passphrase", "credential", "private",
                                "api_key", "apikey", "client_key", "authorization", "bearer"}) {
    if (lower.find(word) != std::string::npos) return true;
  }
  return false;
}

bool names_secret_argument(std::string_view flag) {
  std::string name(flag);
  std::replace(name.begin(), name.end(), '-', '_');
  for (const char* place : {"file", "path", "dir"})
    if (name.ends_with(place)) return false;
  return sounds_secret(name);
}

}  // namespace conf
}  // namespace muster
