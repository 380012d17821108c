// The options of one use of a backend: checked against the plugin's schema, and made the JSON text the plugin gets.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/config/config.h"
#include "core/config/option_schema.h"
#include "core/config/problems.h"
#include "core/config/schema_validator.h"
#include "core/config/tree.h"

namespace muster::conf {

struct CheckedOptions {
  std::string json;                   // an object, with the defaults of the schema
  std::vector<std::string> secrets;   // texts of what the schema marks writeOnly, each once
  std::map<std::string, Mark> marks;  // of values by JSON pointer; the first 4096 of large options
  std::map<std::string, std::vector<VariableValue>> variables;  // of values with ${VAR} in them
};

// `options` may be null (none were written): then `place`, that of the backend's name, stands for theirs. What does not fit is
// told to `problems`, in which the places of secrets are hidden, also those of wrong ones.
CheckedOptions check_options(const std::string& backend, const OptionSchema& schema,
                             const Node* options, size_t place, Problems* problems);

// Hides a value with all within it.
void hide_value(const Node& node, Problems* problems);

// Hides every value whose key sounds like a secret's: for options whose schema is not known.
void hide_what_sounds_secret(const Node& node, Problems* problems);

// The second half of check_options: says in words what the validator found.
struct Explained {
  const std::string& backend;
  const OptionSchema& schema;
  const Node* options;  // null: none
  size_t place;
};
void explain(const Explained& what, const Verdict& verdict, Problems* problems);

}  // namespace muster::conf
