// Certificates made when a test runs.
#include "certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <memory>

namespace muster::test {

namespace {

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

std::string text_of(BIO *bio) {
  char *data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string result(data, static_cast<size_t>(size));
  BIO_free(bio);
  return result;
}

Certificate read_certificate(const std::string &pem) {
  BIO *bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  Certificate result(PEM_read_bio_X509(bio, nullptr, nullptr, nullptr), X509_free);
  BIO_free(bio);
  return result;
}

Key read_key(const std::string &pem) {
  BIO *bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  Key result(PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr), EVP_PKEY_free);
  BIO_free(bio);
  return result;
}

void add_extension(X509 *certificate, X509 *issuer, int nid, const std::string &value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

}  // namespace

Pair make_pair(const Wish &wish, const Pair *issuer) {
  const Key key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const Certificate certificate(X509_new(), X509_free);
  X509 *made = certificate.get();
  X509_set_version(made, 2);
  uint64_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char *>(&serial), sizeof serial);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(made), serial >> 1);
  X509_gmtime_adj(X509_getm_notBefore(made), wish.from_seconds);
  X509_gmtime_adj(X509_getm_notAfter(made), wish.until_seconds);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char *>(wish.common_name.c_str()), -1,
                             -1, 0);
  X509_set_pubkey(made, key.get());
  const Certificate issuing =
      issuer ? read_certificate(issuer->certificate) : Certificate(nullptr, X509_free);
  const Key issuing_key = issuer ? read_key(issuer->key) : Key(nullptr, EVP_PKEY_free);
  X509 *by = issuer ? issuing.get() : made;
  X509_set_issuer_name(made, X509_get_subject_name(by));
  add_extension(made, by, NID_basic_constraints, wish.authority ? "critical,CA:TRUE" : "CA:FALSE");
  add_extension(made, by, NID_subject_key_identifier, "hash");
  if (!wish.names.empty()) add_extension(made, by, NID_subject_alt_name, wish.names);
  X509_sign(made, issuer ? issuing_key.get() : key.get(), EVP_sha256());

  Pair pair;
  BIO *bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(bio, made);
  pair.certificate = text_of(bio);
  bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  pair.key = text_of(bio);
  return pair;
}

const Pair &authority() {
  static const Pair pair =
      make_pair({.common_name = "muster test authority", .names = "", .authority = true}, nullptr);
  return pair;
}

const Pair &loopback_pair() {
  static const Pair pair = make_pair({.names = "IP:127.0.0.1,IP:::1,DNS:localhost"}, &authority());
  return pair;
}

void use_pair(SSL_CTX *context, const Pair &pair) {
  const Certificate certificate = read_certificate(pair.certificate);
  const Key key = read_key(pair.key);
  SSL_CTX_use_certificate(context, certificate.get());
  SSL_CTX_use_PrivateKey(context, key.get());
}

void require_client(SSL_CTX *context, const std::string &ca_pem) {
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context), read_certificate(ca_pem).get());
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_session_id_context(context, reinterpret_cast<const unsigned char *>("test"), 4);
}

}  // namespace muster::test
