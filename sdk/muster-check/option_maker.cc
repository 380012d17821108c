#include "sdk/muster-check/option_maker.h"

#include <fmt/format.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <iterator>
#include <string_view>

namespace muster::check {
namespace {

using rapidjson::SizeType;
using rapidjson::Value;

constexpr int kDeepest = 6;

// What users write, rightly and wrongly. No '$': the core would look for a variable.
constexpr const char* kTexts[] = {
    "",
    "a",
    "worker",
    "10.0.0.1:8470",
    "[2001:db8::1]:2222",
    "::1",
    "host.example",
    ":",
    ":8470",
    "10.0.0.1:99999",
    "/nonexistent/file",
    "~/nonexistent",
    "relative/file",
    "http://127.0.0.1:9",
    "https://[::1]:9/path?query#fragment",
    "key=value,other in (a, b)",
    "=",
    ",",
    "-1",
    "0",
    "1e9",
    "{\"worker\": [\"a:1\"]}",
    "[",
    "null",
    "true",
    "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
    " a ",
    "a\nb",
    "a\tb",
    "\x01",
    "%2e%2e",
    "../../etc",
    "us-central1-b",
    "projects/p/zones/z",
    "*",
    "'\"\\",
};
constexpr int64_t kIntegers[] = {0,     1,  2,       3,          80,         8470,      65535,
                                 65536, -1, 1000000, 2147483647, 2147483648, INT64_MAX, INT64_MIN};

const Value* member(const Value& object, const char* key) {
  if (!object.IsObject()) return nullptr;
  const auto found = object.FindMember(key);
  return found == object.MemberEnd() ? nullptr : &found->value;
}

int64_t integer_or(const Value& schema, const char* key, int64_t other) {
  const Value* value = member(schema, key);
  return value != nullptr && value->IsInt64() ? value->GetInt64() : other;
}

std::string to_text(const Value& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return buffer.GetString();
}

bool is_secret(const Value& schema) {
  const Value* marked = member(schema, "writeOnly");
  return marked != nullptr && marked->IsBool() && marked->GetBool();
}

}  // namespace

OptionMaker::OptionMaker(const std::string& schema, uint64_t seed) : chance_(seed) {
  if (schema.empty() || schema_.Parse(schema.data(), schema.size()).HasParseError() ||
      !schema_.IsObject())
    schema_.SetObject();
}

Value OptionMaker::text_value(const std::string& text) {
  return Value(text.data(), static_cast<SizeType>(text.size()), made_.GetAllocator());
}

Value OptionMaker::secret_text() {
  return text_value(fmt::format("muster-check-{:016x}", chance_()));
}

Value OptionMaker::make_text(const Value& schema) {
  const int64_t least = integer_or(schema, "minLength", 0);
  // A pattern is met by words that look like names more often than by chance alone.
  const bool plain = member(schema, "pattern") != nullptr && below(4) != 0;
  std::string text = plain ? std::string(1, static_cast<char>('a' + below(26))) + "-1"
                           : kTexts[below(std::size(kTexts))];
  if (below(40) == 0) text.assign(60'000, 'x');
  while (static_cast<int64_t>(text.size()) < least) text += 'a';
  return text_value(text);
}

Value OptionMaker::make_integer(const Value& schema) {
  const int64_t least = integer_or(schema, "minimum", -10);
  const int64_t most = integer_or(schema, "maximum", INT64_MAX);
  switch (below(4)) {
    case 0: return Value(least);
    case 1: return Value(most);
    default: {
      const int64_t value = kIntegers[below(std::size(kIntegers))];
      return Value(value < least ? least : value > most ? most : value);
    }
  }
}

Value OptionMaker::make_object(const Value& schema, int depth) {
  auto& memory = made_.GetAllocator();
  Value object(rapidjson::kObjectType);
  if (const Value* properties = member(schema, "properties");
      properties != nullptr && properties->IsObject()) {
    const Value* required = member(schema, "required");
    // Few options at a time, so that those which exclude each other do not always meet.
    const uint64_t one_in = 1 + properties->MemberCount() / 3;
    for (const auto& [name, part] : properties->GetObject()) {
      bool wanted = below(one_in) == 0;
      if (required != nullptr && required->IsArray()) {
        for (const Value& must : required->GetArray()) wanted = wanted || must == name;
      }
      if (wanted) object.AddMember(Value(name, memory), make(part, depth + 1), memory);
    }
  }
  if (const Value* more = member(schema, "additionalProperties");
      more != nullptr && more->IsObject()) {
    for (uint64_t i = below(3); i > 0; --i) {
      Value name =
          text_value(below(2) == 0 ? fmt::format("job{}", i) : kTexts[below(std::size(kTexts))]);
      if (!object.HasMember(name)) object.AddMember(name, make(*more, depth + 1), memory);
    }
  }
  return object;
}

Value OptionMaker::make(const Value& schema, int depth) {
  auto& memory = made_.GetAllocator();
  if (!schema.IsObject() || depth > kDeepest) return Value(true);
  if (const Value* values = member(schema, "enum");
      values != nullptr && values->IsArray() && !values->Empty())
    return Value((*values)[static_cast<SizeType>(below(values->Size()))], memory);
  for (const char* key : {"oneOf", "anyOf"}) {
    const Value* cases = member(schema, key);
    if (cases != nullptr && cases->IsArray() && !cases->Empty() &&
        member(schema, "type") == nullptr)
      return make((*cases)[static_cast<SizeType>(below(cases->Size()))], depth + 1);
  }
  const Value* types = member(schema, "type");
  std::string type = "object";
  if (types != nullptr && types->IsString()) {
    type = types->GetString();
  } else if (types != nullptr && types->IsArray() && !types->Empty()) {
    const Value& one = (*types)[static_cast<SizeType>(below(types->Size()))];
    if (one.IsString()) type = one.GetString();
  } else if (member(schema, "properties") == nullptr) {
    return strange_value();
  }
  if (type == "object") return make_object(schema, depth);
  if (type == "string" && is_secret(schema)) return secret_text();
  if (type == "string") return make_text(schema);
  if (type == "integer") return make_integer(schema);
  if (type == "number") return Value(static_cast<double>(below(1000)) / 8 - 10);
  if (type == "boolean") return Value(below(2) == 0);
  if (type == "null") return Value();
  Value list(rapidjson::kArrayType);
  const Value* items = member(schema, "items");
  for (uint64_t i = below(4); i > 0; --i)
    list.PushBack(items != nullptr && items->IsObject() ? make(*items, depth + 1) : strange_value(),
                  memory);
  return list;
}

Value OptionMaker::strange_value() {
  switch (below(7)) {
    case 0: return Value();
    case 1: return Value(below(2) == 0);
    case 2: return Value(kIntegers[below(std::size(kIntegers))]);
    case 3: return Value(0.5);
    case 4: return Value(rapidjson::kArrayType);
    case 5: return Value(rapidjson::kObjectType);
    default: return text_value(kTexts[below(std::size(kTexts))]);
  }
}

std::string OptionMaker::right() {
  made_.SetNull();
  made_.GetAllocator().Clear();
  return to_text(make_object(schema_, 0));
}

std::string OptionMaker::wrong() {
  made_.SetNull();
  made_.GetAllocator().Clear();
  auto& memory = made_.GetAllocator();
  Value options = make_object(schema_, 0);
  Value* place = &options;
  // Somewhere down the options, by chance.
  while (place->IsObject() && place->MemberCount() > 0 && below(3) != 0)
    place =
        &(place->MemberBegin() + static_cast<std::ptrdiff_t>(below(place->MemberCount())))->value;
  if (place->IsObject() && below(2) == 0) {
    Value name = text_value(kTexts[below(std::size(kTexts))]);
    if (!place->HasMember(name)) place->AddMember(name, strange_value(), memory);
  } else if (place == &options) {
    options.AddMember("no_such_option", strange_value(), memory);
  } else {
    *place = strange_value();
  }
  return to_text(options);
}

std::vector<std::string> OptionMaker::with_each_secret(const std::string& options) {
  std::vector<std::string> all;
  const Value* properties = member(schema_, "properties");
  if (properties == nullptr || !properties->IsObject()) return all;
  for (const auto& [name, part] : properties->GetObject()) {
    if (!is_secret(part)) continue;
    made_.SetNull();
    made_.GetAllocator().Clear();
    if (made_.Parse(options.data(), options.size()).HasParseError() || !made_.IsObject())
      made_.SetObject();
    made_.RemoveMember(name);
    made_.AddMember(Value(name, made_.GetAllocator()), secret_text(), made_.GetAllocator());
    all.push_back(to_text(made_));
  }
  return all;
}

}  // namespace muster::check
