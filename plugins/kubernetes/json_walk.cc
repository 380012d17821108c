#include "plugins/kubernetes/json_walk.h"

#include <charconv>

namespace muster::kubernetes::json {
namespace {

// Of a number or a word: what cannot be in it.
bool ends_value(const char* at, const char* end) {
  if (at == end) return true;
  switch (*at) {
    case ',':
    case ':':
    case ']':
    case '}':
    case '[':
    case '{':
    case '"':
    case ' ':
    case '\t':
    case '\r':
    case '\n': return true;
    default: return false;
  }
}

}  // namespace

void Walk::open(std::string_view text) {
  begin_ = text.data();
  end_ = begin_ + text.size();
  unescaped_.clear();
  rewind();
}

void Walk::rewind() { go_on_at(begin_); }

error_code Walk::skip() {
  switch (peek()) {
    case '\0':
    case ',':
    case ':':
    case ']':
    case '}': return simdjson::TAPE_ERROR;
    case '{':
    case '[': {
      const char* behind = pass_brackets(at_, end_);
      if (behind == nullptr) return simdjson::INCOMPLETE_ARRAY_OR_OBJECT;
      go_on_at(behind);
      return SUCCESS;
    }
    case '"': {
      std::string_view text;
      bool plain = false;
      return quoted(text, plain);
    }
    default: break;
  }
  const char* at = at_;
  while (!ends_value(at, end_)) ++at;
  go_on_at(at);
  return SUCCESS;
}

error_code Walk::raw(std::string_view& out) {
  const char* from = at_;
  if (auto error = skip()) return error;
  out = {from, static_cast<size_t>(at_ - from)};
  out = out.substr(0, out.find_last_not_of(" \t\r\n") + 1);
  return SUCCESS;
}

error_code Walk::text(std::string_view& out) {
  if (peek() != '"') return simdjson::INCORRECT_TYPE;
  bool plain = false;
  if (auto error = quoted(out, plain)) return error;
  if (plain) return SUCCESS;
  if (auto error = unescape({out.data() - 1, out.size() + 2}, out)) return error;
  // No name, address or reason has a NUL in it, and none may cross with one (MP-4).
  return out.find('\0') == std::string_view::npos ? SUCCESS : simdjson::STRING_ERROR;
}

error_code Walk::unescape(std::string_view quoted, std::string_view& out) {
  const simdjson::padded_string copy(quoted);
  if (auto error = escapes_.parse(copy).get_string().get(out)) return error;
  out = unescaped_.emplace_back(out);
  return SUCCESS;
}

bool Walk::is_word(std::string_view word) const {
  return std::string_view(at_, static_cast<size_t>(end_ - at_)).starts_with(word) &&
         ends_value(at_ + word.size(), end_);
}

error_code Walk::number(int64_t& out) {
  const auto [end, error] = std::from_chars(at_, end_, out);
  if (error != std::errc()) return simdjson::NUMBER_ERROR;
  const char* digits = at_ + (*at_ == '-' ? 1 : 0);
  if (*digits == '0' && end - digits > 1) return simdjson::NUMBER_ERROR;
  if (!ends_value(end, end_)) return simdjson::INCORRECT_TYPE;
  go_on_at(end);
  return SUCCESS;
}

error_code Walk::flag(bool& out) {
  out = is_word("true");
  if (!out && !is_word("false")) return simdjson::T_ATOM_ERROR;
  go_on_at(at_ + (out ? 4 : 5));
  return SUCCESS;
}

error_code Walk::nothing() {
  if (peek() != 'n') return peek() == '\0' ? simdjson::TAPE_ERROR : simdjson::INCORRECT_TYPE;
  if (!is_word("null")) return simdjson::N_ATOM_ERROR;
  go_on_at(at_ + 4);
  return SUCCESS;
}

}  // namespace muster::kubernetes::json
