// Well-formed UTF-8, by the table of Unicode 3.9 (no surrogates, nothing overlong, at most U+10FFFF).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster::conf {

// Bytes of the character that begins at text[at], 1 to 4; 0 when there is none that is well formed.
inline size_t utf8_length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return static_cast<unsigned char>(at + i < text.size() ? text[at + i] : 0);
  };
  const auto within = [&](size_t i, unsigned low, unsigned high) {
    return byte(i) >= low && byte(i) <= high;
  };
  if (at >= text.size()) return 0;
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return within(1, 0x80, 0xBF) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = first == 0xED ? 0x9F : 0xBF;
    return within(1, low, high) && within(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
    return within(1, low, high) && within(2, 0x80, 0xBF) && within(3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}

// Where the first byte is that is not UTF-8; npos when all is well.
inline size_t find_not_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const size_t size = utf8_length(text, at);
    if (size == 0) return at;
    at += size;
  }
  return std::string_view::npos;
}

// Whether a byte of UTF-8 goes on with a character.
inline bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

inline size_t characters(std::string_view text) {
  size_t count = 0;
  for (char byte : text) count += continues_character(byte) ? 0 : 1;
  return count;
}

inline void append_utf8(uint32_t code, std::string* text) {
  const auto push = [&](uint32_t byte) { *text += static_cast<char>(byte); };
  if (code < 0x80) {
    push(code);
  } else if (code < 0x800) {
    push(0xC0 | (code >> 6));
    push(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    push(0xE0 | (code >> 12));
    push(0x80 | ((code >> 6) & 0x3F));
    push(0x80 | (code & 0x3F));
  } else {
    push(0xF0 | (code >> 18));
    push(0x80 | ((code >> 12) & 0x3F));
    push(0x80 | ((code >> 6) & 0x3F));
    push(0x80 | (code & 0x3F));
  }
}

}  // namespace muster::conf
