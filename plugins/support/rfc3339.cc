#include "plugins/support/rfc3339.h"

#include <array>
#include <ctime>

#include "plugins/support/text.h"

namespace muster::support {
namespace {

// Takes a number of exactly `digits` digits from the front.
bool take(std::string_view& text, size_t digits, int64_t least, int64_t most, int64_t& out) {
  if (text.size() < digits) return false;
  const auto number = parse_digits(text.substr(0, digits), most);
  if (!number || *number < least) return false;
  out = *number;
  text.remove_prefix(digits);
  return true;
}

bool take(std::string_view& text, std::string_view one_of) {
  if (text.empty() || one_of.find(text[0]) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::optional<int64_t> parse_rfc3339(std::string_view text) {
  int64_t year, month, day, hour, minute, second;
  if (!take(text, 4, 1, 9999, year) || !take(text, "-") || !take(text, 2, 1, 12, month) ||
      !take(text, "-") || !take(text, 2, 1, 31, day) || !take(text, "Tt ") ||
      !take(text, 2, 0, 23, hour) || !take(text, ":") || !take(text, 2, 0, 59, minute) ||
      !take(text, ":") || !take(text, 2, 0, 60, second))
    return std::nullopt;
  if (take(text, ".")) {
    const size_t digits = text.find_first_not_of("0123456789");
    if (digits == 0 || digits == std::string_view::npos) return std::nullopt;
    text.remove_prefix(digits);
  }
  int64_t offset = 0;
  if (!take(text, "Zz")) {
    const bool west = !text.empty() && text[0] == '-';
    int64_t hours, minutes;
    if (!take(text, "+-") || !take(text, 2, 0, 23, hours) || !take(text, ":") ||
        !take(text, 2, 0, 59, minutes))
      return std::nullopt;
    offset = (hours * 60 + minutes) * (west ? -60 : 60);
  }
  if (!text.empty()) return std::nullopt;
  std::tm parts = {};
  parts.tm_year = static_cast<int>(year - 1900);
  parts.tm_mon = static_cast<int>(month - 1);
  parts.tm_mday = static_cast<int>(day);
  parts.tm_hour = static_cast<int>(hour);
  parts.tm_min = static_cast<int>(minute);
  parts.tm_sec = static_cast<int>(second);
  return int64_t{timegm(&parts)} - offset;
}

std::string to_rfc3339(int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts = {};
  std::array<char, 40> text = {};
  if (gmtime_r(&time, &parts) == nullptr) return std::to_string(seconds);
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace muster::support
