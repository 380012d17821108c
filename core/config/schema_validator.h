// Whether a JSON text fits a JSON Schema (draft 7), by valijson. The only user of valijson.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace muster::conf {

// One thing that does not fit: where, as the keys and indices from the root, and valijson's word for what.
struct Finding {
  std::vector<std::string> path;
  std::string what;
};

struct Verdict {
  bool fits = false;
  std::vector<Finding>
      findings;  // may be empty although it does not fit: valijson names some reasons only
};

// kInvalidArgument: the schema is no JSON Schema that can be used; the message says why.
Result<Verdict> validate(std::string_view schema_json, std::string_view json);

}  // namespace muster::conf
