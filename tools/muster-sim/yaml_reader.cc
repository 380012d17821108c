// Reading YAML so that every mistake is told with its line and column.
#include "yaml_reader.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include <fmt/format.h>

namespace muster::sim {
namespace {

// Levenshtein's distance, for "did you mean".
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view key, const std::vector<std::string>& known) {
  const auto best = std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
    return distance(key, a) < distance(key, b);
  });
  if (best == known.end() || distance(key, *best) > std::max<std::size_t>(2, key.size() / 3))
    return {};
  return *best;
}

template <typename T>
std::optional<T> to_number(std::string_view s) {
  T value{};
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (error != std::errc() || end != s.data() + s.size()) return std::nullopt;
  return value;
}

}  // namespace

void Problems::add(const YAML::Mark& mark, std::string_view message) {
  if (mark.is_null()) {
    lines_.push_back(fmt::format("{}: {}", file_, message));
  } else {
    lines_.push_back(fmt::format("{}:{}:{}: {}", file_, mark.line + 1, mark.column + 1, message));
  }
}

std::string Problems::text() const {
  std::string out;
  for (const auto& line : lines_) {
    if (!out.empty()) out += '\n';
    out += line;
  }
  return out;
}

MapReader::MapReader(const YAML::Node& node, std::string what, Problems& problems)
    : node_(node), what_(std::move(what)), problems_(problems) {
  if (!node_.IsMap()) {
    if (!node_.IsNull()) problem(fmt::format("{} must be a map of keys and values", what_));
    node_.reset(YAML::Node(YAML::NodeType::Map));  // '=' would change the file's own node
  }
}

std::optional<YAML::Node> MapReader::get(std::string_view key) {
  known_.emplace_back(key);
  for (const auto& entry : node_) {
    if (entry.first.IsScalar() && entry.first.Scalar() == key) {
      if (entry.second.IsNull()) return std::nullopt;
      return entry.second;
    }
  }
  return std::nullopt;
}

std::optional<std::string> MapReader::text(std::string_view key) {
  const auto value = get(key);
  if (!value) return std::nullopt;
  if (!value->IsScalar()) {
    problem(*value, fmt::format("'{}' of {} must be a text", key, what_));
    return std::nullopt;
  }
  return value->Scalar();
}

std::optional<bool> MapReader::boolean(std::string_view key) {
  const auto value = get(key);
  if (!value) return std::nullopt;
  const std::string word = value->IsScalar() ? value->Scalar() : "";
  if (word == "true") return true;
  if (word == "false") return false;
  problem(*value, fmt::format("'{}' of {} must be true or false", key, what_));
  return std::nullopt;
}

std::optional<std::int64_t> MapReader::number(std::string_view key, std::int64_t low,
                                              std::int64_t high) {
  const auto value = get(key);
  if (!value) return std::nullopt;
  const auto number = value->IsScalar() ? to_number<std::int64_t>(value->Scalar()) : std::nullopt;
  if (number && *number >= low && *number <= high) return number;
  problem(*value,
          fmt::format("'{}' of {} must be a whole number from {} to {}", key, what_, low, high));
  return std::nullopt;
}

std::optional<std::string> MapReader::word(std::string_view key,
                                           std::initializer_list<std::string_view> words) {
  const auto value = get(key);
  if (!value) return std::nullopt;
  const std::string word = value->IsScalar() ? value->Scalar() : "";
  if (std::find(words.begin(), words.end(), word) != words.end()) return word;
  problem(*value, fmt::format("'{}' of {} must be one of: {}", key, what_, fmt::join(words, ", ")));
  return std::nullopt;
}

std::optional<std::int64_t> MapReader::duration_ms(std::string_view key) {
  const auto value = get(key);
  if (!value) return std::nullopt;
  std::string_view digits =
      value->IsScalar() ? std::string_view(value->Scalar()) : std::string_view();
  double scale = 1000;
  const auto unit = [&](std::string_view suffix, double milliseconds) {
    if (!digits.ends_with(suffix)) return false;
    digits.remove_suffix(suffix.size());
    scale = milliseconds;
    return true;
  };
  unit("ms", 1) || unit("s", 1000) || unit("m", 60e3) || unit("h", 3600e3);
  const auto amount = to_number<double>(digits);
  if (amount && *amount >= 0 && *amount * scale <= 86400e3)
    return static_cast<std::int64_t>(*amount * scale);
  problem(*value,
          fmt::format("'{}' of {} must be a time of at most a day, such as 200ms, 1.5s or 2m", key,
                      what_));
  return std::nullopt;
}

std::vector<std::pair<std::string, std::string>> MapReader::texts(std::string_view key) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto value = get(key);
  if (!value) return out;
  if (!value->IsMap()) {
    problem(*value, fmt::format("'{}' of {} must be a map of texts", key, what_));
    return out;
  }
  for (const auto& entry : *value) {
    if (!entry.first.IsScalar() || !(entry.second.IsScalar() || entry.second.IsNull())) {
      problem(entry.first, fmt::format("'{}' of {} must be a map of texts", key, what_));
      continue;
    }
    const auto& name = entry.first.Scalar();
    if (std::any_of(out.begin(), out.end(), [&](const auto& pair) { return pair.first == name; })) {
      problem(entry.first, fmt::format("'{}' is there twice", name));
      continue;
    }
    out.emplace_back(name, entry.second.IsNull() ? "" : entry.second.Scalar());
  }
  return out;
}

std::vector<std::string> MapReader::text_list(std::string_view key) {
  std::vector<std::string> out;
  const auto value = get(key);
  if (!value) return out;
  if (value->IsScalar()) return {value->Scalar()};
  if (value->IsSequence()) {
    for (const auto& member : *value) {
      if (member.IsScalar()) {
        out.push_back(member.Scalar());
      } else {
        problem(member, fmt::format("'{}' of {} must be a text or a list of texts", key, what_));
      }
    }
    return out;
  }
  problem(*value, fmt::format("'{}' of {} must be a text or a list of texts", key, what_));
  return out;
}

std::vector<YAML::Node> MapReader::maps(std::string_view key) {
  std::vector<YAML::Node> out;
  const auto value = get(key);
  if (!value) return out;
  if (value->IsMap()) return {*value};
  if (!value->IsSequence()) {
    problem(*value, fmt::format("'{}' of {} must be a list of maps", key, what_));
    return out;
  }
  for (const auto& member : *value) out.push_back(member);
  return out;
}

void MapReader::finish() {
  std::vector<std::string> seen;
  for (const auto& entry : node_) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
      problem(entry.first, fmt::format("'{}' is there twice", key));
    } else if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
      const auto near = nearest(key, known_);
      problem(entry.first,
              near.empty() ? fmt::format("{} has no key '{}'; it knows: {}", what_, key,
                                         fmt::join(known_, ", "))
                           : fmt::format("{} has no key '{}'; nearest: '{}'", what_, key, near));
    }
    seen.push_back(key);
  }
}

}  // namespace muster::sim
