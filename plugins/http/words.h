// Small texts for messages, and comparing without case and locale.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::http {

// `text` in single quotes; what is not printable ASCII is shown as \xNN, what is longer than `most` is cut.
std::string quote(std::string_view text, size_t most = 200);

// The meaning of an errno in lower case, without the C library's locale: "connection refused".
std::string errno_words(int error);

// "1.5 s", "250 ms".
std::string duration_words(int64_t nanoseconds);

// ASCII only, whatever the locale of the process.
bool equal_ignoring_case(std::string_view a, std::string_view b);
std::string lower_case(std::string_view text);

// Without spaces and tabs at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace muster::http
