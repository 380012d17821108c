#include "plugins/kubernetes/json_scan.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace muster::kubernetes::json {
namespace {

constexpr size_t kBlock = 64;

// Which of 64 bytes are what; the first is the lowest bit.
struct Block {
  uint64_t quotes = 0, backslashes = 0, opening = 0, closing = 0;
};

// What any processor can do.
struct Plain {
  static Block look(const char* at) {
    Block block;
    for (unsigned n = 0; n < kBlock; ++n) {
      const uint64_t bit = uint64_t{1} << n;
      switch (at[n]) {
        case '"': block.quotes |= bit; break;
        case '\\': block.backslashes |= bit; break;
        case '{':
        case '[': block.opening |= bit; break;
        case '}':
        case ']': block.closing |= bit; break;
        default: break;
      }
    }
    return block;
  }
};

#if defined(__x86_64__)
#define MUSTER_AVX2 __attribute__((target("avx2,popcnt,bmi")))
struct Avx2 {
  MUSTER_AVX2 static uint64_t equal(__m256i low, __m256i high, char wanted) {
    const __m256i all = _mm256_set1_epi8(wanted);
    const auto bits = [](int mask) { return uint64_t{static_cast<uint32_t>(mask)}; };
    return bits(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, all))) |
           bits(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, all))) << 32;
  }
  MUSTER_AVX2 static Block look(const char* at) {
    __m256i low, high;
    std::memcpy(&low, at, sizeof low);
    std::memcpy(&high, at + sizeof low, sizeof high);
    Block block;
    block.quotes = equal(low, high, '"');
    block.backslashes = equal(low, high, '\\');
    const __m256i fold = _mm256_set1_epi8(0x20);  // '[' is '{' then, ']' is '}'
    low = _mm256_or_si256(low, fold);
    high = _mm256_or_si256(high, fold);
    block.opening = equal(low, high, '{');
    block.closing = equal(low, high, '}');
    return block;
  }
};
#endif

// Each bit is set where an odd number of bits up to it was.
uint64_t inside_of(uint64_t quotes) {
  for (unsigned shift = 1; shift < 64; shift *= 2) quotes ^= quotes << shift;
  return quotes;
}

// What of 64 bytes is escaped; `first`: the first one is, and afterwards, whether the one behind them is.
inline uint64_t escaped_of(uint64_t backslashes, bool& first) {
  uint64_t escaped = first ? 1 : 0;
  first = false;
  for (; backslashes != 0; backslashes &= backslashes - 1) {
    const int n = std::countr_zero(backslashes);
    if ((escaped >> n & 1) != 0) continue;
    escaped |= n == 63 ? 0 : uint64_t{2} << n;
    first = first || n == 63;
  }
  return escaped;
}

template <typename How>
__attribute__((always_inline)) inline const char* pass(const char* begin, const char* end) {
  const auto size = static_cast<size_t>(end - begin);
  int64_t depth = 0;
  bool escaped = false;
  uint64_t inside = 0;  // all ones: the block begins within a text
  for (size_t at = 0; at < size; at += kBlock) {
    const char* from = begin + at;
    char last[kBlock];
    if (size - at < kBlock) {
      std::memset(last, 0, sizeof last);
      from = static_cast<const char*>(std::memcpy(last, from, size - at));
    }
    const Block block = How::look(from);
    const uint64_t text =
        inside_of(block.quotes & ~escaped_of(block.backslashes, escaped)) ^ inside;
    inside = -(text >> 63);
    const uint64_t opening = block.opening & ~text, closing = block.closing & ~text;
    const int down = std::popcount(closing);
    if (down < depth) {
      depth += std::popcount(opening) - down;
      continue;
    }
    for (uint64_t brackets = opening | closing; brackets != 0; brackets &= brackets - 1) {
      const uint64_t first = brackets & -brackets;
      depth += (opening & first) != 0 ? 1 : -1;
      if (depth == 0) return begin + at + std::countr_zero(first) + 1;
    }
  }
  return nullptr;
}

#if defined(__x86_64__)
MUSTER_AVX2 const char* pass_by_avx2(const char* at, const char* end) {
  return pass<Avx2>(at, end);
}
#endif

}  // namespace

const char* pass_brackets(const char* at, const char* end) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi")) return pass_by_avx2(at, end);
#endif
  return pass<Plain>(at, end);
}

}  // namespace muster::kubernetes::json
