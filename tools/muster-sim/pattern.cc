// The braces in a scenario's texts.
#include "pattern.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace muster::sim {
namespace {

constexpr std::int64_t kLongest = 1000000;

struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::size_t width = 0;  // zeros are put in front up to this
  std::int64_t length() const { return std::abs(last - first) + 1; }
};

// Digits only, short enough that no sum of two can overflow.
std::optional<std::int64_t> to_number(std::string_view s) {
  if (s.empty() || s.size() > 12 ||
      !std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return std::nullopt;
  }
  std::int64_t value = 0;
  std::from_chars(s.data(), s.data() + s.size(), value);
  return value;
}

std::optional<Range> to_range(std::string_view inside) {
  const auto dots = inside.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  const auto a = inside.substr(0, dots);
  const auto b = inside.substr(dots + 2);
  const auto first = to_number(a);
  const auto last = to_number(b);
  if (!first || !last) return std::nullopt;
  const bool padded = (a.size() > 1 && a.front() == '0') || (b.size() > 1 && b.front() == '0');
  return Range{*first, *last, padded ? std::max(a.size(), b.size()) : 0};
}

// "i", then operators with numbers, then ":FORMAT".
std::optional<std::string> to_formula(std::string_view inside, std::int64_t i) {
  if (!inside.starts_with('i')) return std::nullopt;
  inside.remove_prefix(1);
  const auto colon = inside.find(':');
  auto steps = inside.substr(0, colon);
  std::int64_t value = i;
  while (!steps.empty()) {
    const char op = steps.front();
    steps.remove_prefix(1);
    const auto end = std::min(steps.find_first_not_of("0123456789"), steps.size());
    const auto number = to_number(steps.substr(0, end));
    steps.remove_prefix(end);
    if (!number || ((op == '/' || op == '%') && *number == 0)) return std::nullopt;
    switch (op) {
      case '+': value += *number; break;
      case '-': value -= *number; break;
      case '/': value /= *number; break;
      case '%': value %= *number; break;
      case '*':
        if (__builtin_mul_overflow(value, *number, &value)) return std::nullopt;
        break;
      default: return std::nullopt;
    }
  }
  if (colon == std::string_view::npos) return fmt::format("{}", value);
  auto format = inside.substr(colon + 1);
  const bool hex = format.ends_with('x');
  if (hex) format.remove_suffix(1);
  const auto width = format.empty() ? std::optional<std::int64_t>(0) : to_number(format);
  if (!width || *width > 64) return std::nullopt;
  return hex ? fmt::format("{:0{}x}", value, *width) : fmt::format("{:0{}}", value, *width);
}

// Calls on_text for plain pieces and on_brace for what stands between two braces.
template <typename OnText, typename OnBrace>
void walk(std::string_view text, OnText on_text, OnBrace on_brace) {
  while (!text.empty()) {
    const auto open = text.find('{');
    const auto close = open == std::string_view::npos ? open : text.find('}', open);
    if (close == std::string_view::npos) {
      on_text(text);
      return;
    }
    on_text(text.substr(0, open));
    on_brace(text.substr(open, close - open + 1));
    text.remove_prefix(close + 1);
  }
}

}  // namespace

Result<std::optional<std::int64_t>> pattern_length(std::string_view text) {
  std::optional<std::int64_t> length;
  std::optional<Failure> failure;
  walk(
      text, [](std::string_view) {},
      [&](std::string_view brace) {
        const auto range = to_range(brace.substr(1, brace.size() - 2));
        if (!range) return;
        if (range->length() > kLongest) {
          failure = Failure{fmt::format("'{}' stands for more than {} pods", brace, kLongest)};
        } else if (length && *length != range->length()) {
          failure = Failure{fmt::format("the ranges of '{}' differ in length ({} and {})", text,
                                        *length, range->length())};
        }
        length = range->length();
      });
  if (failure) return *failure;
  return length;
}

std::string expand_pattern(std::string_view text, std::int64_t i) {
  std::string out;
  walk(
      text, [&](std::string_view plain) { out += plain; },
      [&](std::string_view brace) {
        const auto inside = brace.substr(1, brace.size() - 2);
        if (const auto range = to_range(inside)) {
          const auto value = range->first <= range->last ? range->first + i : range->first - i;
          out += fmt::format("{:0{}}", value, range->width);
        } else if (auto value = to_formula(inside, i)) {
          out += *value;
        } else {
          out += brace;
        }
      });
  return out;
}

}  // namespace muster::sim
