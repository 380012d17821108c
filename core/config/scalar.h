// What a plain scalar is, by the core schema of YAML 1.2 (section 10.3.2), and ${VAR} within scalars.
#pragma once

#include <string>
#include <vector>

#include "core/config/config.h"
#include "core/config/problems.h"
#include "core/config/tree.h"
#include "core/config/variable_value.h"

namespace muster::conf {

// Sets kind and value from node->text: `8470` is a number, `true` a bool, `null`, `~` and nothing are null; `yes`,
// `on` and `1_000` are texts (YAML 1.1 had them otherwise).
void type_plain_scalar(Node* node);

struct Interpolated {
  std::string text;
  std::vector<VariableValue> variables;  // of which some of it is the value
  bool ok = true;                        // false: the problem is told
};

// Puts the values of ${VAR} and ${VAR:-default} in place (the default also when VAR is empty, as a shell does); $$ is a
// dollar, and any other dollar is itself. `offset` is where the scalar begins in the text, for the places of problems:
// a variable that is unset, an unfinished ${, a value that is not UTF-8.
Interpolated interpolate(const std::string& raw, size_t offset,
                         const EnvironmentLookup& environment, Problems* problems);

}  // namespace muster::conf
