// YamlTree: YAML text as a tree that knows where everything stands. No anchors, aliases or tags: a small hostile file stays small.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"

namespace muster {

struct YamlNode {
  enum class Kind { kNull, kScalar, kSequence, kMap };

  Kind kind = Kind::kNull;
  bool quoted = false;  // a scalar in quotes or in a block
  int line = 1;         // from 1
  int column = 1;
  std::string text;             // of a scalar
  std::vector<YamlNode> items;  // of a sequence; of a map, the values
  std::vector<YamlNode> keys;   // of a map, scalars, as many as items

  const YamlNode* find(std::string_view key) const;
};

// `name`:line:column: message.
Error yaml_error(const std::string& name, const YamlNode& at, const std::string& message);

// One document. kInvalidArgument with the place for what is not YAML, a second document, a key that is not a text or stands twice.
// kDeadlineExceeded: it was not read by then (nanoseconds of CLOCK_MONOTONIC; INT64_MAX: no deadline).
Result<YamlNode> parse_yaml_tree(std::string_view text, const std::string& name,
                                 int64_t deadline_ns = INT64_MAX);

}  // namespace muster
