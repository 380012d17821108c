// Reads YAML into a Tree. None of yaml-cpp's exceptions leaves it.
#pragma once

#include <cstddef>
#include <string>

#include "core/config/config.h"
#include "core/config/problems.h"
#include "core/config/tree.h"

namespace muster::conf {

constexpr size_t kMaximumText = size_t{4} << 20;  // bytes
constexpr size_t kMaximumValues = 500000;         // with every alias counted as what it stands for
constexpr size_t kMaximumBytes = size_t{32} << 20;  // of scalars, likewise
constexpr size_t kMaximumDepth = 200;               // lists and mappings within each other

// Reads the one YAML document in bytes begin..end of problems->text() into `document`; places are bytes of the whole text.
// Whatever is wrong goes to `problems`: root is null when nothing can be made of the text.
//
// Scalars are typed by YAML 1.2's core schema, after ${VAR} in them (not in keys) got its value; one in quotes is a
// text whatever it looks like. A text without any value gives a kNull root.
void read_yaml(size_t begin, size_t end, const EnvironmentLookup& environment, Problems* problems,
               Tree* document);

}  // namespace muster::conf
