#include "core/format/emit.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/spec/quote.h"

namespace muster {
namespace {

// Bytes that may stand in a JSON string as they are.
constexpr std::array<bool, 256> make_plain() {
  std::array<bool, 256> plain{};
  for (unsigned c = 0x20; c < 0x7f; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}
constexpr std::array<bool, 256> kPlain = make_plain();

void append_unicode_escape(std::string& out, unsigned code) {
  const char* digits = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += digits[code >> shift & 0xf];
}

// One character that is not plain, from the front of `rest`. Returns its length.
size_t append_special(std::string& out, std::string_view rest) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(rest[i]); };
  switch (rest[0]) {
    case '"': out += "\\\""; return 1;
    case '\\': out += "\\\\"; return 1;
    case '\n': out += "\\n"; return 1;
    case '\t': out += "\\t"; return 1;
    case '\r': out += "\\r"; return 1;
    default: break;
  }
  const size_t length = utf8_length(rest);
  if (length == 0) {
    out += "\xef\xbf\xbd";
    return 1;
  }
  // The code of a character that some reader takes for a control or a line end, or that turns the text on a terminal around.
  unsigned code = 0x10000;
  if (length == 1) code = at(0);
  if (length == 2 && at(0) == 0xc2 && at(1) < 0xa0) code = at(1);
  if (length == 3) {
    const unsigned value = (at(0) & 0xfu) << 12 | (at(1) & 0x3fu) << 6 | (at(2) & 0x3fu);
    const bool turns = (value >= 0x202a && value <= 0x202e) || (value >= 0x2066 && value <= 0x2069);
    if (value == 0x2028 || value == 0x2029 || turns || value == 0xfeff || value >= 0xfffe)
      code = value;
  }
  if (code != 0x10000) {
    append_unicode_escape(out, code);
  } else {
    out.append(rest, 0, length);
  }
  return length;
}

// Whether YAML 1.1 and 1.2 read the bare word as this very text.
bool is_yaml_word(std::string_view text) {
  if (text.empty() || text.size() > 64 || text.back() == ':') return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool inner =
        (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '/' || c == ':';
    if (!letter && (i == 0 || !inner)) return false;
  }
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (const char* reserved : {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}) {
    if (lower == reserved) return false;
  }
  return true;
}

}  // namespace

void append_json(std::string& out, std::string_view text) {
  out += '"';
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    if (kPlain[static_cast<unsigned char>(text[at])]) {
      ++at;
      continue;
    }
    out.append(text, done, at - done);
    at += append_special(out, text.substr(at));
    done = at;
  }
  out.append(text, done);
  out += '"';
}

void append_number(std::string& out, int64_t value) {
  std::array<char, 20> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), end);
}

void Emitter::new_line(int depth) {
  if (!out_.empty()) out_ += '\n';
  // YAML's outermost members stand at the margin, JSON's inside the bracket.
  out_.append(2 * static_cast<size_t>(form_ == Form::kYaml ? depth : depth + 1), ' ');
}

void Emitter::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (depth_ == 0) return;
  Level& level = stack_[depth_ - 1];
  const bool lines = broken(depth_ - 1);
  if (form_ == Form::kJson || !lines) {
    if (!level.empty) out_ += lines ? "," : ", ";
    if (lines) new_line(depth_ - 1);
  } else {
    new_line(depth_ - 1);
    if (!level.map) out_ += "- ";
  }
  level.empty = false;
}

void Emitter::begin(char bracket, bool map) {
  const bool keyed = after_key_;
  before_value();
  const bool block = form_ == Form::kYaml && broken(depth_);
  // A block collection starts on the next line, so the blank after its key goes; an empty one is written by end().
  if (block && keyed) out_.pop_back();
  if (!block) out_ += bracket;
  stack_[depth_++] = Level{map, true};
}

void Emitter::end(char bracket) {
  const Level level = stack_[--depth_];
  if (form_ == Form::kYaml && broken(depth_)) {
    if (level.empty)
      out_ += level.map ? (depth_ == 0 ? "{}" : " {}") : (depth_ == 0 ? "[]" : " []");
    return;
  }
  if (broken(depth_) && !level.empty) new_line(depth_ - 1);
  out_ += bracket;
}

void Emitter::key(std::string_view name) {
  before_value();
  if (form_ == Form::kYaml && broken(depth_ - 1)) {
    plain_or_json(name);
  } else {
    append_json(out_, name);
  }
  out_ += ": ";
  after_key_ = true;
}

void Emitter::plain_or_json(std::string_view value) {
  if (form_ == Form::kYaml && is_yaml_word(value)) {
    out_ += value;
  } else {
    append_json(out_, value);
  }
}

void Emitter::text(std::string_view value) {
  before_value();
  if (depth_ > 0 && broken(depth_ - 1)) {
    plain_or_json(value);
  } else {
    append_json(out_, value);
  }
}

void Emitter::number(int64_t value) {
  before_value();
  append_number(out_, value);
}

void Emitter::boolean(bool value) { raw(value ? "true" : "false"); }

void Emitter::null() { raw("null"); }

void Emitter::raw(std::string_view json) {
  before_value();
  out_ += json;
}

std::string Emitter::take() && {
  out_ += '\n';
  return std::move(out_);
}

}  // namespace muster
