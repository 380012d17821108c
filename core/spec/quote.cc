#include "core/spec/quote.h"

namespace muster {

size_t utf8_length(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](size_t i) { return i < text.size() && (at(i) & 0xc0) == 0x80; };
  if (text.empty()) return 0;
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return continues(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (!continues(1) || !continues(2)) return 0;
    if (first == 0xe0 && at(1) < 0xa0) return 0;  // overlong
    if (first == 0xed && at(1) > 0x9f) return 0;  // a surrogate
    return 3;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    if (first == 0xf0 && at(1) < 0x90) return 0;  // overlong
    if (first == 0xf4 && at(1) > 0x8f) return 0;  // past U+10FFFF
    return 4;
  }
  return 0;
}

namespace {

// Whether a terminal may do something else with this character than show it: C0, DEL and C1 control it, the bidirectional embeddings, overrides
// and isolates show what follows in another order, and the separators of lines and paragraphs begin a line.
bool controls(std::string_view character) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(character[i]); };
  switch (character.size()) {
    case 1: return at(0) < 0x20 || at(0) == 0x7f;
    case 2: return at(0) == 0xc2 && at(1) < 0xa0;  // U+0080 to U+009F
    case 3:
      // U+2028 to U+202E, U+2066 to U+2069
      return at(0) == 0xe2 && ((at(1) == 0x80 && at(2) >= 0xa8 && at(2) <= 0xae) ||
                               (at(1) == 0x81 && at(2) >= 0xa6 && at(2) <= 0xa9));
    default: return false;
  }
}

// Appends `text` made harmless, of which `kept` stay as they are; stops before more than `most` bytes of it are used. How many were.
size_t append_printable(std::string& out, std::string_view text, size_t most,
                        std::string_view kept = "") {
  size_t at = 0;
  while (at < text.size()) {
    const std::string_view rest = text.substr(at);
    const size_t length = utf8_length(rest);
    const size_t taken = length == 0 ? 1 : length;
    if (at + taken > most) break;
    const std::string_view character = rest.substr(0, taken);
    if ((length == 0 || controls(character)) && kept.find(rest[0]) == std::string_view::npos) {
      for (const char c : character) {
        const auto byte = static_cast<unsigned char>(c);
        out += "\\x";
        out += "0123456789abcdef"[byte >> 4];
        out += "0123456789abcdef"[byte & 0xf];
      }
    } else {
      out += character;
    }
    at += taken;
  }
  return at;
}

std::string cut_printable(std::string_view text, size_t most, std::string_view kept) {
  std::string safe;
  const size_t used = append_printable(safe, text, most, kept);
  if (used < text.size()) safe += "... " + std::to_string(text.size() - used) + " bytes more";
  return safe;
}

}  // namespace

std::string quote(std::string_view text, size_t most) {
  std::string quoted = "'";
  if (append_printable(quoted, text, most) < text.size()) quoted += "...";
  quoted += '\'';
  return quoted;
}

std::string printable(std::string_view text, size_t most) { return cut_printable(text, most, ""); }

std::string printable_lines(std::string_view text, size_t most) {
  return cut_printable(text, most, "\n\t");
}

}  // namespace muster
