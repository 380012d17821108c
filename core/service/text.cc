// Texts as they cross the plugin ABI, and the few encodings the services need.
#include "core/service/text.h"

#include <muster/plugin.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/spec/quote.h"

namespace muster {
namespace {

constexpr uint64_t kLongestText = uint64_t{1} << 40;
constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kBase64Url =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

uint8_t byte_at(std::string_view text, size_t at) { return static_cast<uint8_t>(text[at]); }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string_view view_of(const char* text, uint64_t size) {
  if (text == nullptr) return {};
  if (size == MUSTER_NUL_TERMINATED) return {text, std::strlen(text)};
  if (size > kLongestText) return {};
  return {text, static_cast<size_t>(size)};
}

std::string clean_text(std::string_view text, bool keep_newlines) {
  std::string clean;
  clean.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_length(text.substr(at));
    const uint8_t first = byte_at(text, at);
    if (length == 0 || first == 0) {
      clean += '?';
      at += 1;
      continue;
    }
    const bool kept_newline = first == '\n' && keep_newlines;
    const bool c1_control = first == 0xC2 && byte_at(text, at + 1) < 0xA0;  // U+0080 to U+009F
    if (((first < 0x20 || first == 0x7F) && !kept_newline) || c1_control) {
      clean += ' ';
    } else {
      clean.append(text.substr(at, length));
    }
    at += length;
  }
  return clean;
}

bool is_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_length(text.substr(at));
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string base64_encode(std::string_view bytes, bool for_urls) {
  const std::string_view alphabet = for_urls ? kBase64Url : kBase64;
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - at);
    uint32_t group = 0;
    for (size_t i = 0; i < 3; ++i) group = (group << 8) | (i < count ? byte_at(bytes, at + i) : 0U);
    for (size_t i = 0; i < 4; ++i)
      text += i <= count ? alphabet[(group >> (18 - 6 * i)) & 63] : '=';
  }
  return text;
}

std::optional<std::string> base64_decode(std::string_view text) {
  static const std::array<int8_t, 256> values = [] {
    std::array<int8_t, 256> table{};
    table.fill(-1);
    for (size_t i = 0; i < kBase64.size(); ++i)
      table[static_cast<uint8_t>(kBase64[i])] = static_cast<int8_t>(i);
    return table;
  }();
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  uint32_t group = 0;
  size_t digits = 0;
  size_t padding = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const int8_t value = values[static_cast<uint8_t>(c)];
    if (value < 0 || padding > 0) return std::nullopt;
    group = (group << 6) | static_cast<uint32_t>(value);
    if (++digits % 4 == 0) {
      bytes += static_cast<char>(group >> 16);
      bytes += static_cast<char>((group >> 8) & 0xFF);
      bytes += static_cast<char>(group & 0xFF);
      group = 0;
    }
  }
  const size_t rest = digits % 4;
  if ((rest == 0 && padding != 0) || rest == 1 || (rest == 2 && padding != 2) ||
      (rest == 3 && padding != 1))
    return std::nullopt;
  if (rest == 2) bytes += static_cast<char>((group >> 4) & 0xFF);
  if (rest == 3) {
    bytes += static_cast<char>((group >> 10) & 0xFF);
    bytes += static_cast<char>((group >> 2) & 0xFF);
  }
  return bytes;
}

std::string percent_encode(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string text;
  for (const char c : bytes) {
    const bool unreserved = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                            (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
    if (unreserved) {
      text += c;
    } else {
      const auto byte = static_cast<uint8_t>(c);
      text += '%';
      text += digits[byte >> 4];
      text += digits[byte & 15];
    }
  }
  return text;
}

std::string json_escape(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    switch (c) {
      case '"': escaped += "\\\""; break;
      case '\\': escaped += "\\\\"; break;
      case '\n': escaped += "\\n"; break;
      case '\r': escaped += "\\r"; break;
      case '\t': escaped += "\\t"; break;
      case '\b': escaped += "\\b"; break;
      case '\f': escaped += "\\f"; break;
      default:
        if (byte < 0x20) {
          escaped += "\\u00";
          escaped += digits[byte >> 4];
          escaped += digits[byte & 15];
        } else {
          escaped += c;
        }
    }
  }
  return escaped;
}

bool equal_without_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return lower(x) == lower(y); });
}

std::string lower_case(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) c = lower(c);
  return lowered;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace muster
