// Certificates made when a test runs.
#pragma once

#include <openssl/ssl.h>

#include <string>
#include <vector>

namespace muster::test {

struct Pair {
  std::string certificate;  // PEM
  std::string key;
};

struct Wish {
  std::string common_name = "muster test";
  std::string names{};  // "DNS:a.example,IP:127.0.0.1"; empty: none
  bool authority = false;
  long from_seconds = -3600;  // from now
  long until_seconds = 3600;
};

// A pair issued by `issuer`; by itself when NULL.
Pair make_pair(const Wish &wish, const Pair *issuer);

// An authority made once for all tests, and a pair of it for 127.0.0.1, ::1 and localhost.
const Pair &authority();
const Pair &loopback_pair();

void use_pair(SSL_CTX *context, const Pair &pair);
void require_client(SSL_CTX *context, const std::string &ca_pem);

}  // namespace muster::test
