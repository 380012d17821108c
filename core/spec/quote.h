// quote: a text somebody gave us, fit to stand in an error message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster {

// The text in single quotes. Control characters and bytes that are not UTF-8 become \xNN, so that a terminal
// and a log stay whole; of a text longer than `most` bytes the beginning stands, with "..." after it.
std::string quote(std::string_view text, size_t most = 160);

// The text without quotes and whole, made harmless in the same way: for terminals.
std::string printable(std::string_view text);

// The number of bytes of the well-formed UTF-8 character (RFC 3629) at the start of `text`; 0 when there is none.
size_t utf8_length(std::string_view text);

}  // namespace muster
