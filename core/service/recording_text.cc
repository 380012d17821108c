// The texts of a recording file.
#include "core/service/recording_text.h"

#include <time.h>

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "core/service/text.h"
#include "core/spec/quote.h"

namespace muster {
namespace {

constexpr int64_t kSecond_ns = 1'000'000'000;

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Walks over JSON, broken or not, and tells for each byte whether it is inside a string.
class JsonWalk {
 public:
  // To be asked once for each byte, in order: true inside of a string, its quotes included.
  bool in_string(char c) {
    if (!inside_) {
      inside_ = c == '"';
      return inside_;
    }
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      inside_ = false;
    }
    return true;
  }

 private:
  bool inside_ = false;
  bool escaped_ = false;
};

// Length of the character at the start of `text` when YAML takes it as it is; else 0.
size_t plain_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : 0;
  const size_t length = utf8_length(text);
  if (length == 2 && first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0)
    return 0;  // C1 controls, with NEL
  const std::string_view character = text.substr(0, length);
  // Line and paragraph separator, byte order mark, and the two that are no characters.
  for (const std::string_view special :
       {"\xE2\x80\xA8", "\xE2\x80\xA9", "\xEF\xBB\xBF", "\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    if (character == special) return 0;
  }
  return length;
}

// Whether the text can stand in a literal block, line by line.
bool fits_block(std::string_view text) {
  if (text.find('\n') == std::string_view::npos) return false;
  if (text.find_first_not_of('\n') == std::string_view::npos) return false;
  size_t line = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '\n') {
      // A line of blanks alone is read differently by different readers.
      if (at > line &&
          text.substr(line, at - line).find_first_not_of(" \t") == std::string_view::npos)
        return false;
      line = ++at;
      continue;
    }
    if (c == '\t') {
      if (at == line) return false;
      ++at;
      continue;
    }
    const size_t length = plain_character(text.substr(at));
    if (length == 0) return false;
    at += length;
  }
  return line == text.size() ||
         text.substr(line).find_first_not_of(" \t") != std::string_view::npos;
}

// "|", "|-" ... and the lines.
std::string block(std::string_view text, size_t indent) {
  std::string block = "|";
  if (text.front() == ' ' || text.front() == '\n') block += '2';
  const bool ends = text.back() == '\n';
  if (!ends) block += '-';
  if (ends && text.size() > 1 && text[text.size() - 2] == '\n') block += '+';
  block += '\n';
  block.reserve(text.size() + text.size() / 4);
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (!line.empty()) block.append(indent, ' ').append(line);
    block += '\n';
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return block;
}

// Begins and ends like an object or an array: worth laying out.
bool looks_like_json(std::string_view text) {
  if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return !text.empty() && (text.front() == '{' || text.front() == '[') &&
         (text.back() == '}' || text.back() == ']');
}

}  // namespace

std::string yaml_quote(std::string_view text) {
  std::string quoted = "\"";
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const size_t length = plain_character(text.substr(at));
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
      ++at;
    } else if (c == '\n') {
      quoted += "\\n";
      ++at;
    } else if (c == '\t') {
      quoted += "\\t";
      ++at;
    } else if (length > 0) {
      quoted.append(text.substr(at, length));
      at += length;
    } else {
      const size_t bytes = std::max<size_t>(utf8_length(text.substr(at)), 1);
      const auto byte = [&](size_t i) {
        return static_cast<uint32_t>(static_cast<unsigned char>(text[at + i]));
      };
      if (bytes == 1) quoted += fmt::format("\\x{:02x}", byte(0));
      if (bytes == 2) quoted += fmt::format("\\x{:02x}", (byte(0) & 31) << 6 | (byte(1) & 63));
      if (bytes == 3)
        quoted +=
            fmt::format("\\u{:04x}", (byte(0) & 15) << 12 | (byte(1) & 63) << 6 | (byte(2) & 63));
      if (bytes == 4) quoted.append(text.substr(at, 4));
      at += bytes;
    }
  }
  return quoted + '"';
}

std::string yaml_key(std::string_view text) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const bool bare = !text.empty() && letter(text.front()) && !equal_without_case(text, "null") &&
                    std::all_of(text.begin(), text.end(), [&](char c) {
                      return letter(c) || (c >= '0' && c <= '9') || c == '-';
                    });
  return bare ? std::string(text) : yaml_quote(text);
}

std::string yaml_entry(std::string_view key, std::string_view value, size_t indent, bool body) {
  const std::string head = yaml_key(key) + ": ";
  const std::string inner = fmt::format("{}:\n{:{}}", yaml_key(key), "", indent + 2);
  if (!is_utf8(value)) return fmt::format("{}base64: \"{}\"\n", inner, base64_encode(value));
  if (body && looks_like_json(value)) {
    const std::string laid_out = lay_out_json(value);
    // What is broken or has blanks of its own does not come back from being laid out.
    if (fits_block(laid_out) && squeeze_json(laid_out) == value)
      return inner + "json: " + block(laid_out, indent + 4);
  }
  if (fits_block(value)) return head + block(value, indent + 2);
  return head + yaml_quote(value) + '\n';
}

std::string lay_out_json(std::string_view json) {
  const bool newline = !json.empty() && json.back() == '\n';
  if (newline) json.remove_suffix(1);
  std::string out;
  out.reserve(json.size() * 2);
  JsonWalk walk;
  size_t depth = 0;
  const auto line = [&] {
    out += '\n';
    out.append(std::min<size_t>(depth, 64), ' ');
  };
  for (size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (walk.in_string(c)) {
      out += c;
      continue;
    }
    const char next = at + 1 < json.size() ? json[at + 1] : '\0';
    if ((c == '{' && next == '}') || (c == '[' && next == ']')) {
      out += c;
      out += next;
      ++at;
    } else if (c == '{' || c == '[') {
      out += c;
      ++depth;
      line();
    } else if (c == '}' || c == ']') {
      if (depth > 0) --depth;
      line();
      out += c;
    } else if (c == ',') {
      out += c;
      line();
    } else if (c == ':') {
      out += ": ";
    } else {
      out += c;
    }
  }
  if (newline) out += '\n';
  return out;
}

std::string squeeze_json(std::string_view json) {
  const bool newline = !json.empty() && json.back() == '\n';
  std::string out;
  out.reserve(json.size());
  JsonWalk walk;
  for (const char c : json) {
    if (walk.in_string(c) || !is_blank(c)) out += c;
  }
  if (newline) out += '\n';
  return out;
}

std::string time_text(int64_t time_ns) {
  const time_t seconds = time_ns / kSecond_ns;
  tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     time_ns % kSecond_ns);
}

std::optional<int64_t> parse_time(const std::string& text) {
  // The form of time_text and no other: what reads as a time but is another would be a quiet mistake.
  constexpr std::string_view form = "0000-00-00T00:00:00.000000000Z";
  if (text.size() != form.size()) return std::nullopt;
  for (size_t i = 0; i < form.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (form[i] == '0' ? !digit : text[i] != form[i]) return std::nullopt;
  }
  tm parts{};
  int nanoseconds = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d.%9dZ", &parts.tm_year, &parts.tm_mon,
                  &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec,
                  &nanoseconds) != 7) {
    return std::nullopt;
  }
  if (parts.tm_year < 1970 || parts.tm_year > 2261) return std::nullopt;
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  const int64_t time = int64_t{timegm(&parts)} * kSecond_ns + nanoseconds;
  return time_text(time) == text ? std::optional<int64_t>(time) : std::nullopt;  // no February 31
}

}  // namespace muster
