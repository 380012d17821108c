// The texts of a recording file: how a body or a file stands in YAML so that a person can read it and the same bytes come back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

// `key` with its value, as lines at `indent`; the first line has no indentation of its own where `first` is set (after "- ").
//   key: "text"             one line, with YAML's escapes
//   key: |                  several lines; '|-' and '|+' keep the newlines at the end as they are
//   key: {json: |}          JSON without blanks, laid out: the reader takes them out again
//   key: {base64: "..."}    what is not UTF-8
// `body` allows the form json.
std::string yaml_entry(std::string_view key, std::string_view value, size_t indent, bool body);

// A key or a text in double quotes.
std::string yaml_quote(std::string_view text);
// A key: bare where it can be.
std::string yaml_key(std::string_view text);

// JSON laid out one item a line. Only blanks outside of strings are added, so squeeze_json gives back a text that had none.
std::string lay_out_json(std::string_view json);
std::string squeeze_json(std::string_view json);

// "2026-01-31T12:00:00.123456789Z" and back; 1970 to 2261.
std::string time_text(int64_t time_ns);
std::optional<int64_t> parse_time(const std::string& text);

}  // namespace muster
