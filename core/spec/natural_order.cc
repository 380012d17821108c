#include "core/spec/natural_order.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/spec/cluster_spec.h"

namespace muster {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A run of digits taken off the front of a text.
struct Number {
  size_t zeros;             // leading ones; all of them when the value is 0
  std::string_view digits;  // without those; any length
};

Number take_number(std::string_view text, size_t& at) {
  const size_t start = at;
  while (at < text.size() && text[at] == '0') ++at;
  const size_t value = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  return {value - start, text.substr(value, at - value)};
}

// How many bytes both begin with.
size_t same_start(std::string_view a, std::string_view b) {
  const size_t least = std::min(a.size(), b.size());
  size_t at = 0;
  while (at + 8 <= least && std::memcmp(a.data() + at, b.data() + at, 8) == 0) at += 8;
  while (at < least && a[at] == b[at]) ++at;
  return at;
}

// Of what stands in a text from `at` on, where all texts are alike up to there and no number goes over it: a smaller key comes first,
// texts with equal keys are to be compared.
uint64_t order_key(std::string_view text, size_t at) {
  constexpr uint64_t kBefore = 1, kNumbers = 2, kLongNumber = UINT64_MAX - 1, kBehind = UINT64_MAX;
  constexpr size_t kDigits = 18;
  if (at == text.size()) return 0;
  if (!is_digit(text[at])) return static_cast<unsigned char>(text[at]) < '0' ? kBefore : kBehind;
  const Number number = take_number(text, at);
  if (number.digits.size() > kDigits) return kLongNumber;
  uint64_t value = 0;
  for (const char digit : number.digits) value = value * 10 + static_cast<uint64_t>(digit - '0');
  return kNumbers + value;
}

struct Place {
  uint64_t key;
  uint32_t at;
};

// By key, byte by byte from the lowest; equal ones stay in their order. Bytes that all keys share are passed over, and keys are
// mostly small numbers.
void sort_by_key(std::vector<Place>& places) {
  uint64_t some = 0, all = UINT64_MAX;
  for (const Place& place : places) {
    some |= place.key;
    all &= place.key;
  }
  std::vector<Place> sorted(places.size());
  for (unsigned shift = 0; shift < 64; shift += 8) {
    if (((some ^ all) >> shift & 0xff) == 0) continue;
    std::array<size_t, 257> starts{};
    for (const Place& place : places) ++starts[(place.key >> shift & 0xff) + 1];
    for (size_t byte = 1; byte < starts.size(); ++byte) starts[byte] += starts[byte - 1];
    for (const Place& place : places) sorted[starts[place.key >> shift & 0xff]++] = place;
    places.swap(sorted);
  }
}

}  // namespace

// The texts are compared as sequences of bytes and numbers; a number and another byte compare by their bytes,
// which puts every number on the same side. Only texts equal in all of it are told apart by their zeros, so the
// order is one of a pair of sequences: strict and total.
int natural_compare(std::string_view a, std::string_view b) {
  // Names of one job mostly begin alike: what is the same in both decides nothing, up to the number in which they part.
  size_t i = same_start(a, b);
  while (i > 0 && is_digit(a[i - 1])) --i;
  size_t j = i;
  int by_zeros = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const Number x = take_number(a, i);
      const Number y = take_number(b, j);
      if (x.digits.size() != y.digits.size()) return x.digits.size() < y.digits.size() ? -1 : 1;
      if (const int order = x.digits.compare(y.digits); order != 0) return order < 0 ? -1 : 1;
      if (by_zeros == 0 && x.zeros != y.zeros) by_zeros = x.zeros < y.zeros ? -1 : 1;
    } else {
      const auto x = static_cast<unsigned char>(a[i++]);
      const auto y = static_cast<unsigned char>(b[j++]);
      if (x != y) return x < y ? -1 : 1;
    }
  }
  if (i < a.size()) return 1;
  if (j < b.size()) return -1;
  return by_zeros;
}

std::vector<uint32_t> natural_order(const std::vector<std::string_view>& texts) {
  if (texts.empty()) return {};
  size_t same = texts[0].size();
  for (const std::string_view text : texts) same = same_start(texts[0].substr(0, same), text);
  while (same > 0 && is_digit(texts[0][same - 1])) --same;

  std::vector<Place> places;
  places.reserve(texts.size());
  for (const std::string_view text : texts)
    places.push_back({order_key(text, same), static_cast<uint32_t>(places.size())});
  const auto before = [&](const Place& a, const Place& b) {
    if (a.key != b.key) return a.key < b.key;
    const int order = natural_compare(texts[a.at], texts[b.at]);
    return order != 0 ? order < 0 : a.at < b.at;
  };
  if (!std::is_sorted(places.begin(), places.end(), before)) {
    const bool many = places.size() >= 256;
    if (many) sort_by_key(places);
    for (auto from = places.begin(); from != places.end();) {
      const auto end = std::find_if(
          from, places.end(), [&](const Place& place) { return many && place.key != from->key; });
      std::sort(from, end, before);
      from = end;
    }
  }

  std::vector<uint32_t> order;
  order.reserve(places.size());
  for (const Place& place : places) order.push_back(place.at);
  return order;
}

}  // namespace muster
