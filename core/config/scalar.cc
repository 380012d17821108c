#include "core/config/scalar.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "core/config/utf8.h"

namespace muster::conf {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }
bool name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  for (std::string_view word : words) {
    if (text == word) return true;
  }
  return false;
}

bool all_digits(std::string_view text, int base) {
  if (text.empty()) return false;
  for (char c : text) {
    const bool good = base == 16 ? digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')
                                 : c >= '0' && c < '0' + base;
    if (!good) return false;
  }
  return true;
}

void set_integer(Node* node, std::string_view digits, int base, bool negative) {
  node->kind = Kind::kInteger;
  node->negative = negative;
  const auto [end, failure] =
      std::from_chars(digits.data(), digits.data() + digits.size(), node->magnitude, base);
  const uint64_t limit = negative ? uint64_t{1} << 63 : std::numeric_limits<uint64_t>::max();
  node->too_large = failure != std::errc() || node->magnitude > limit;
}

// [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
bool is_float(std::string_view text) {
  size_t at = 0;
  const auto digits = [&] {
    const size_t from = at;
    while (at < text.size() && digit(text[at])) ++at;
    return at - from;
  };
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  const size_t whole = digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (digits() == 0 && whole == 0) return false;
  } else if (whole == 0) {
    return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

}  // namespace

void type_plain_scalar(Node* node) {
  const std::string_view text = node->text;
  const bool sign = !text.empty() && (text[0] == '-' || text[0] == '+');
  const bool negative = sign && text[0] == '-';
  const std::string_view body = text.substr(sign ? 1 : 0);
  if (one_of(text, {"", "~", "null", "Null", "NULL"})) {
    node->kind = Kind::kNull;
  } else if (one_of(text, {"true", "True", "TRUE"})) {
    node->kind = Kind::kBool;
    node->boolean = true;
  } else if (one_of(text, {"false", "False", "FALSE"})) {
    node->kind = Kind::kBool;
    node->boolean = false;
  } else if (all_digits(body, 10)) {
    set_integer(node, body, 10, negative);
  } else if (text.starts_with("0o") && all_digits(text.substr(2), 8)) {
    set_integer(node, text.substr(2), 8, false);
  } else if (text.starts_with("0x") && all_digits(text.substr(2), 16)) {
    set_integer(node, text.substr(2), 16, false);
  } else if (one_of(body, {".inf", ".Inf", ".INF"})) {
    node->kind = Kind::kFloat;
    node->real = negative ? -std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::infinity();
  } else if (one_of(text, {".nan", ".NaN", ".NAN"})) {
    node->kind = Kind::kFloat;
    node->real = std::numeric_limits<double>::quiet_NaN();
  } else if (is_float(text)) {
    node->kind = Kind::kFloat;
    const auto [end, failure] = std::from_chars(body.data(), body.data() + body.size(), node->real);
    if (failure != std::errc()) node->real = std::numeric_limits<double>::infinity();
    if (negative) node->real = -node->real;
  } else {
    node->kind = Kind::kText;
  }
}

Interpolated interpolate(const std::string& raw, size_t offset,
                         const EnvironmentLookup& environment, Problems* problems) {
  Interpolated result;
  if (raw.find('$') == std::string::npos) {
    result.text = raw;
    return result;
  }
  // The place of raw[at]: exact when the scalar stands in the text as it is, behind a quote or not.
  const auto place = [&](size_t at) {
    const std::string_view text = problems->text();
    for (size_t quote : {size_t{0}, size_t{1}}) {
      if (offset + quote + at < text.size() &&
          text.compare(offset + quote, at + 1, raw, 0, at + 1) == 0) {
        return offset + quote + at;
      }
    }
    return offset;
  };
  const auto fail = [&](size_t at, std::string message) {
    problems->add(place(at), std::move(message));
    result.ok = false;
  };
  for (size_t at = 0; at < raw.size();) {
    if (raw[at] != '$' || at + 1 == raw.size() || (raw[at + 1] != '$' && raw[at + 1] != '{')) {
      result.text += raw[at++];
      continue;
    }
    if (raw[at + 1] == '$') {
      result.text += '$';
      at += 2;
      continue;
    }
    const size_t begin = at + 2;
    size_t end = begin;
    while (end < raw.size() && (name_start(raw[end]) || (end > begin && digit(raw[end])))) ++end;
    const std::string name = raw.substr(begin, end - begin);
    const bool has_default = raw.compare(end, 2, ":-") == 0;
    const size_t close = raw.find('}', end);
    if (name.empty() || close == std::string::npos || (!has_default && close != end)) {
      fail(at,
           "'${' begins the name of an environment variable, as in ${NAME} or ${NAME:-default}; "
           "write $${ for the text itself");
      return result;
    }
    const std::string fallback = has_default ? raw.substr(end + 2, close - end - 2) : "";
    if (fallback.find("${") != std::string::npos) {
      fail(at,
           fmt::format("the default of ${{{}:-...}} holds another ${{...}}, which is not possible",
                       name));
      return result;
    }
    const std::optional<std::string> value = environment ? environment(name) : std::nullopt;
    if (!value && !has_default) {
      fail(at, fmt::format("environment variable '{0}' is not set; set it, or write ${{{0}:-}} for "
                           "an empty text "
                           "when it is not",
                           name));
    } else if (value && find_not_utf8(*value) != std::string_view::npos) {
      fail(at, fmt::format("environment variable '{}' is not UTF-8", name));
    } else if (value && (!value->empty() || !has_default)) {
      result.text += *value;
      result.variables.push_back({name, *value});
    } else {
      result.text += fallback;
    }
    at = close + 1;
  }
  return result;
}

}  // namespace muster::conf
