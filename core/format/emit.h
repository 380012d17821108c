// Emitter: writes one document as JSON or as YAML, into one string.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

// Appends `text` as a JSON string with its quotes: valid JSON whatever the bytes are. Control characters (DEL and C1
// too, so that a terminal stays whole) become \u00NN, bytes that are not UTF-8 become U+FFFD.
void append_json(std::string& out, std::string_view text);
void append_number(std::string& out, int64_t value);

// The outer `levels` of a document get a line for each member; what lies deeper stands on one line. YAML takes the
// block form for the outer levels, and JSON, which is YAML, for the inner ones. Calls must nest: each begin has its end, a map's
// values follow their key.
class Emitter {
 public:
  enum class Form { kJson, kYaml };
  Emitter(Form form, int levels) : form_(form), levels_(levels) {}

  void begin_map() { begin('{', true); }
  void end_map() { end('}'); }
  void begin_list() { begin('[', false); }
  void end_list() { end(']'); }
  void key(std::string_view name);
  void text(std::string_view value);
  void number(int64_t value);
  void boolean(bool value);
  void null();
  // A value that is JSON on one line already.
  void raw(std::string_view json);

  // The document, with a line feed at its end.
  std::string take() &&;

 private:
  static constexpr int kMaxDepth = 16;
  struct Level {
    bool map = false;
    bool empty = true;
  };

  void begin(char bracket, bool map);
  void end(char bracket);
  void before_value();
  void new_line(int depth);
  bool broken(int depth) const {
    return depth < levels_;
  }  // whether members of this depth have lines of their own
  void plain_or_json(std::string_view value);

  Form form_;
  int levels_;
  std::string out_;
  Level stack_[kMaxDepth];
  int depth_ = 0;
  bool after_key_ = false;
};

}  // namespace muster
