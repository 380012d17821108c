#include "core/config/yaml_protect.h"

#include <cstdint>

#include "core/config/utf8.h"

namespace muster::conf {
namespace {

// Characters with a meaning to YAML, and what stands for each of them.
constexpr std::string_view kSpecial = "{}[],:#";
constexpr unsigned char kFirstMask = 0xF8;
constexpr char kBackslash = static_cast<char>(0xFF);

// Bytes of a "{NAME}" or "{NAME:-default}" that begins at text[at], 0 when there is none on this line.
size_t braces(std::string_view text, size_t at) {
  if (at >= text.size() || text[at] != '{') return 0;
  const auto named = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  size_t end = at + 1;
  while (end < text.size() && named(text[end])) ++end;
  if (end == at + 1) return 0;
  if (text.substr(end, 2) == ":-") {
    // Quotes end it: they are YAML's.
    while (end < text.size() &&
           std::string_view("}\n\r\"'").find(text[end]) == std::string_view::npos)
      ++end;
  }
  return end < text.size() && text[end] == '}' ? end + 1 - at : 0;
}

// The 16 bits of a "\uXXXX" at text[at]; -1 when there is none. `slash` is what begins it.
int32_t escaped_unit(std::string_view text, size_t at, char slash) {
  if (at + 6 > text.size() || text[at] != slash || text[at + 1] != 'u') return -1;
  int32_t unit = 0;
  for (size_t i = at + 2; i < at + 6; ++i) {
    const char c = text[i];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

// The character of a pair of surrogates at text[at], 0 when there is none.
uint32_t escaped_pair(std::string_view text, size_t at, char slash) {
  const int32_t high = escaped_unit(text, at, slash);
  if (high < 0xD800 || high > 0xDBFF) return 0;
  const int32_t low = escaped_unit(text, at + 6, slash);
  if (low < 0xDC00 || low > 0xDFFF) return 0;
  return 0x10000 + (static_cast<uint32_t>(high - 0xD800) << 10) +
         static_cast<uint32_t>(low - 0xDC00);
}

}  // namespace

std::string protect_from_yaml(std::string_view text) {
  std::string masked(text);
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '$') {
      const bool doubled = at + 1 < text.size() && text[at + 1] == '$';
      at += doubled ? 2 : 1;
      const size_t size = braces(text, at);
      for (size_t i = at; i < at + size; ++i) {
        if (const size_t which = kSpecial.find(text[i]); which != std::string_view::npos) {
          masked[i] = static_cast<char>(kFirstMask + which);
        }
      }
      at += size;
    } else if (text[at] == '\\') {
      if (escaped_pair(text, at, '\\') != 0) {
        masked[at] = masked[at + 6] = kBackslash;
        at += 12;
      } else {
        at += 2;  // an escaped backslash escapes nothing
      }
    } else {
      ++at;
    }
  }
  return masked;
}

void restore_from_yaml(std::string* scalar, bool double_quoted) {
  bool masked = false;
  for (char c : *scalar) masked = masked || static_cast<unsigned char>(c) >= kFirstMask;
  if (!masked) return;
  std::string plain;
  for (size_t at = 0; at < scalar->size(); ++at) {
    const char c = (*scalar)[at];
    const auto byte = static_cast<unsigned char>(c);
    if (c == kBackslash) {
      const uint32_t code = double_quoted ? escaped_pair(*scalar, at, kBackslash) : 0;
      if (code != 0) {
        append_utf8(code, &plain);
        at += 11;
      } else {
        plain += '\\';
      }
    } else if (byte >= kFirstMask && byte < kFirstMask + kSpecial.size()) {
      plain += kSpecial[byte - kFirstMask];
    } else {
      plain += c;
    }
  }
  *scalar = std::move(plain);
}

}  // namespace muster::conf
