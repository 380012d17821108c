// Words about texts: quoting, places, and numbers read strictly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::support {

// 'text' for a message: at most `maximum` bytes of it (never half a character) and then an ellipsis;
// bytes that are no UTF-8, and characters that a terminal obeys (C0, C1, DEL, those of direction and of line ends), become \xNN.
std::string quote(std::string_view text, size_t maximum = 60);

// At most `maximum` bytes of a text in UTF-8, never half a character.
std::string_view shortened(std::string_view text, size_t maximum);

// Line and column of a place, both from 1; columns count characters.
struct Position {
  size_t line = 1;
  size_t column = 1;
};
Position position_of(std::string_view text, size_t offset);

// "3:14", as it stands behind the name of a source.
std::string to_string(Position position);

// A decimal number of ASCII digits alone, at most `maximum`; leading zeros are allowed.
std::optional<int64_t> parse_digits(std::string_view text, int64_t maximum);

// Without blanks (space, tab, CR, LF) at both ends.
std::string_view trimmed(std::string_view text);

// Natural order, the one by which the core ranks (MC-7): runs of digits compare as numbers, equal numbers with
// fewer leading zeros first, the rest as bytes. <0, 0, >0.
int natural_compare(std::string_view a, std::string_view b);

// Percent-encoded for a query's value: all but letters, digits and -._~ (RFC 3986).
std::string percent_encoded(std::string_view text);

// True for well-formed UTF-8 without NUL.
bool is_text(std::string_view text);

// What the core takes for the name of a job (MP-5): text of 1 to 255 bytes without control characters.
bool is_job_name(std::string_view name);

}  // namespace muster::support
