// Texts as they cross the plugin ABI, and the few encodings the services need.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

// A text passed by a plugin: pointer with size, or with MUSTER_NUL_TERMINATED. NULL is the empty text, and so is one whose size
// cannot be (over 2^40 bytes).
std::string_view view_of(const char* text, uint64_t size);

// Valid UTF-8 with nothing a terminal or a log would act on: broken bytes and NUL become '?', other control characters a blank.
// Newlines stay when `keep_newlines` says so.
std::string clean_text(std::string_view text, bool keep_newlines);

// Whether this is UTF-8 (RFC 3629: no surrogates, no overlong forms, at most U+10FFFF).
bool is_utf8(std::string_view text);

// RFC 4648: padded, the standard alphabet or the one for URLs.
std::string base64_encode(std::string_view bytes, bool for_urls = false);
// The standard alphabet, padded; blanks and newlines are skipped. nullopt when it is not base64.
std::optional<std::string> base64_decode(std::string_view text);

// RFC 3986: all but unreserved characters as %XX.
std::string percent_encode(std::string_view bytes);
// The inside of a JSON string, escaped no more than is needed.
std::string json_escape(std::string_view text);

// ASCII letters compared without case.
bool equal_without_case(std::string_view a, std::string_view b);
std::string lower_case(std::string_view text);
// Without blanks, tabs and line ends around it.
std::string_view trim(std::string_view text);

}  // namespace muster
