#include "plugins/support/base64.h"

#include <algorithm>
#include <cstdint>

namespace muster::support {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::optional<std::string> base64_decode(std::string_view text) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  size_t at = 0;
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  for (; at < text.size() && text[at] != '='; ++at) {
    if (blank(text[at])) continue;
    const size_t value = kAlphabet.find(text[at]);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(value);
    if (++count == 4) {
      out += {static_cast<char>(bits >> 16), static_cast<char>(bits >> 8), static_cast<char>(bits)};
      bits = 0;
      count = 0;
    }
  }
  for (; at < text.size(); ++at)
    if (text[at] != '=' && !blank(text[at])) return std::nullopt;
  if (count == 1) return std::nullopt;
  if (count == 2) out += static_cast<char>(bits >> 4);
  if (count == 3) out += {static_cast<char>(bits >> 10), static_cast<char>(bits >> 2)};
  return out;
}

std::string base64_encode(std::string_view bytes) {
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t bits = 0;
    for (size_t n = 0; n < 3; ++n)
      bits = bits << 8 | (at + n < bytes.size() ? static_cast<unsigned char>(bytes[at + n]) : 0);
    const size_t there = bytes.size() - at;
    out += kAlphabet[bits >> 18];
    out += kAlphabet[bits >> 12 & 63];
    out += there > 1 ? kAlphabet[bits >> 6 & 63] : '=';
    out += there > 2 ? kAlphabet[bits & 63] : '=';
  }
  return out;
}

std::string base64url_encode(std::string_view bytes) {
  std::string out = base64_encode(bytes);
  out.resize(out.find_last_not_of('=') + 1);
  std::replace(out.begin(), out.end(), '+', '-');
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}

}  // namespace muster::support
