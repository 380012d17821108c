// Certificates and tokens for one run.
#include "tls_material.h"

#include <arpa/inet.h>

#include <array>

#include <fmt/format.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

namespace muster::sim {
namespace {

constexpr long kHour = 3600;
constexpr long kDay = 24 * kHour;

Failure openssl_failure(const char* what) {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  return Failure{fmt::format("OpenSSL cannot {}: {}", what, text.data())};
}

bool add_extension(X509* certificate, X509* issuer, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
  if (extension == nullptr) return false;
  const bool added = X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

struct Wanted {
  std::string common_name;
  std::string organization;
  std::string usage;         // extendedKeyUsage; empty for the authority
  std::string names;         // subjectAltName, or empty
  long not_before = -kHour;  // from now; an hour of grace for clocks that differ
  long not_after = 7 * kDay;
};

// signer: null for a certificate that signs itself.
Result<Identity> make_identity(const Wanted& wanted, const Identity* signer) {
  Identity out{KeyPtr(EVP_EC_gen("P-256")), CertificatePtr(X509_new())};
  X509* certificate = out.certificate.get();
  if (!out.key || certificate == nullptr) return openssl_failure("make a key");

  std::array<unsigned char, 8> serial{};
  if (RAND_bytes(serial.data(), serial.size()) != 1) return openssl_failure("draw a serial number");
  serial[0] &= 0x7f;
  BIGNUM* number = BN_bin2bn(serial.data(), serial.size(), nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
  BN_free(number);

  X509_set_version(certificate, X509_VERSION_3);
  X509_gmtime_adj(X509_getm_notBefore(certificate), wanted.not_before);
  X509_gmtime_adj(X509_getm_notAfter(certificate), wanted.not_after);
  X509_set_pubkey(certificate, out.key.get());
  X509_NAME* subject = X509_get_subject_name(certificate);
  const auto add_name = [&](const char* field, const std::string& text) {
    return text.empty() ||
           X509_NAME_add_entry_by_txt(subject, field, MBSTRING_UTF8,
                                      reinterpret_cast<const unsigned char*>(text.data()),
                                      static_cast<int>(text.size()), -1, 0) == 1;
  };
  if (!add_name("O", wanted.organization) || !add_name("CN", wanted.common_name)) {
    return openssl_failure("write the subject");
  }
  X509* issuer = signer == nullptr ? certificate : signer->certificate.get();
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer));

  const bool authority = wanted.usage.empty();
  bool good =
      add_extension(certificate, issuer, NID_basic_constraints,
                    authority ? "critical,CA:TRUE" : "critical,CA:FALSE") &&
      add_extension(certificate, issuer, NID_key_usage,
                    authority ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature") &&
      add_extension(certificate, issuer, NID_subject_key_identifier, "hash") &&
      add_extension(certificate, issuer, NID_authority_key_identifier, "keyid:always");
  if (good && !authority)
    good = add_extension(certificate, issuer, NID_ext_key_usage, wanted.usage);
  if (good && !wanted.names.empty())
    good = add_extension(certificate, issuer, NID_subject_alt_name, wanted.names);
  if (!good) return openssl_failure("write the certificate's extensions");

  EVP_PKEY* signing_key = signer == nullptr ? out.key.get() : signer->key.get();
  if (X509_sign(certificate, signing_key, EVP_sha256()) == 0)
    return openssl_failure("sign a certificate");
  return out;
}

// "IP:127.0.0.1,DNS:localhost"
Result<std::string> alternative_names(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) {
    std::array<unsigned char, 16> bytes{};
    const bool ip = inet_pton(AF_INET, name.c_str(), bytes.data()) == 1 ||
                    inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1;
    if (name.empty() || name.find_first_of(",:\n ") != std::string::npos) {
      if (!ip)
        return Failure{
            fmt::format("'{}' of 'tls: names' is neither an address nor a host name", name)};
    }
    if (!out.empty()) out += ',';
    out += (ip ? "IP:" : "DNS:") + name;
  }
  return out;
}

std::string take_memory(BIO* memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  std::string out(data, static_cast<std::size_t>(size));
  BIO_free(memory);
  return out;
}

}  // namespace

Result<TlsMaterial> make_tls_material(const TlsOptions& options, const std::string& client_user) {
  const auto names = alternative_names(options.names);
  if (!names) return Failure{names.error()};

  Wanted authority;
  authority.common_name = "muster-sim authority";
  auto root = make_identity(authority, nullptr);
  if (!root) return Failure{root.error()};

  Wanted server;
  server.common_name = "muster-sim";
  server.usage = "serverAuth";
  server.names = *names;
  if (options.expired) {
    server.not_before = -2 * kDay;
    server.not_after = -kDay;
  }
  auto server_identity = make_identity(server, &*root);
  if (!server_identity) return Failure{server_identity.error()};

  Wanted client;
  client.common_name = client_user;
  client.organization = "muster-sim";
  client.usage = "clientAuth";
  auto client_identity = make_identity(client, &*root);
  if (!client_identity) return Failure{client_identity.error()};

  return TlsMaterial{std::move(*root), std::move(*server_identity), std::move(*client_identity)};
}

std::string to_pem(X509* certificate) {
  BIO* memory = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(memory, certificate);
  return take_memory(memory);
}

std::string to_pem(EVP_PKEY* key) {
  BIO* memory = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(memory, key, nullptr, nullptr, 0, nullptr, nullptr);
  return take_memory(memory);
}

std::string to_base64(const std::string& bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

std::string der_in_base64(X509* certificate) {
  unsigned char* bytes = nullptr;
  const int size = i2d_X509(certificate, &bytes);
  if (size < 0) return {};
  const std::string der(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  OPENSSL_free(bytes);
  return to_base64(der);
}

std::string random_token() {
  std::array<unsigned char, 32> bytes{};
  RAND_bytes(bytes.data(), bytes.size());
  std::string out;
  for (const auto byte : bytes) out += fmt::format("{:02x}", byte);
  return out;
}

}  // namespace muster::sim
