// Texts and structs that a plugin pushes, as they crossed.
#pragma once

#include <string_view>

#include "core/plugin/guard.h"
#include "core/plugin/staging.h"

#include <fmt/format.h>

namespace muster {

// A text as pointer and size crossed (MP-4). `what` names it in the refusal.
Checked read_text(const char* text, uint64_t size, const char* what, std::string_view& out);

template <typename Struct>
Checked read_struct(const Struct* theirs, Struct& ours, const char* name) {
  if (theirs == nullptr) return Refusal{"MP-3", fmt::format("the {} is NULL", name)};
  if (copy_struct(theirs, ours)) return {};
  return Refusal{"MP-3", fmt::format("the struct_size of a {} is {}; it must be sizeof({})", name,
                                     ours.struct_size, name)};
}

}  // namespace muster
