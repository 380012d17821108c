// Walking over a JSON document in one go, without keeping it. simdjson finds where its brackets and values begin; what nobody
// looks at is passed over by brackets, faster than simdjson's own walker does it. Knows nothing of networks.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>

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
  const uint32_t* at_;
};

// A key without its escapes undone: none that is looked for has any.
class Key {
 public:
  explicit Key(const char* text) : text_(text) {}
  // The first pass over the document has seen that the quote is there.
  std::string_view view() const {
    return {text_, static_cast<size_t>(static_cast<const char*>(rawmemchr(text_, '"')) - text_)};
  }
  template <size_t N>
  bool operator==(const char (&other)[N]) const {
    static_assert(N <= simdjson::SIMDJSON_PADDING);
    // Its end first, which tells nearly all keys apart.
    return text_[N - 1] == '"' && std::memcmp(text_, other, N - 1) == 0;
  }

 private:
  const char* text_;
};

// A document; keeps its buffers from one to the next. Not thread-safe.
class Walk {
 public:
  // Begins at its first value. `text` outlives what is read of it, and has 64 readable bytes behind its end.
  error_code open(std::string_view text);
  // Back to its first value, after open succeeded.
  void rewind();
  // Whether nothing follows.
  bool ended() const { return at_ == end_; }

  // What stands here, a bracket or the first byte of a value; NUL at the end.
  char peek() const { return at_ < end_ ? text_[*at_] : '\0'; }
  const char* here() const { return text_.data() + *at_; }
  bool take(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
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
  bool is_word(std::string_view word) const;
  bool ends_value(const char* at) const;
  error_code unescape(std::string_view quoted, std::string_view& out);

  simdjson::dom::parser parser_;
  std::string_view text_;
  const uint32_t* at_ = nullptr;  // of what the parser found
  const uint32_t* end_ = nullptr;
  simdjson::dom::parser escapes_;
  std::deque<std::string> unescaped_;
};

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
    if (walk.peek() != '"') return simdjson::TAPE_ERROR;
    const Key key(walk.here() + 1);
    walk.take('"');
    if (!walk.take(':')) return simdjson::TAPE_ERROR;
    value inside(walk);
    if (auto error = take(key, inside)) return error;
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
