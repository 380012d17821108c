// Base64 (RFC 4648), standard alphabet.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster::support {

// Decodes; blanks and line ends are passed over, padding may be left out. Nothing when a character does not belong.
std::optional<std::string> base64_decode(std::string_view text);

std::string base64_encode(std::string_view bytes);

// In the alphabet of URLs, without padding, as tokens have it.
std::string base64url_encode(std::string_view bytes);

}  // namespace muster::support
