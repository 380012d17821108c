// Texts and structs that a plugin pushes, as they crossed.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/plugin/guard.h"
#include "core/plugin/staging.h"

#include <fmt/format.h>

namespace muster {

// Whether it is ASCII without NUL and of at most 64 bytes, as nearly all texts are.
inline bool is_short_ascii(const char* text, uint64_t size) {
  constexpr uint64_t kHigh = 0x8080808080808080, kOnes = 0x0101010101010101;
  if (size > 64 || text == nullptr) return false;
  uint64_t eight = 0, wrong = 0;
  const char* const end = text + size;
  for (; end - text >= 8; text += 8) {
    std::memcpy(&eight, text, 8);
    wrong |= eight | (eight - kOnes);  // of ASCII only a NUL borrows
  }
  for (; text != end; ++text) wrong |= static_cast<signed char>(*text) <= 0 ? kHigh : 0;
  return (wrong & kHigh) == 0;
}

// Any text as pointer and size crossed (MP-4). `what` names it in the refusal.
Checked read_any_text(const char* text, uint64_t size, const char* what, std::string_view& out);

inline Checked read_text(const char* text, uint64_t size, const char* what, std::string_view& out) {
  if (!is_short_ascii(text, size)) return read_any_text(text, size, what, out);
  out = {text, size};
  return {};
}

template <typename Struct>
Checked read_struct(const Struct* theirs, Struct& ours, const char* name) {
  if (theirs == nullptr) return Refusal{"MP-3", fmt::format("the {} is NULL", name)};
  if (copy_struct(theirs, ours)) return {};
  return Refusal{"MP-3", fmt::format("the struct_size of a {} is {}; it must be sizeof({})", name,
                                     ours.struct_size, name)};
}

}  // namespace muster
