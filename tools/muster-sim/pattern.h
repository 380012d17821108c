#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "result.h"

namespace muster::sim {

// Texts of a scenario that stand for many:
//   {0..3}    counts from 0 to 3; {00..15} keeps the width; {3..0} counts down
//   {i}       the pod's place in its entry, from 0
//   {i/250%4+1}   whole-number arithmetic, from left to right
//   {i:04} {i:x}  with a width (zeros in front), or in hexadecimal
// Any other brace stays as it is.

// How many pods the ranges of a text stand for; nothing if it has no range.
// Fails if two ranges of the text differ in length, or one is longer than a million.
Result<std::optional<std::int64_t>> pattern_length(std::string_view text);

// The text for the pod at place i; i is below every range's length.
std::string expand_pattern(std::string_view text, std::int64_t i);

}  // namespace muster::sim
