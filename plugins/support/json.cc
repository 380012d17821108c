#include "plugins/support/json.h"

#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>

#include "plugins/support/text.h"

namespace muster::support {
namespace {

constexpr int kDepthMaximum = 256;
constexpr size_t kExcerpt = 24;

}  // namespace

sdk::Failure json_failure(const JsonSource& source, size_t offset, std::string_view why) {
  offset = std::min(offset, source.text.size());
  std::string_view rest = source.text.substr(offset);
  rest = rest.substr(0, rest.find_first_of("\r\n"));
  return {MUSTER_E_INVALID_ARGUMENT,
          fmt::format("{}:{}: {}; at {}", source.name, to_string(position_of(source.text, offset)),
                      why, rest.empty() ? "the end of the line" : quote(rest, kExcerpt)),
          {}};
}

sdk::Failure json_failure(const JsonSource& source, simdjson::error_code error,
                          const char* location) {
  // simdjson says quickly that something is wrong; RapidJSON says where and in which words.
  rapidjson::MemoryStream stream(source.text.data(), source.text.size());
  rapidjson::Reader reader;
  rapidjson::BaseReaderHandler<> nothing;
  using rapidjson::kParseIterativeFlag;
  using rapidjson::kParseValidateEncodingFlag;
  const auto result =
      reader.Parse<kParseIterativeFlag | kParseValidateEncodingFlag>(stream, nothing);
  if (result.IsError()) {
    std::string why = rapidjson::GetParseError_En(result.Code());
    if (!why.empty() && why.back() == '.') why.pop_back();
    return json_failure(source, result.Offset(), "this is not JSON: " + why);
  }
  size_t offset = 0;
  if (location != nullptr && location >= source.text.data() &&
      location <= source.text.data() + source.text.size())
    offset = static_cast<size_t>(location - source.text.data());
  return json_failure(source, offset, simdjson::error_message(error));
}

size_t offset_of(const JsonSource& source, simdjson::ondemand::value& value) {
  const char* location = nullptr;
  if (value.current_location().get(location)) return source.text.size();
  return static_cast<size_t>(location - source.text.data());
}

simdjson::error_code skip_strictly(simdjson::ondemand::value value, int depth) {
  using simdjson::ondemand::json_type;
  if (depth > kDepthMaximum) return simdjson::DEPTH_ERROR;
  json_type type;
  if (auto error = value.type().get(type)) return error;
  switch (type) {
    case json_type::object: {
      simdjson::ondemand::object object;
      if (auto error = value.get_object().get(object)) return error;
      for (auto field : object) {
        std::string_view key;
        if (auto error = field.unescaped_key().get(key)) return error;
        simdjson::ondemand::value inside;
        if (auto error = field.value().get(inside)) return error;
        if (auto error = skip_strictly(inside, depth + 1)) return error;
      }
      return simdjson::SUCCESS;
    }
    case json_type::array: {
      simdjson::ondemand::array array;
      if (auto error = value.get_array().get(array)) return error;
      for (auto element : array) {
        simdjson::ondemand::value inside;
        if (auto error = element.get(inside)) return error;
        if (auto error = skip_strictly(inside, depth + 1)) return error;
      }
      return simdjson::SUCCESS;
    }
    case json_type::string: {
      std::string_view text;
      return value.get_string().get(text);
    }
    case json_type::number: {
      simdjson::ondemand::number number;
      const auto error = value.get_number().get(number);
      // Beyond 64 bits is right JSON all the same, and nobody asked for the number.
      return error == simdjson::NUMBER_OUT_OF_RANGE ? simdjson::SUCCESS : error;
    }
    case json_type::boolean: {
      bool truth;
      return value.get_bool().get(truth);
    }
    case json_type::null: {
      bool null = false;
      if (auto error = value.is_null().get(null)) return error;
      return null ? simdjson::SUCCESS : simdjson::N_ATOM_ERROR;
    }
  }
  return simdjson::TAPE_ERROR;
}

const char* type_in_words(simdjson::ondemand::json_type type) {
  using simdjson::ondemand::json_type;
  switch (type) {
    case json_type::array: return "a list";
    case json_type::object: return "a map";
    case json_type::number: return "a number";
    case json_type::string: return "a text";
    case json_type::boolean: return "true or false";
    case json_type::null: return "null";
  }
  return "something else";
}

}  // namespace muster::support
