// Walking over a JSON document in one go, without keeping it. What nobody looks at is passed over by its brackets alone, many bytes
// at a time; simdjson undoes escapes and says what is wrong. Knows nothing of networks.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>

#include "plugins/kubernetes/json_scan.h"

namespace muster::kubernetes::json {

using simdjson::error_code;
using simdjson::SUCCESS;

class Walk;

// What begins where the walk is. A value is read once, at once, or not at all.
class value {
 public:
  explicit value(Walk& walk);
  Walk& walk() const { return *walk_; }
  bool untouched() const;

 private:
  Walk* walk_;
  const char* at_;
};

// A key without its escapes undone: none that is looked for has any.
class Key {
 public:
  explicit Key(std::string_view text) : text_(text) {}
  std::string_view view() const { return text_; }
  template <size_t N>
  bool operator==(const char (&other)[N]) const {
    return text_.size() == N - 1 && std::memcmp(text_.data(), other, N - 1) == 0;
  }

 private:
  std::string_view text_;
};

// A document. What is looked at is JSON and UTF-8, or an error; of the rest only that it ends is looked at. Not thread-safe.
class Walk {
 public:
  // Begins at its first value. `text` outlives what is read of it.
  void open(std::string_view text);
  // Back to its first value.
  void rewind();
  // Whether nothing follows.
  bool ended() const { return at_ == end_; }

  // What stands here, a bracket or the first byte of a value; NUL at the end.
  char peek() const { return at_ != end_ ? *at_ : '\0'; }
  bool take(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    pass_blanks();
    return true;
  }
  // The key of a field, and its colon.
  error_code key(std::string_view& out);
  // Passes over the value that begins here.
  error_code skip();
  // The same, for its text.
  error_code raw(std::string_view& out);
  // Each reads a value of one kind; INCORRECT_TYPE where another begins here. A text is alive until the next document is opened.
  error_code text(std::string_view& out);
  error_code number(int64_t& out);
  error_code flag(bool& out);
  // null, of which there is nothing to read.
  error_code nothing();

 private:
  friend class value;
  void pass_blanks() {
    if (at_ != end_ && static_cast<unsigned char>(*at_) > ' ') return;
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }
  void go_on_at(const char* at) {
    at_ = at;
    pass_blanks();
  }
  bool is_word(std::string_view word) const;
  error_code quoted(std::string_view& out, bool& plain);
  error_code unescape(std::string_view quoted, std::string_view& out);

  const char *begin_ = nullptr, *at_ = nullptr, *end_ = nullptr;
  simdjson::dom::parser escapes_;
  std::deque<std::string> unescaped_;
};

inline error_code Walk::quoted(std::string_view& out, bool& plain) {
  const char* from = at_ + 1;
  const char* quote = find_quote(from, end_, plain);
  if (quote == nullptr) return simdjson::UNCLOSED_STRING;
  out = {from, static_cast<size_t>(quote - from)};
  go_on_at(quote + 1);
  return SUCCESS;
}

inline error_code Walk::key(std::string_view& out) {
  bool plain = false;
  if (peek() != '"') return simdjson::TAPE_ERROR;
  if (auto error = quoted(out, plain)) return error;
  return take(':') ? SUCCESS : simdjson::TAPE_ERROR;
}

inline value::value(Walk& walk) : walk_(&walk), at_(walk.at_) {}
inline bool value::untouched() const { return walk_->at_ == at_; }

// ---- What a value is to be; Go leaves out what is empty or writes it as null: both mean "not there" --------

// "" when there is none.
inline error_code read_view(value& value, std::string_view& out) {
  return value.walk().peek() == '"' ? value.walk().text(out) : value.walk().nothing();
}

inline error_code read_text(value& value, std::string& out) {
  std::string_view text;
  if (auto error = read_view(value, text)) return error;
  out.assign(text);
  return SUCCESS;
}

inline error_code read_flag(value& value, bool& out) {
  const char first = value.walk().peek();
  return first == 't' || first == 'f' ? value.walk().flag(out) : value.walk().nothing();
}

inline bool is_number(const value& value) {
  const char first = value.walk().peek();
  return first == '-' || (first >= '0' && first <= '9');
}

inline error_code read_number(value& value, int64_t& out) {
  return is_number(value) ? value.walk().number(out) : value.walk().nothing();
}

// Calls `take(key, value)` for each field of an object; a null is one without fields.
template <typename Take>
error_code each_field(value& fields, const Take& take) {
  Walk& walk = fields.walk();
  if (!walk.take('{')) return walk.nothing();
  if (walk.take('}')) return SUCCESS;
  do {
    std::string_view key;
    if (auto error = walk.key(key)) return error;
    value inside(walk);
    if (auto error = take(Key(key), inside)) return error;
    if (inside.untouched())
      if (auto error = walk.skip()) return error;
  } while (walk.take(','));
  return walk.take('}') ? SUCCESS : simdjson::TAPE_ERROR;
}

template <typename Take>
error_code each_element(value& elements, const Take& take) {
  Walk& walk = elements.walk();
  if (!walk.take('[')) return walk.nothing();
  if (walk.take(']')) return SUCCESS;
  do {
    value inside(walk);
    if (auto error = take(inside)) return error;
    if (inside.untouched())
      if (auto error = walk.skip()) return error;
  } while (walk.take(','));
  return walk.take(']') ? SUCCESS : simdjson::TAPE_ERROR;
}

}  // namespace muster::kubernetes::json
