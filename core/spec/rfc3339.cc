#include "core/spec/rfc3339.h"

#include <fmt/format.h>

#include <ctime>

namespace muster {

std::string rfc3339(int64_t time_ns) {
  int64_t seconds = time_ns / 1'000'000'000;
  int64_t rest = time_ns % 1'000'000'000;
  if (rest < 0) {
    rest += 1'000'000'000;
    --seconds;
  }
  const std::time_t time = seconds;
  std::tm utc{};
  gmtime_r(&time, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                     rest / 1'000'000);
}

}  // namespace muster
