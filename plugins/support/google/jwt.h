// JSON Web Tokens as a service account signs them.
#pragma once

#include <string>
#include <string_view>

#include <muster/plugin.hpp>

namespace muster::support::google {

// HEADER.CLAIMS.SIGNATURE of two JSON texts, signed RS256 (RFC 7518) by an RSA key in PEM (PKCS#8). INVALID_ARGUMENT, without a
// word of the key, when it is none.
sdk::Result<std::string> signed_jwt(std::string_view header, std::string_view claims,
                                    const std::string& private_key_pem);

}  // namespace muster::support::google
