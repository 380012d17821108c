#include "plugins/support/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::support {
namespace {

// Length of the UTF-8 character at the beginning of `text` (RFC 3629), 0 when there is none.
size_t character(std::string_view text) {
  const auto byte = [&](size_t n) { return static_cast<unsigned char>(text[n]); };
  const auto follows = [&](size_t n) { return n < text.size() && (byte(n) & 0xC0) == 0x80; };
  if (text.empty()) return 0;
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead < 0xF0) {
    if (!follows(1) || !follows(2)) return 0;
    if (lead == 0xE0 && byte(1) < 0xA0) return 0;  // overlong
    if (lead == 0xED && byte(1) > 0x9F) return 0;  // a surrogate
    return 3;
  }
  if (lead >= 0xF0 && lead < 0xF5) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if (lead == 0xF0 && byte(1) < 0x90) return 0;  // overlong
    if (lead == 0xF4 && byte(1) > 0x8F) return 0;  // above U+10FFFF
    return 4;
  }
  return 0;
}

// Characters that a terminal obeys or that move others about: C0, DEL, C1, marks and overrides of direction, separators of lines and
// paragraphs, and the byte order mark.
bool is_control(std::string_view character) {
  const auto byte = [&](size_t n) { return static_cast<unsigned char>(character[n]); };
  uint32_t code = byte(0);
  if (character.size() == 2) code = (code & 0x1F) << 6 | (byte(1) & 0x3FU);
  if (character.size() == 3)
    code = (code & 0x0F) << 12 | (byte(1) & 0x3FU) << 6 | (byte(2) & 0x3FU);
  return character.size() < 4 &&
         (code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E ||
          code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
          (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF);
}

}  // namespace

std::string quote(std::string_view text, size_t maximum) {
  std::string out = "'";
  size_t at = 0;
  while (at < text.size()) {
    const size_t length = character(text.substr(at));
    const std::string_view one = text.substr(at, length == 0 ? 1 : length);
    if (at + one.size() > maximum) break;
    at += one.size();
    if (length != 0 && !is_control(one)) {
      out += one;
      continue;
    }
    for (const char c : one) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return out + (at < text.size() ? "…'" : "'");
}

std::string_view shortened(std::string_view text, size_t maximum) {
  if (text.size() <= maximum) return text;
  while (maximum > 0 && (static_cast<unsigned char>(text[maximum]) & 0xC0) == 0x80) --maximum;
  return text.substr(0, maximum);
}

Position position_of(std::string_view text, size_t offset) {
  Position position;
  for (size_t at = 0; at < offset && at < text.size(); ++at) {
    if (text[at] == '\n') {
      ++position.line;
      position.column = 1;
    } else if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80) {
      ++position.column;
    }
  }
  return position;
}

std::string to_string(Position position) {
  return fmt::format("{}:{}", position.line, position.column);
}

std::optional<int64_t> parse_digits(std::string_view text, int64_t maximum) {
  if (text.empty()) return std::nullopt;
  int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    const int64_t digit = c - '0';
    if (value > (maximum - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

int natural_compare(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto run = [&](std::string_view text, size_t at) {
    size_t end = at;
    while (end < text.size() && digit(text[end])) ++end;
    return text.substr(at, end - at);
  };
  size_t i = 0, j = 0;
  int zeros = 0;  // decides between names that are equal but for leading zeros
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      std::string_view x = run(a, i), y = run(b, j);
      i += x.size();
      j += y.size();
      const size_t x_size = x.size(), y_size = y.size();
      x.remove_prefix(std::min(x.find_first_not_of('0'), x.size()));
      y.remove_prefix(std::min(y.find_first_not_of('0'), y.size()));
      if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
      if (const int order = x.compare(y); order != 0) return order;
      if (zeros == 0 && x_size != y_size) zeros = x_size < y_size ? -1 : 1;
      continue;
    }
    if (a[i] != b[j])
      return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]) ? -1 : 1;
    ++i;
    ++j;
  }
  if (i < a.size()) return 1;
  if (j < b.size()) return -1;
  return zeros;
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

bool is_text(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = character(text.substr(at));
    if (length == 0 || text[at] == '\0') return false;
    at += length;
  }
  return true;
}

bool is_job_name(std::string_view name) {
  if (name.empty() || name.size() > 255 || !is_text(name)) return false;
  for (size_t at = 0; at < name.size(); ++at) {
    const auto byte = static_cast<unsigned char>(name[at]);
    const bool c1 =
        byte == 0xC2 && at + 1 < name.size() && static_cast<unsigned char>(name[at + 1]) < 0xA0;
    if (byte < 0x20 || byte == 0x7F || c1) return false;
  }
  return true;
}

}  // namespace muster::support
