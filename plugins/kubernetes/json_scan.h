// Finding the ends of JSON's texts and brackets, many bytes at a time. Knows nothing of what is in them.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <bit>
#include <cstring>

namespace muster::kubernetes::json {

// The quote that ends the text whose first byte is at `at`; null: there is none before `end`. `plain`: the text is ASCII without
// escapes and control characters, so that it says what it looks like.
inline const char* find_quote(const char* at, const char* end, bool& plain) {
  plain = true;
  while (at != end) {
#if defined(__SSE2__)
    if (end - at >= 16) {
      __m128i bytes;
      std::memcpy(&bytes, at, sizeof bytes);
      const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
      const __m128i escape = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
      const __m128i odd =
          _mm_cmplt_epi8(bytes, _mm_set1_epi8(' '));  // signed: what is no ASCII too
      const int found = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, escape), odd));
      if (found == 0) {
        at += 16;
        continue;
      }
      at += std::countr_zero(static_cast<unsigned>(found));
    }
#endif
    const char byte = *at;
    if (byte == '"') return at;
    if (byte == '\\' || static_cast<signed char>(byte) < ' ') plain = false;
    if (byte == '\\' && ++at == end) break;
    ++at;
  }
  return nullptr;
}

// Behind the bracket that closes the one at `at`; null: there is none before `end`. Whether all in between is JSON is not looked at.
const char* pass_brackets(const char* at, const char* end);

}  // namespace muster::kubernetes::json
