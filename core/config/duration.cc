// "1h30m" and "worker=16,ps=1": short texts of flags and of muster.yaml.
#include <fmt/format.h>

#include <charconv>

#include "core/config/config.h"
#include "core/config/words.h"

namespace muster {

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  const auto fail = [whole = text](const char* why) {
    return Error{Code::kInvalidArgument,
                 fmt::format("'{}' is not a duration: {}", conf::printable(whole), why),
                 {}};
  };
  constexpr const char* kForm = "write '30s', '500ms' or '1h30m'";
  struct Unit {
    std::string_view name;
    int64_t milliseconds;
  };
  constexpr Unit kUnits[] = {{"h", 3600000}, {"ms", 1}, {"m", 60000}, {"s", 1000}};
  constexpr int64_t kMaximum = int64_t{7} * 24 * 3600000;

  if (text.empty() || text.size() > 40) return fail(kForm);
  int64_t total = 0;
  int64_t last =
      kMaximum;  // milliseconds of the unit before: they come in falling order, each once
  while (!text.empty() || last == kMaximum) {
    int64_t count = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (failure != std::errc() || text.front() == '-') return fail(kForm);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    const Unit* unit = nullptr;
    for (const Unit& one : kUnits) {
      if (unit == nullptr && text.starts_with(one.name)) unit = &one;
    }
    if (unit == nullptr || unit->milliseconds >= last) return fail(kForm);
    text.remove_prefix(unit->name.size());
    last = unit->milliseconds;
    if (count > kMaximum / unit->milliseconds || (total += count * unit->milliseconds) > kMaximum) {
      return fail("more than 168h, a week");
    }
  }
  if (total == 0) return fail("it must be more than nothing");
  return std::chrono::nanoseconds(std::chrono::milliseconds(total));
}

Result<std::vector<std::pair<std::string, int64_t>>> parse_expect(std::string_view text) {
  const auto fail = [&](std::string why) {
    return Error{Code::kInvalidArgument,
                 fmt::format("'{}' does not say what to expect: {}; write 'worker=16,ps=1'",
                             conf::printable(text), why),
                 {}};
  };
  std::vector<std::pair<std::string, int64_t>> expect;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    begin = end + 1;
    const size_t equals = part.rfind('=');
    if (equals == std::string_view::npos || equals == 0) {
      return fail(fmt::format("'{}' is not JOB=COUNT", conf::printable(part)));
    }
    const std::string job(part.substr(0, equals));
    const std::string_view digits = part.substr(equals + 1);
    int64_t count = -1;
    const auto [stop, failure] =
        std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (failure != std::errc() || stop != digits.data() + digits.size() || count < 0 ||
        count > kExpectMaximum) {
      return fail(
          fmt::format("'{}' is not a count of 0 to {}", conf::printable(digits), kExpectMaximum));
    }
    for (const auto& known : expect) {
      if (known.first == job)
        return fail(fmt::format("job '{}' is there twice", conf::printable(job)));
    }
    expect.emplace_back(job, count);
  }
  return expect;
}

}  // namespace muster
