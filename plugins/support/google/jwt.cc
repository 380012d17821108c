#include "plugins/support/google/jwt.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>

#include "plugins/support/base64.h"
#include "plugins/support/google/hash.h"

namespace muster::support::google {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

// An encrypted key would have its password asked for on the terminal.
int no_password(char*, int, int, void*) { return -1; }

sdk::Failure refused(const char* why) {
  ERR_clear_error();
  return {MUSTER_E_INVALID_ARGUMENT, why, {}};
}

}  // namespace

sdk::Result<std::string> signed_jwt(std::string_view header, std::string_view claims,
                                    const std::string& private_key_pem) {
  prepare_openssl();
  const std::unique_ptr<BIO, Free> pem(
      BIO_new_mem_buf(private_key_pem.data(), static_cast<int>(private_key_pem.size())));
  const std::unique_ptr<EVP_PKEY, Free> key(
      pem == nullptr ? nullptr : PEM_read_bio_PrivateKey(pem.get(), nullptr, no_password, nullptr));
  if (key == nullptr || EVP_PKEY_base_id(key.get()) != EVP_PKEY_RSA)
    return refused("its private key is no RSA key in PEM");
  std::string text = base64url_encode(header) + "." + base64url_encode(claims);
  const std::unique_ptr<EVP_MD_CTX, Free> context(EVP_MD_CTX_new());
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  size_t size = 0;
  if (context == nullptr ||
      EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size()) != 1)
    return refused("nothing can be signed with its private key");
  std::string signature(size, '\0');
  if (EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                     bytes, text.size()) != 1)
    return refused("nothing can be signed with its private key");
  signature.resize(size);
  return text + "." + base64url_encode(signature);
}

}  // namespace muster::support::google
