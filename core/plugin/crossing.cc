#include "core/plugin/crossing.h"

#include <cstring>

#include "core/spec/quote.h"

namespace muster {

Checked read_any_text(const char* text, uint64_t size, const char* what, std::string_view& out) {
  out = {};
  if (text == nullptr) {
    if (size == 0 || size == MUSTER_NUL_TERMINATED) return {};
    return Refusal{"MP-4", fmt::format("{} is NULL with size {}", what, size)};
  }
  if (size == MUSTER_NUL_TERMINATED) {
    size = ::strnlen(text, kTextMaximum + 1);
    if (size > kTextMaximum)
      return Refusal{"MP-4", fmt::format("{} is longer than {} bytes or does not end with NUL",
                                         what, kTextMaximum)};
  } else if (size > kTextMaximum) {
    return Refusal{"MP-9", fmt::format("{} has {} bytes, more than {}", what, size, kTextMaximum)};
  }
  const std::string_view view(text, size);
  if (is_valid_text(view)) {
    out = view;
    return {};
  }
  if (const size_t nul = view.find('\0'); nul != std::string_view::npos) {
    return Refusal{"MP-4", fmt::format("{} has a NUL at byte {}: {}", what, nul, quote(view))};
  }
  return Refusal{"MP-4", fmt::format("{} is not valid UTF-8: {}", what, quote(view))};
}

}  // namespace muster
