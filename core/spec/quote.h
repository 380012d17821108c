// A text that somebody gave us, fit to be shown to people: in an error message, on a terminal, in a log. The core and the tools have no other
// function for it; plugins have quote() of plugins/support.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster {

// The text in single quotes. What is not for the eye becomes \xNN, byte by byte, so that a terminal and a log stay whole: control characters (C0
// with ESC and BEL, DEL, C1), the bidirectional embeddings, overrides and isolates (U+202A to U+202E, U+2066 to U+2069), the separators U+2028
// and U+2029, and bytes that are not UTF-8. Of a text longer than `most` bytes the beginning stands, with "..." after it.
std::string quote(std::string_view text, size_t most = 160);

// The text without quotes, made harmless in the same way. Of one longer than `most` bytes the beginning, with "... 123 bytes more" after it.
std::string printable(std::string_view text, size_t most = std::string_view::npos);

// The same of a text that has lines: line feeds and tabs stay.
std::string printable_lines(std::string_view text, size_t most = std::string_view::npos);

// The number of bytes of the well-formed UTF-8 character (RFC 3629) at the start of `text`; 0 when there is none.
size_t utf8_length(std::string_view text);

}  // namespace muster
