// A pod as JSON, in a list or in an event of a watch; and how JSON of the API server is walked. Knows nothing of networks.
#pragma once

#include <simdjson.h>

#include <cstring>
#include <string>
#include <string_view>

#include "plugins/kubernetes/pod.h"

namespace muster::kubernetes {

// Reads the fields of `value` into `pod`, whose texts go into `list`. `version`, where it is not null, gets its resourceVersion.
// An error when something that is looked at has another type than Kubernetes gives it, or is no JSON.
simdjson::error_code read_pod(simdjson::ondemand::value& value, const Wanted& wanted, PodList& list,
                              Pod& pod, std::string* version = nullptr);

namespace json {

using simdjson::error_code;
using simdjson::SUCCESS;
using simdjson::ondemand::array;
using simdjson::ondemand::json_type;
using simdjson::ondemand::object;
using simdjson::ondemand::raw_json_string;
using simdjson::ondemand::value;

// Go leaves out what is empty or writes it as null: both mean "not there".
inline error_code present(value& value, json_type wanted, bool& there) {
  json_type type;
  if (auto error = value.type().get(type)) return error;
  there = type == wanted;
  if (there) return SUCCESS;
  if (type != json_type::null) return simdjson::INCORRECT_TYPE;
  bool null = false;
  return value.is_null().get(null);
}

// Alive until the document is read; "" when there is none.
inline error_code read_view(value& value, std::string_view& out) {
  bool there = false;
  if (auto error = present(value, json_type::string, there); error || !there) return error;
  if (auto error = value.get_string().get(out)) return error;
  // No name, address or reason has a NUL in it, and none may cross with one (MP-4).
  return out.find('\0') == std::string_view::npos ? SUCCESS : simdjson::STRING_ERROR;
}

inline error_code read_text(value& value, std::string& out) {
  std::string_view text;
  if (auto error = read_view(value, text)) return error;
  out.assign(text);
  return SUCCESS;
}

inline error_code read_flag(value& value, bool& out) {
  bool there = false;
  if (auto error = present(value, json_type::boolean, there); error || !there) return error;
  return value.get_bool().get(out);
}

inline error_code read_number(value& value, int64_t& out) {
  bool there = false;
  if (auto error = present(value, json_type::number, there); error || !there) return error;
  return value.get_int64().get(out);
}

// A key without its escapes undone: none that is looked for has any.
inline std::string_view key_view(const raw_json_string& key) {
  const char* begin = key.raw();
  // The first pass over the document has seen that the quote is there.
  const auto* end = static_cast<const char*>(rawmemchr(begin, '"'));
  return {begin, static_cast<size_t>(end - begin)};
}

// Calls `take(key, value)` for each field of an object; a null is one without fields.
template <typename Take>
error_code each_field(value& value, const Take& take) {
  bool there = false;
  if (auto error = present(value, json_type::object, there); error || !there) return error;
  object fields;
  if (auto error = value.get_object().get(fields)) return error;
  for (auto field : fields) {
    raw_json_string key;
    if (auto error = field.key().get(key)) return error;
    simdjson::ondemand::value inside;
    if (auto error = field.value().get(inside)) return error;
    if (auto error = take(key, inside)) return error;
  }
  return SUCCESS;
}

template <typename Take>
error_code each_element(value& value, const Take& take) {
  bool there = false;
  if (auto error = present(value, json_type::array, there); error || !there) return error;
  array elements;
  if (auto error = value.get_array().get(elements)) return error;
  for (auto element : elements) {
    simdjson::ondemand::value inside;
    if (auto error = element.get(inside)) return error;
    if (auto error = take(inside)) return error;
  }
  return SUCCESS;
}

}  // namespace json
}  // namespace muster::kubernetes
