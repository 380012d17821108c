#include "plugins/kubernetes/json_walk.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

namespace muster::kubernetes::json {
namespace {

constexpr size_t kLeast = 64 << 10;

// How much deeper a bracket leads.
constexpr std::array<int8_t, 256> kDeeper = [] {
  std::array<int8_t, 256> deeper = {};
  deeper['{'] = deeper['['] = 1;
  deeper['}'] = deeper[']'] = -1;
  return deeper;
}();

}  // namespace

error_code Walk::open(std::string_view text) {
  at_ = end_ = nullptr;
  text_ = text;
  unescaped_.clear();
  if (parser_.capacity() < text.size() || parser_.implementation == nullptr) {
    // Exactly as much as is needed would be too little again for the next.
    const size_t enough = std::bit_ceil(std::max(text.size(), kLeast));
    if (auto error = parser_.allocate(enough)) return error;
  }
  auto& found = *parser_.implementation;
  if (auto error = found.stage1(reinterpret_cast<const uint8_t*>(text.data()), text.size(),
                                simdjson::stage1_mode::regular))
    return error;
  rewind();
  end_ = at_ + found.n_structural_indexes;
  return SUCCESS;
}

void Walk::rewind() { at_ = parser_.implementation->structural_indexes.get(); }

error_code Walk::skip() {
  switch (peek()) {
    case '\0':
    case ',':
    case ':':
    case ']':
    case '}': return simdjson::TAPE_ERROR;
    case '{':
    case '[': break;
    default: ++at_; return SUCCESS;
  }
  const char* text = text_.data();
  const uint32_t* at = at_;
  for (int depth = 0; at != end_;) {
    depth += kDeeper[static_cast<unsigned char>(text[*at++])];
    if (depth == 0) {
      at_ = at;
      return SUCCESS;
    }
  }
  return simdjson::INCOMPLETE_ARRAY_OR_OBJECT;
}

error_code Walk::raw(std::string_view& out) {
  const uint32_t* from = at_;
  if (auto error = skip()) return error;
  // Up to what follows, without blanks; a container ends with its bracket.
  const size_t end = at_ < end_ ? *at_ : text_.size();
  out = text_.substr(*from, end - *from);
  out = out.substr(0, out.find_last_not_of(" \t\r\n") + 1);
  return SUCCESS;
}

error_code Walk::text(std::string_view& out) {
  const char* from = here() + 1;
  const char* end = static_cast<const char*>(rawmemchr(from, '"'));
  out = {from, static_cast<size_t>(end - from)};
  if (std::memchr(from, '\\', out.size()) != nullptr) {
    for (end = from; *end != '"'; ++end)
      if (*end == '\\') ++end;
    if (auto error = unescape({from - 1, static_cast<size_t>(end - from) + 2}, out)) return error;
    // No name, address or reason has a NUL in it, and none may cross with one (MP-4).
    if (out.find('\0') != std::string_view::npos) return simdjson::STRING_ERROR;
  }
  ++at_;
  return SUCCESS;
}

error_code Walk::unescape(std::string_view quoted, std::string_view& out) {
  const simdjson::padded_string copy(quoted);
  if (auto error = escapes_.parse(copy).get_string().get(out)) return error;
  out = unescaped_.emplace_back(out);
  return SUCCESS;
}

bool Walk::ends_value(const char* at) const {
  return at == text_.data() + text_.size() ||
         std::string_view(",:]} \t\r\n").find(*at) != std::string_view::npos;
}

bool Walk::is_word(std::string_view word) const {
  const auto left = text_.substr(*at_);
  return left.starts_with(word) && ends_value(left.data() + word.size());
}

error_code Walk::number(int64_t& out) {
  const char* from = here();
  const auto [end, error] = std::from_chars(from, text_.data() + text_.size(), out);
  const char* digits = from + (*from == '-' ? 1 : 0);
  if (error != std::errc() || (*digits == '0' && end - digits > 1)) return simdjson::NUMBER_ERROR;
  if (!ends_value(end)) return simdjson::INCORRECT_TYPE;
  ++at_;
  return SUCCESS;
}

error_code Walk::flag(bool& out) {
  out = is_word("true");
  if (!out && !is_word("false")) return simdjson::T_ATOM_ERROR;
  ++at_;
  return SUCCESS;
}

error_code Walk::nothing() {
  if (peek() != 'n') return peek() == '\0' ? simdjson::TAPE_ERROR : simdjson::INCORRECT_TYPE;
  if (!is_word("null")) return simdjson::N_ATOM_ERROR;
  ++at_;
  return SUCCESS;
}

}  // namespace muster::kubernetes::json
