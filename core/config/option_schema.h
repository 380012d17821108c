// Looking things up in the JSON Schema of a plugin's options: which schemas speak about a value, and what they say.
#pragma once

#include <rapidjson/fwd.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace muster::conf {

// Schemas that all (or some of which) speak about the same value: what allOf, anyOf, oneOf, if and $ref lead to is in it.
using Schemas = std::vector<const rapidjson::Value*>;

class OptionSchema {
 public:
  // An absent schema ("") accepts nothing but {}. kInvalidArgument: not JSON, too deep, or not an object.
  //
  // A schema that lists `properties` and says nothing about others means these alone at its top level: JSON Schema would
  // let a misspelt option pass.
  static Result<OptionSchema> parse(std::string_view json);

  OptionSchema(OptionSchema&&) noexcept;
  OptionSchema& operator=(OptionSchema&&) noexcept;
  ~OptionSchema();

  // For the validator: without `format`, which says nothing that binds and which valijson takes for a text always.
  const std::string& json() const { return json_; }

  // `alternatives`: with what speaks only in one case (anyOf, oneOf, if, then, else).
  Schemas root(bool alternatives = true) const;
  Schemas member(const Schemas& of, const std::string& key, bool alternatives = true) const;
  Schemas item(const Schemas& of, size_t index, bool alternatives = true) const;
  // Whether every item of a list has the same schemas, so that item() need be asked once.
  static bool items_alike(const Schemas& of);

  // Names under `properties`, in order, each once.
  static std::vector<std::string> property_names(const Schemas& of);
  // The value of this keyword in the first schema that has it, or null.
  static const rapidjson::Value* keyword(const Schemas& of, const char* name);
  static bool is_secret(const Schemas& of);

 private:
  OptionSchema();
  void expand(const rapidjson::Value& schema, bool alternatives, int depth, Schemas* out) const;

  std::unique_ptr<rapidjson::Document> document_;
  std::string json_;
};

}  // namespace muster::conf
