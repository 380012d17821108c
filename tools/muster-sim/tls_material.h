#pragma once

#include <memory>
#include <string>

#include <openssl/evp.h>
#include <openssl/x509.h>

#include "result.h"
#include "scenario.h"

namespace muster::sim {

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeCertificate {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
using KeyPtr = std::unique_ptr<EVP_PKEY, FreeKey>;
using CertificatePtr = std::unique_ptr<X509, FreeCertificate>;

struct Identity {
  KeyPtr key;
  CertificatePtr certificate;
};

// A certificate authority made for this run, and what it signed. The authority's and the
// server's keys never leave memory.
struct TlsMaterial {
  Identity authority;
  Identity server;
  Identity client;
};

// Makes everything with EC P-256 keys; takes a few milliseconds.
//
// client_user  the common name of the client certificate, which is the user's name
Result<TlsMaterial> make_tls_material(const TlsOptions& options, const std::string& client_user);

// PEM texts.
std::string to_pem(X509* certificate);
std::string to_pem(EVP_PKEY* key);

// As federation by certificate tells of one.
std::string der_in_base64(X509* certificate);

// Base64 with padding, as kubeconfig's -data fields have it.
std::string to_base64(const std::string& bytes);

// 32 random bytes in hexadecimal, for tokens.
std::string random_token();

}  // namespace muster::sim
