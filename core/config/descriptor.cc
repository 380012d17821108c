#include "core/config/descriptor.h"

// A descriptor nests as deep as its author likes: the iterative parser needs no stack for it.
#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "core/config/backend_names.h"
#include "core/spec/cluster_spec.h"

namespace muster {
namespace {

using rapidjson::Value;

constexpr size_t kSizeMaximum = 1u << 20;
constexpr int kDepthMaximum = 100;

Error wrong(std::string_view what) {
  return {Code::kInvalidArgument,
          fmt::format("the descriptor is wrong: {} (MP-2)", what),
          {{"duty", "MP-2"}}};
}

const char* type_name(const Value& value) {
  switch (value.GetType()) {
    case rapidjson::kNullType: return "null";
    case rapidjson::kFalseType:
    case rapidjson::kTrueType: return "a boolean";
    case rapidjson::kObjectType: return "an object";
    case rapidjson::kArrayType: return "an array";
    case rapidjson::kStringType: return "a text";
    case rapidjson::kNumberType: return "a number";
  }
  return "something else";
}

// Line and column, from 1, of an offset.
std::pair<size_t, size_t> place_of(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const size_t line = 1 + static_cast<size_t>(std::count(before.begin(), before.end(), '\n'));
  const size_t start = before.rfind('\n');
  return {line, before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1};
}

// rapidjson's tree is walked and written by recursion, so its depth is checked on the text.
bool nests_too_deep(std::string_view json) {
  int depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kDepthMaximum) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

// Reads the known keys of the top object; the first error is kept.
class Fields {
 public:
  explicit Fields(const Value& object) : object_(object) {}

  std::string text(const char* key, bool required) {
    const Value* value = find(key, required);
    if (value == nullptr) return {};
    if (!value->IsString()) {
      fail(fmt::format("'{}' is {}, not a text", key, type_name(*value)));
      return {};
    }
    std::string text(value->GetString(), value->GetStringLength());
    if (text.find('\0') != std::string::npos) fail(fmt::format("'{}' has a NUL character", key));
    if (required && text.empty()) fail(fmt::format("'{}' is empty", key));
    return text;
  }
  std::vector<std::string> texts(const char* key) {
    const Value* value = find(key, false);
    std::vector<std::string> all;
    if (value == nullptr) return all;
    if (!value->IsArray()) {
      fail(fmt::format("'{}' is {}, not an array of texts", key, type_name(*value)));
      return all;
    }
    for (const Value& element : value->GetArray()) {
      if (!element.IsString()) {
        fail(fmt::format("'{}' has {} in it, not only texts", key, type_name(element)));
        return {};
      }
      all.emplace_back(element.GetString(), element.GetStringLength());
    }
    return all;
  }
  const Value* object(const char* key, bool required) {
    const Value* value = find(key, required);
    if (value != nullptr && !value->IsObject()) {
      fail(fmt::format("'{}' is {}, not an object", key, type_name(*value)));
      return nullptr;
    }
    return value;
  }
  void fail(std::string what) {
    if (!error_) error_ = std::move(what);
  }
  const std::optional<std::string>& error() const { return error_; }

 private:
  // The value of a key, which may stand once.
  const Value* find(const char* key, bool required) {
    const Value* found = nullptr;
    for (const auto& member : object_.GetObject()) {
      if (std::string_view(member.name.GetString(), member.name.GetStringLength()) != key) continue;
      if (found != nullptr) fail(fmt::format("'{}' stands twice", key));
      found = &member.value;
    }
    if (found == nullptr && required) fail(fmt::format("'{}' is missing", key));
    return found;
  }

  const Value& object_;
  std::optional<std::string> error_;
};

uint32_t version_number(const Value& abi, const char* key, Fields& fields) {
  const auto member = abi.FindMember(key);
  if (member == abi.MemberEnd()) {
    fields.fail(fmt::format("'abi' has no '{}'", key));
    return 0;
  }
  if (!member->value.IsUint()) {
    fields.fail(fmt::format("'abi.{}' is not a whole number from 0 to {}", key,
                            std::numeric_limits<uint32_t>::max()));
    return 0;
  }
  return member->value.GetUint();
}

}  // namespace

Result<Descriptor> parse_descriptor(std::string_view json) {
  if (json.size() > kSizeMaximum)
    return wrong(fmt::format("it has {} bytes, more than {}", json.size(), kSizeMaximum));
  if (nests_too_deep(json)) return wrong(fmt::format("it nests deeper than {}", kDepthMaximum));
  rapidjson::Document document;
  // Not kParseFullPrecisionFlag: with it rapidjson 1.1.0 asserts on numbers that are too large for a double. A number of the
  // schema may so change in its last bit.
  document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(
      json.data(), json.size());
  if (document.HasParseError()) {
    const auto [line, column] = place_of(json, document.GetErrorOffset());
    return wrong(fmt::format("it is not JSON: line {}, column {}: {}", line, column,
                             rapidjson::GetParseError_En(document.GetParseError())));
  }
  if (!document.IsObject())
    return wrong(fmt::format("it is {}, not an object", type_name(document)));

  Fields fields(document);
  Descriptor descriptor;
  descriptor.name = fields.text("name", true);
  if (!fields.error() && !is_backend_name(descriptor.name)) {
    fields.fail(fmt::format("'name' is '{}': {}", descriptor.name, kBackendNameRule));
  }
  descriptor.version = fields.text("version", true);
  if (const Value* abi = fields.object("abi", true)) {
    descriptor.abi_major = version_number(*abi, "major", fields);
    descriptor.abi_minor = version_number(*abi, "minor", fields);
  }
  descriptor.description = fields.text("description", false);
  descriptor.homepage = fields.text("homepage", false);
  descriptor.license = fields.text("license", false);
  descriptor.extensions = fields.texts("extensions");
  descriptor.services = fields.texts("services");
  descriptor.environment = fields.texts("environment");
  descriptor.options_schema = R"({"type":"object","additionalProperties":false})";
  if (const Value* options = fields.object("options", false)) {
    rapidjson::StringBuffer buffer;
    rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
    // A number beyond all doubles (4.5e309) is read as infinite, which JSON cannot say.
    if (!options->Accept(writer)) return wrong("a number in 'options' is too large");
    descriptor.options_schema.assign(buffer.GetString(), buffer.GetSize());
  }
  descriptor.json = json;
  if (fields.error()) return wrong(*fields.error());
  // rapidjson takes an escape of half a character ("\udd27" alone), which is no UTF-8.
  for (const std::string* text :
       {&descriptor.version, &descriptor.description, &descriptor.homepage, &descriptor.license,
        &descriptor.options_schema}) {
    if (!is_valid_text(*text)) {
      return wrong(
          "a text in it is not UTF-8 without NUL: does an escape stand for half a character?");
    }
  }
  return descriptor;
}

}  // namespace muster
