#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/config/resolver_reader.h"
#include "core/config/words.h"

namespace muster::conf {

void wrong_type(const std::string& key, const Node& value, const std::string& expected,
                Problems* problems) {
  if (value.kind == Kind::kBroken) return;  // told already
  problems->add(value.offset,
                fmt::format("'{}' must be {}, not {}", printable(key), expected, what_is(value)));
}

Keys::Keys(const Node& map, const std::string& owner, const std::vector<std::string>& known,
           Problems* problems, std::string prefix)
    : map_(map), prefix_(std::move(prefix)), problems_(*problems) {
  for (const Member& member : map.members) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    problems_.add(member.key_offset, fmt::format("unknown key '{}' in {}{}", printable(member.key),
                                                 owner, did_you_mean(member.key, known)));
  }
}

std::optional<std::string> Keys::text(const std::string& key) const {
  const Member* member = find(key);
  if (member == nullptr) return std::nullopt;
  const Node& value = *member->value;
  if (value.kind == Kind::kText) return value.text;
  const bool number =
      value.kind == Kind::kInteger || value.kind == Kind::kFloat || value.kind == Kind::kBool;
  if (value.kind == Kind::kBroken) return std::nullopt;
  problems_.add(
      value.offset,
      fmt::format("'{}' must be a text, not {}{}", printable(prefix_ + key), what_is(value),
                  number ? "; a text that looks so is written in quotes" : ""));
  return std::nullopt;
}

std::optional<int64_t> Keys::integer(const std::string& key, int64_t least, int64_t most) const {
  const Member* member = find(key);
  if (member == nullptr) return std::nullopt;
  const Node& value = *member->value;
  const bool fits = value.kind == Kind::kInteger && !value.too_large &&
                    (value.negative ? least < 0 && value.magnitude <= static_cast<uint64_t>(-least)
                                    : value.magnitude <= static_cast<uint64_t>(most));
  if (fits || (value.kind == Kind::kInteger && value.magnitude == 0 && !value.too_large)) {
    const auto magnitude = static_cast<int64_t>(value.magnitude);
    return value.negative ? -magnitude : magnitude;
  }
  wrong_type(prefix_ + key, value, fmt::format("an integer from {} to {}", least, most),
             &problems_);
  return std::nullopt;
}

std::optional<bool> Keys::boolean(const std::string& key) const {
  const Member* member = find(key);
  if (member == nullptr) return std::nullopt;
  if (member->value->kind == Kind::kBool) return member->value->boolean;
  wrong_type(prefix_ + key, *member->value, "true or false", &problems_);
  return std::nullopt;
}

std::optional<std::chrono::nanoseconds> Keys::duration(const std::string& key) const {
  const Member* member = find(key);
  if (member == nullptr) return std::nullopt;
  const Node& value = *member->value;
  if (value.kind != Kind::kText) {
    wrong_type(prefix_ + key, value, "a duration as '30s', '500ms' or '1h30m'", &problems_);
    return std::nullopt;
  }
  const Result<std::chrono::nanoseconds> duration = parse_duration(value.text);
  if (duration) return *duration;
  problems_.add(
      value.offset,
      value.interpolated
          ? fmt::format("'{}' must be a duration as '30s', '500ms' or '1h30m', and not more "
                        "than 168h; the text that came out of the variable is not",
                        prefix_ + key)
          : fmt::format("'{}': {}", prefix_ + key, duration.error().message));
  return std::nullopt;
}

const Node* Keys::container(const std::string& key, Kind kind, const char* expected) const {
  const Member* member = find(key);
  if (member == nullptr) return nullptr;
  if (member->value->kind == kind) return member->value;
  wrong_type(prefix_ + key, *member->value, expected, &problems_);
  return nullptr;
}

}  // namespace muster::conf
