// SHA-256 by OpenSSL.
#pragma once

#include <string>
#include <string_view>

namespace muster::support::google {

// Before anything of OpenSSL's is called. The OpenSSL inside of a plugin is in somebody else's process: it reads no openssl.cnf and leaves
// no exit handler. [any thread]
void prepare_openssl();

// 32 bytes.
std::string sha256(std::string_view text);
std::string hmac_sha256(std::string_view key, std::string_view text);

// In lower case.
std::string hexadecimal(std::string_view bytes);

}  // namespace muster::support::google
