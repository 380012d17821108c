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

// Appends `text` made harmless; stops before more than `most` bytes of it are used. False when it stopped.
bool append_printable(std::string& out, std::string_view text, size_t most) {
  size_t at = 0;
  while (at < text.size()) {
    const std::string_view rest = text.substr(at);
    const size_t length = utf8_length(rest);
    const size_t taken = length == 0 ? 1 : length;
    if (at + taken > most) return false;
    const auto first = static_cast<unsigned char>(rest[0]);
    const bool c1 = length == 2 && first == 0xc2 && static_cast<unsigned char>(rest[1]) < 0xa0;
    if (length == 0 || c1 || first < 0x20 || first == 0x7f) {
      for (const char c : rest.substr(0, taken)) {
        const auto byte = static_cast<unsigned char>(c);
        out += "\\x";
        out += "0123456789abcdef"[byte >> 4];
        out += "0123456789abcdef"[byte & 0xf];
      }
    } else {
      out.append(rest, 0, taken);
    }
    at += taken;
  }
  return true;
}

}  // namespace

std::string quote(std::string_view text, size_t most) {
  std::string quoted = "'";
  if (!append_printable(quoted, text, most)) quoted += "...";
  quoted += '\'';
  return quoted;
}

std::string printable(std::string_view text) {
  std::string safe;
  append_printable(safe, text, text.size());
  return safe;
}

}  // namespace muster
