#include "plugins/support/google/hash.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

namespace muster::support::google {
namespace {

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string text_of(const std::array<unsigned char, EVP_MAX_MD_SIZE>& digest, unsigned size) {
  return {reinterpret_cast<const char*>(digest.data()), size};
}

}  // namespace

void prepare_openssl() {
  static const int done =
      OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, nullptr);
  (void)done;
}

std::string sha256(std::string_view text) {
  prepare_openssl();
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), out.data(), &size, EVP_sha256(), nullptr);
  return text_of(out, size);
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  prepare_openssl();
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes_of(text), text.size(),
       out.data(), &size);
  return text_of(out, size);
}

std::string hexadecimal(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto value = static_cast<unsigned char>(c);
    out += kDigits[value >> 4];
    out += kDigits[value & 15];
  }
  return out;
}

}  // namespace muster::support::google
