#include "core/config/option_schema.h"

#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <rapidjson/pointer.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <map>

namespace muster::conf {
namespace {

using rapidjson::Value;

constexpr int kMaximumDepth = 100;       // of a schema's text
constexpr int kMaximumReferences = 32;   // $ref, allOf ... one behind the other
constexpr size_t kMaximumSchemas = 200;  // that speak about one value

bool too_deep(const Value& value, int depth) {
  if (depth > kMaximumDepth) return true;
  if (value.IsObject()) {
    for (const auto& member : value.GetObject()) {
      if (too_deep(member.value, depth + 1)) return true;
    }
  } else if (value.IsArray()) {
    for (const Value& item : value.GetArray()) {
      if (too_deep(item, depth + 1)) return true;
    }
  }
  return false;
}

// Removes `format` wherever it is a keyword, not the name of a property.
void drop_format(Value& schema) {
  if (schema.IsArray()) {
    for (Value& item : schema.GetArray()) drop_format(item);
    return;
  }
  if (!schema.IsObject()) return;
  schema.RemoveMember("format");
  for (auto& member : schema.GetObject()) {
    const std::string_view name(member.name.GetString(), member.name.GetStringLength());
    if (name == "properties" || name == "patternProperties" || name == "definitions" ||
        name == "dependencies") {
      if (!member.value.IsObject()) continue;
      for (auto& named : member.value.GetObject()) drop_format(named.value);
    } else if (name != "enum" && name != "const" && name != "default" && name != "examples") {
      drop_format(member.value);
    }
  }
}

const Value* find(const Value& object, const char* name) {
  if (!object.IsObject()) return nullptr;
  const auto found = object.FindMember(name);
  return found == object.MemberEnd() ? nullptr : &found->value;
}

// Finds schemas that lead back to themselves about the same value ({"$ref": "#"}): valijson would never end.
class Loops {
 public:
  explicit Loops(const Value& root) : root_(root) {}

  // Looks at every object of the text, wherever a $ref may lead.
  bool anywhere(const Value& value) {
    if (value.IsArray()) {
      return std::any_of(value.Begin(), value.End(),
                         [this](const Value& item) { return anywhere(item); });
    }
    if (!value.IsObject()) return false;
    if (from(value, 0)) return true;
    return std::any_of(value.MemberBegin(), value.MemberEnd(),
                       [this](const auto& member) { return anywhere(member.value); });
  }

 private:
  enum class State { kOpen, kDone };

  bool from(const Value& schema, int steps) {
    if (!schema.IsObject()) return false;
    if (steps > kMaximumDepth) return true;
    const auto [known, added] = states_.emplace(&schema, State::kOpen);
    if (!added) return known->second == State::kOpen;
    if (const Value* reference = find(schema, "$ref");
        reference != nullptr && reference->IsString()) {
      const rapidjson::Pointer pointer(reference->GetString(), reference->GetStringLength());
      const Value* target = pointer.IsValid() ? pointer.Get(root_) : nullptr;
      if (target != nullptr && from(*target, steps + 1)) return true;
    }
    for (const char* name : {"allOf", "anyOf", "oneOf", "not", "if", "then", "else"}) {
      const Value* next = find(schema, name);
      if (next == nullptr) continue;
      if (!next->IsArray()) {
        if (from(*next, steps + 1)) return true;
        continue;
      }
      for (const Value& one : next->GetArray()) {
        if (from(one, steps + 1)) return true;
      }
    }
    states_[&schema] = State::kDone;
    return false;
  }

  const Value& root_;
  std::map<const Value*, State> states_;
};

}  // namespace

OptionSchema::OptionSchema() : document_(std::make_unique<rapidjson::Document>()) {}
OptionSchema::OptionSchema(OptionSchema&&) noexcept = default;
OptionSchema& OptionSchema::operator=(OptionSchema&&) noexcept = default;
OptionSchema::~OptionSchema() = default;

Result<OptionSchema> OptionSchema::parse(std::string_view json) {
  if (json.empty()) json = R"({"type": "object", "additionalProperties": false})";
  OptionSchema schema;
  rapidjson::Document& document = *schema.document_;
  document.Parse<rapidjson::kParseIterativeFlag>(json.data(), json.size());
  if (document.HasParseError()) {
    return Error{Code::kInvalidArgument,
                 fmt::format("not JSON: {} at byte {}",
                             rapidjson::GetParseError_En(document.GetParseError()),
                             document.GetErrorOffset()),
                 {}};
  }
  if (!document.IsObject()) return Error{Code::kInvalidArgument, "not an object", {}};
  if (too_deep(document, 0)) {
    return Error{
        Code::kInvalidArgument, fmt::format("more than {} levels deep", kMaximumDepth), {}};
  }
  if (Loops(document).anywhere(document))
    return Error{Code::kInvalidArgument, "a '$ref' leads back to itself", {}};
  drop_format(document);
  bool open = !document.HasMember("properties");
  for (const char* name :
       {"additionalProperties", "patternProperties", "allOf", "anyOf", "oneOf", "if", "$ref"}) {
    open = open || document.HasMember(name);
  }
  if (!open) document.AddMember("additionalProperties", false, document.GetAllocator());

  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  document.Accept(writer);
  schema.json_.assign(buffer.GetString(), buffer.GetSize());
  return schema;
}

void OptionSchema::expand(const Value& schema, bool alternatives, int depth, Schemas* out) const {
  if (!schema.IsObject() || depth > kMaximumReferences || out->size() >= kMaximumSchemas) return;
  if (const Value* reference = find(schema, "$ref");
      reference != nullptr && reference->IsString()) {
    // In draft 7 nothing beside a $ref counts; writeOnly and description there are common all the same.
    out->push_back(&schema);
    const rapidjson::Pointer pointer(reference->GetString(), reference->GetStringLength());
    if (pointer.IsValid()) {
      if (const Value* target = pointer.Get(*document_))
        expand(*target, alternatives, depth + 1, out);
    }
    return;
  }
  out->push_back(&schema);
  const auto each = [&](const char* name) {
    const Value* list = find(schema, name);
    if (list == nullptr || !list->IsArray()) return;
    for (const Value& one : list->GetArray()) expand(one, alternatives, depth + 1, out);
  };
  each("allOf");
  if (!alternatives) return;
  each("anyOf");
  each("oneOf");
  for (const char* name : {"if", "then", "else"}) {
    if (const Value* one = find(schema, name)) expand(*one, alternatives, depth + 1, out);
  }
}

Schemas OptionSchema::root(bool alternatives) const {
  Schemas out;
  expand(*document_, alternatives, 0, &out);
  return out;
}

Schemas OptionSchema::member(const Schemas& of, const std::string& key, bool alternatives) const {
  Schemas out;
  for (const Value* schema : of) {
    const Value* properties = find(*schema, "properties");
    if (properties != nullptr) {
      if (const Value* one = find(*properties, key.c_str())) {
        expand(*one, alternatives, 0, &out);
        continue;
      }
    }
    // Whichever pattern fits: a secret must not be missed.
    if (const Value* patterns = find(*schema, "patternProperties");
        patterns != nullptr && patterns->IsObject()) {
      for (const auto& pattern : patterns->GetObject())
        expand(pattern.value, alternatives, 0, &out);
    }
    if (const Value* others = find(*schema, "additionalProperties"))
      expand(*others, alternatives, 0, &out);
  }
  return out;
}

Schemas OptionSchema::item(const Schemas& of, size_t index, bool alternatives) const {
  Schemas out;
  for (const Value* schema : of) {
    const Value* items = find(*schema, "items");
    if (items != nullptr && items->IsArray()) {
      const auto at = static_cast<rapidjson::SizeType>(index);
      if (index < items->Size()) {
        expand((*items)[at], alternatives, 0, &out);
      } else if (const Value* others = find(*schema, "additionalItems")) {
        expand(*others, alternatives, 0, &out);
      }
    } else if (items != nullptr) {
      expand(*items, alternatives, 0, &out);
    }
    if (alternatives) {
      if (const Value* contained = find(*schema, "contains"))
        expand(*contained, alternatives, 0, &out);
    }
  }
  return out;
}

bool OptionSchema::items_alike(const Schemas& of) {
  return std::none_of(of.begin(), of.end(), [](const Value* schema) {
    const Value* items = find(*schema, "items");
    return items != nullptr && items->IsArray();
  });
}

std::vector<std::string> OptionSchema::property_names(const Schemas& of) {
  std::vector<std::string> names;
  for (const Value* schema : of) {
    const Value* properties = find(*schema, "properties");
    if (properties == nullptr || !properties->IsObject()) continue;
    for (const auto& property : properties->GetObject()) {
      std::string name(property.name.GetString(), property.name.GetStringLength());
      if (std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(std::move(name));
    }
  }
  return names;
}

const Value* OptionSchema::keyword(const Schemas& of, const char* name) {
  for (const Value* schema : of) {
    if (const Value* value = find(*schema, name)) return value;
  }
  return nullptr;
}

bool OptionSchema::is_secret(const Schemas& of) {
  return std::any_of(of.begin(), of.end(), [](const Value* schema) {
    const Value* value = find(*schema, "writeOnly");
    return value != nullptr && value->IsTrue();
  });
}

}  // namespace muster::conf
