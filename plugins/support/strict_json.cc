#include "plugins/support/strict_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/support/text.h"

namespace muster::support {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::element_type;
using simdjson::dom::object;

constexpr const char* kText = "a text";
constexpr const char* kNumber = "a number";
constexpr const char* kFlag = "true or false";
constexpr const char* kMap = "a map";
constexpr const char* kList = "a list";
constexpr size_t kExcerpt = 60;

std::string_view words_of(element value) {
  switch (value.type()) {
    case element_type::ARRAY: return kList;
    case element_type::OBJECT: return kMap;
    case element_type::INT64:
    case element_type::UINT64:
    case element_type::DOUBLE: return kNumber;
    case element_type::STRING: return kText;
    case element_type::BOOL: return kFlag;
    case element_type::NULL_VALUE: return "null";
  }
  return "something else";
}

// Takes the first key off a JSON pointer, its escapes undone.
std::string take_key(std::string_view& pointer) {
  pointer.remove_prefix(1);  // the slash
  std::string key;
  size_t at = 0;
  for (; at < pointer.size() && pointer[at] != '/'; ++at) {
    const bool escaped = pointer[at] == '~' && at + 1 < pointer.size();
    if (escaped) ++at;
    key += !escaped ? pointer[at] : pointer[at] == '1' ? '/' : '~';
  }
  pointer.remove_prefix(at);
  return key;
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

void append_key(std::string& path, std::string_view key) {
  if (key.empty() || !std::all_of(key.begin(), key.end(), is_plain)) {
    path += fmt::format("[{}]", quote(key, kExcerpt));
  } else {
    path += path.empty() ? "" : ".";
    path += shortened(key, kExcerpt);
  }
}

}  // namespace

std::string pointer_to(std::string_view key) {
  std::string out = "/";
  for (const char c : key) {
    if (c == '~' || c == '/') {
      out += c == '~' ? "~0" : "~1";
    } else {
      out += c;
    }
  }
  return out;
}

std::string StrictJson::path_of(std::string_view pointer) const {
  std::string path = path_;
  while (!pointer.empty()) {
    const std::string key = take_key(pointer);
    if (parse_digits(key, INT32_MAX)) {
      path += fmt::format("[{}]", key);
    } else {
      append_key(path, key);
    }
  }
  return path.empty() ? "the document" : path;
}

void StrictJson::refuse(std::string_view pointer, std::string_view words) const {
  if (why_->empty()) *why_ = fmt::format("{} {}", path_of(pointer), words);
}

void StrictJson::refuse_type(std::string_view pointer, element found,
                             std::string_view expected) const {
  refuse(pointer, fmt::format("is {}, where {} is expected", words_of(found), expected));
}

StrictJson::Found StrictJson::find(std::string_view pointer) const {
  element at = value_;
  for (std::string_view rest = pointer; !rest.empty();) {
    const std::string_view here = pointer.substr(0, pointer.size() - rest.size());
    const std::string key = take_key(rest);
    if (array list; !at.get_array().get(list)) {
      const auto index = parse_digits(key, INT32_MAX);
      if (!index) {
        refuse_type(here, at, kMap);
        return std::nullopt;
      }
      if (list.at(static_cast<size_t>(*index)).get(at)) return std::nullopt;
      continue;
    }
    object map;
    if (at.get_object().get(map)) {
      refuse_type(here, at, kMap);
      return std::nullopt;
    }
    size_t times = 0;
    for (const auto field : map) {
      if (field.key != key) continue;
      at = field.value;
      ++times;
    }
    if (times == 0) return std::nullopt;
    if (times > 1) {
      refuse(pointer.substr(0, pointer.size() - rest.size()), "stands there twice");
      return std::nullopt;
    }
  }
  return at;
}

StrictJson::Found StrictJson::find_there(std::string_view pointer, const char* expected,
                                         bool otherwise) const {
  Found found = find(pointer);
  if (!found) {
    if (!otherwise) refuse(pointer, fmt::format("is not there, and {} is expected", expected));
    return found;
  }
  if (!found->is_null()) return found;
  refuse_type(pointer, *found, expected);
  return std::nullopt;
}

StrictJson::Presence StrictJson::presence(std::string_view pointer) const {
  const Found found = find(pointer);
  if (!found) return Presence::kAbsent;
  return found->is_null() ? Presence::kNull : Presence::kThere;
}

std::string_view StrictJson::text_of(const Found& found, std::string_view pointer,
                                     bool may_be_empty) const {
  std::string_view text;
  if (!found) return text;
  if (found->get_string().get(text)) {
    refuse_type(pointer, *found, kText);
    return {};
  }
  if (text.empty() && !may_be_empty) refuse(pointer, "is an empty text");
  if (is_text(text)) return text;
  refuse(pointer, fmt::format("is {}, which is no text", quote(text, kExcerpt)));
  return {};
}

std::string_view StrictJson::text(std::string_view pointer) const {
  return text_of(find_there(pointer, kText, false), pointer, false);
}

std::string_view StrictJson::text_or(std::string_view pointer, std::string_view otherwise) const {
  const Found found = find_there(pointer, kText, true);
  return found ? text_of(found, pointer, true) : otherwise;
}

int64_t StrictJson::number_of(const Found& found, std::string_view pointer, Range range,
                              int64_t otherwise) const {
  if (!found) return otherwise;
  if (!found->is_number()) {
    refuse_type(pointer, *found, kNumber);
    return otherwise;
  }
  int64_t number = 0;
  if (!found->get_int64().get(number) && number >= range.least && number <= range.most)
    return number;
  refuse(pointer, fmt::format("is {}, where a whole number from {} to {} is expected",
                              simdjson::minify(*found), range.least, range.most));
  return otherwise;
}

int64_t StrictJson::number(std::string_view pointer, Range range) const {
  return number_of(find_there(pointer, kNumber, false), pointer, range, range.least);
}

int64_t StrictJson::number_or(std::string_view pointer, Range range, int64_t otherwise) const {
  return number_of(find_there(pointer, kNumber, true), pointer, range, otherwise);
}

std::string_view StrictJson::ip_or_none(std::string_view pointer, Ip which) const {
  const std::string_view text = text_or(pointer, {});
  if (text.empty()) return text;
  if (is_ip(text, which)) return text;
  refuse(pointer,
         fmt::format("is {}, where {} is expected", quote(text, kExcerpt), in_words(which)));
  return {};
}

int64_t StrictJson::number_or_digits_or(std::string_view pointer, Range range,
                                        int64_t otherwise) const {
  const Found found = find_there(pointer, kNumber, true);
  std::string_view digits;
  if (!found || found->get_string().get(digits)) return number_of(found, pointer, range, otherwise);
  const auto number = parse_digits(digits, range.most);
  if (number && *number >= range.least) return *number;
  refuse(pointer, fmt::format("is {}, where a whole number from {} to {} is expected",
                              quote(digits, kExcerpt), range.least, range.most));
  return otherwise;
}

bool StrictJson::flag_of(const Found& found, std::string_view pointer, bool otherwise) const {
  bool flag = otherwise;
  if (found && found->get_bool().get(flag)) {
    refuse_type(pointer, *found, kFlag);
    return otherwise;
  }
  return flag;
}

bool StrictJson::flag(std::string_view pointer) const {
  return flag_of(find_there(pointer, kFlag, false), pointer, false);
}

bool StrictJson::flag_or(std::string_view pointer, bool otherwise) const {
  return flag_of(find_there(pointer, kFlag, true), pointer, otherwise);
}

std::vector<StrictJson> StrictJson::list_of(const Found& found, std::string_view pointer) const {
  std::vector<StrictJson> out;
  if (!found) return out;
  array list;
  if (found->get_array().get(list)) {
    refuse_type(pointer, *found, kList);
    return out;
  }
  out.reserve(list.size());
  const std::string path = pointer.empty() ? path_ : path_of(pointer);
  for (const element one : list)
    out.emplace_back(one, *why_, fmt::format("{}[{}]", path, out.size()));
  return out;
}

std::vector<StrictJson> StrictJson::list(std::string_view pointer) const {
  return list_of(find_there(pointer, kList, false), pointer);
}

std::vector<StrictJson> StrictJson::list_or_none(std::string_view pointer) const {
  return list_of(find_there(pointer, kList, true), pointer);
}

std::vector<std::pair<std::string_view, StrictJson>> StrictJson::fields_of(
    const Found& found, std::string_view pointer) const {
  std::vector<std::pair<std::string_view, StrictJson>> out;
  if (!found) return out;
  object map;
  if (found->get_object().get(map)) {
    refuse_type(pointer, *found, kMap);
    return out;
  }
  const std::string above = pointer.empty() ? path_ : path_of(pointer);
  for (const auto field : map) {
    std::string path = above;
    append_key(path, field.key);
    out.emplace_back(field.key, StrictJson(field.value, *why_, std::move(path)));
  }
  std::vector<std::string_view> keys;
  keys.reserve(out.size());
  for (const auto& [key, value] : out) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice == keys.end()) return out;
  refuse(pointer, fmt::format("has the key {} twice", quote(*twice, kExcerpt)));
  return {};
}

std::vector<std::pair<std::string_view, StrictJson>> StrictJson::fields(
    std::string_view pointer) const {
  return fields_of(find_there(pointer, kMap, false), pointer);
}

std::vector<std::pair<std::string_view, StrictJson>> StrictJson::fields_or_none(
    std::string_view pointer) const {
  return fields_of(find_there(pointer, kMap, true), pointer);
}

}  // namespace muster::support
