// When a request is sent again, and how long that waits.
#include "core/service/retry.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <limits>
#include <random>

#include <fmt/format.h>

#include "core/service/text.h"

namespace muster {
namespace {

constexpr int64_t kSecond_ns = 1'000'000'000;
constexpr int64_t kFirstBackoff_ns = 100'000'000;
constexpr int64_t kLongestBackoff_ns = 10 * kSecond_ns;

int month_of(std::string_view name) {
  constexpr std::array<std::string_view, 12> names = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

}  // namespace

bool is_idempotent_method(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "PUT" || method == "DELETE" ||
         method == "OPTIONS";
}

bool is_transient_status(int64_t status) {
  return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 ||
         status == 504;
}

int64_t backoff_ns(int failed_attempts) {
  thread_local std::mt19937_64 random{std::random_device{}()};
  const int doublings = std::clamp(failed_attempts - 1, 0, 20);
  const int64_t most = std::min(kFirstBackoff_ns << doublings, kLongestBackoff_ns);
  return std::uniform_int_distribution<int64_t>(0, most)(random);
}

std::optional<int64_t> parse_http_date(std::string_view value) {
  const std::string text(value);
  std::array<char, 4> month{};
  tm time{};
  int year = 0;
  int used = 0;
  const int length = static_cast<int>(text.size());
  // Sun, 06 Nov 1994 08:49:37 GMT
  bool read =
      std::sscanf(text.c_str(), "%*3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d GMT%n", &time.tm_mday,
                  month.data(), &year, &time.tm_hour, &time.tm_min, &time.tm_sec, &used) == 6 &&
      used == length;
  if (!read) {  // Sunday, 06-Nov-94 08:49:37 GMT
    used = 0;
    read = std::sscanf(text.c_str(), "%*9[A-Za-z], %2d-%3[A-Za-z]-%2d %2d:%2d:%2d GMT%n",
                       &time.tm_mday, month.data(), &year, &time.tm_hour, &time.tm_min,
                       &time.tm_sec, &used) == 6 &&
           used == length;
    if (read) year += year < 70 ? 2000 : 1900;
  }
  if (!read) {  // Sun Nov  6 08:49:37 1994
    used = 0;
    read =
        std::sscanf(text.c_str(), "%*3[A-Za-z] %3[A-Za-z] %2d %2d:%2d:%2d %4d%n", month.data(),
                    &time.tm_mday, &time.tm_hour, &time.tm_min, &time.tm_sec, &year, &used) == 6 &&
        used == length;
  }
  time.tm_mon = month_of(month.data());
  time.tm_year = year - 1900;
  if (!read || time.tm_mon < 0 || year < 1970 || time.tm_mday < 1 || time.tm_mday > 31 ||
      time.tm_hour < 0 || time.tm_hour > 23 || time.tm_min < 0 || time.tm_min > 59 ||
      time.tm_sec < 0 || time.tm_sec > 60) {
    return std::nullopt;
  }
  return timegm(&time);
}

std::optional<int64_t> retry_after_ns(std::string_view value, std::string_view date,
                                      int64_t now_seconds) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / kSecond_ns / 4;
  value = trim(value);
  if (!value.empty() && value.find_first_not_of("0123456789") == std::string_view::npos) {
    int64_t seconds = kMost;  // of what is too large to be read
    std::from_chars(value.data(), value.data() + value.size(), seconds);
    return std::min(seconds, kMost) * kSecond_ns;
  }
  const std::optional<int64_t> until = parse_http_date(value);
  if (!until) return std::nullopt;
  const int64_t from = parse_http_date(trim(date)).value_or(now_seconds);
  return std::clamp<int64_t>(*until - from, 0, kMost) * kSecond_ns;
}

std::string duration_text(int64_t duration_ns) {
  const int64_t milliseconds = std::max<int64_t>(duration_ns, 0) / 1'000'000;
  if (milliseconds < 1000) return fmt::format("{} ms", milliseconds);
  return fmt::format("{}.{} s", milliseconds / 1000, milliseconds % 1000 / 100);
}

}  // namespace muster
