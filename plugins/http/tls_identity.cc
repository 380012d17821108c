// Whom to trust and who we are: SSL_CTX, made once per material.
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cstdlib>

#include "plugins/http/patience.h"
#include "plugins/http/tls.h"
#include "plugins/http/words.h"

namespace muster::http {

namespace {

using X509Pointer = std::unique_ptr<X509, decltype(&X509_free)>;
using KeyPointer = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using BioPointer = std::unique_ptr<BIO, decltype(&BIO_free)>;
using StackPointer = std::unique_ptr<STACK_OF(X509), void (*)(STACK_OF(X509) *)>;

// Of the process we live in OpenSSL may take nothing: neither its openssl.cnf (which may load engines)
// nor a place in its exit handlers. Has to come before any other call.
void initialise_openssl() {
  static std::once_flag once;
  std::call_once(once, [] {
    OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, nullptr);
  });
}

// An encrypted key must fail, not ask at the process's terminal.
int no_password(char *, int, int, void *) { return 0; }

BioPointer reader(std::string_view text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(std::min<size_t>(text.size(), INT32_MAX))),
          BIO_free};
}

Failure unusable(std::string_view what, std::string_view why) {
  return failure(MUSTER_E_INVALID_ARGUMENT, Phase::tls,
                 "the " + std::string(what) + " cannot be used: " + std::string(why));
}

std::string openssl_reason() {
  const char *reason = ERR_reason_error_string(ERR_peek_error());
  std::string result = reason ? reason : "unknown reason";
  ERR_clear_error();
  return result;
}

// All certificates of a PEM text.
Failed read_certificates(std::string_view what, std::string_view pem, STACK_OF(X509) * out) {
  const BioPointer bio = reader(pem);
  ERR_clear_error();
  while (X509 *certificate = PEM_read_bio_X509(bio.get(), nullptr, no_password, nullptr)) {
    if (sk_X509_push(out, certificate) <= 0) {
      X509_free(certificate);
      return failure(MUSTER_E_RESOURCE_EXHAUSTED, Phase::tls, "out of memory");
    }
  }
  const unsigned long error = ERR_peek_last_error();
  const bool ended =
      ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
  const int count = sk_X509_num(out);
  if (!ended)
    return unusable(what, "certificate " + std::to_string(count + 1) + " in it is broken (" +
                              openssl_reason() + ")");
  ERR_clear_error();
  if (count == 0)
    return unusable(what, "it holds no PEM certificate ('-----BEGIN CERTIFICATE-----')");
  return {};
}

bool exists(const char *path) {
  struct stat found {};
  return path && stat(path, &found) == 0;
}

// Where distributions keep the bundle of authorities; OpenSSL itself knows only the place of the
// distribution on which it was built.
constexpr const char *kBundles[] = {
    "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Alpine, Arch
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora, RHEL
    "/etc/pki/tls/certs/ca-bundle.crt",                   // older RHEL, CentOS
    "/etc/ssl/ca-bundle.pem",                             // SUSE
    "/etc/ssl/cert.pem",                                  // Alpine, BSD
};

Failed trust_system(SSL_CTX *context, std::string &trusted) {
  // As OpenSSL does, and every program that uses it: SSL_CERT_FILE and SSL_CERT_DIR come first.
  const char *given_file = secure_getenv(X509_get_default_cert_file_env());
  const char *given_directory = secure_getenv(X509_get_default_cert_dir_env());
  if (given_file || given_directory) {
    const bool file_ok = given_file && SSL_CTX_load_verify_file(context, given_file) == 1;
    const bool directory_ok = given_directory && exists(given_directory) &&
                              SSL_CTX_load_verify_dir(context, given_directory) == 1;
    ERR_clear_error();
    if (file_ok || directory_ok) {
      trusted = std::string("the authorities in ") + quote(file_ok ? given_file : given_directory) +
                " (" + (file_ok ? "SSL_CERT_FILE" : "SSL_CERT_DIR") + ")";
      return {};
    }
  }
  std::string looked;
  const char *own = X509_get_default_cert_file();
  for (size_t i = 0; i <= std::size(kBundles); ++i) {
    const char *bundle = i == 0 ? own : kBundles[i - 1];
    if (exists(bundle) && SSL_CTX_load_verify_file(context, bundle) == 1) {
      trusted = std::string("the authorities of this machine in ") + quote(bundle);
      return {};
    }
    ERR_clear_error();
    looked += (i ? ", " : "") + quote(bundle);
  }
  const char *directory = X509_get_default_cert_dir();
  if (exists(directory) && SSL_CTX_load_verify_dir(context, directory) == 1) {
    trusted = std::string("the authorities of this machine in ") + quote(directory);
    return {};
  }
  ERR_clear_error();
  return failure(MUSTER_E_FAILED_PRECONDITION, Phase::tls,
                 "this machine has no certificate authorities to verify a server with (looked at " +
                     looked + ", " + quote(directory) + ")",
                 "install the package ca-certificates, name a file of authorities in "
                 "SSL_CERT_FILE, or give the "
                 "server's authority in the configuration");
}

Failed trust_given(SSL_CTX *context, std::string_view pem, std::string &trusted) {
  StackPointer certificates(sk_X509_new_null(),
                            [](STACK_OF(X509) * s) { sk_X509_pop_free(s, X509_free); });
  if (Failed failed = read_certificates("certificate authority (ca)", pem, certificates.get()))
    return failed;
  X509_STORE *store = SSL_CTX_get_cert_store(context);
  for (int i = 0; i < sk_X509_num(certificates.get()); ++i) {
    X509_STORE_add_cert(store, sk_X509_value(certificates.get(), i));
  }
  // What the user names is trusted as it is, also when it is an intermediate or the server's own
  // certificate: Go does so, hence kubectl.
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  trusted = "the given certificate authority";
  ERR_clear_error();
  return {};
}

Failed present(SSL_CTX *context, std::string_view certificate_pem, std::string_view key_pem) {
  if (certificate_pem.empty() && key_pem.empty()) return {};
  if (key_pem.empty()) return unusable("client certificate", "its key is not given");
  if (certificate_pem.empty()) return unusable("client key", "its certificate is not given");

  StackPointer chain(sk_X509_new_null(),
                     [](STACK_OF(X509) * s) { sk_X509_pop_free(s, X509_free); });
  if (Failed failed = read_certificates("client certificate", certificate_pem, chain.get()))
    return failed;
  const BioPointer bio = reader(key_pem);
  const KeyPointer key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr),
                       EVP_PKEY_free);
  if (!key) {
    const bool encrypted = key_pem.find("ENCRYPTED") != std::string_view::npos;
    ERR_clear_error();
    return unusable("client key",
                    encrypted ? "it is encrypted; give it without a password"
                              : "it is not a private key in PEM ('-----BEGIN PRIVATE KEY-----')");
  }
  const X509Pointer own(sk_X509_shift(chain.get()), X509_free);
  if (X509_check_private_key(own.get(), key.get()) != 1) {
    ERR_clear_error();
    return unusable("client key", "it does not belong to the client certificate");
  }
  if (SSL_CTX_use_cert_and_key(context, own.get(), key.get(), chain.get(), 1) != 1) {
    return unusable("client certificate", openssl_reason());
  }
  return {};
}

int on_new_session(SSL *ssl, SSL_SESSION *session) {
  auto *findings = static_cast<TlsFindings *>(SSL_get_app_data(ssl));
  if (!findings || !findings->identity) return 0;
  findings->identity->keep_session(findings->endpoint, session);
  return 1;
}

Failed make(const TlsMaterial &material, SSL_CTX *context, std::string &trusted) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_default_read_buffer_len(context, 128 * 1024);
  SSL_CTX_set_default_passwd_cb(context, no_password);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context, on_new_session);
  static constexpr unsigned char kAlpn[] = "\x08http/1.1";
  SSL_CTX_set_alpn_protos(context, kAlpn, sizeof kAlpn - 1);
  if (!material.insecure) {
    Failed failed = material.ca_pem.empty() ? trust_system(context, trusted)
                                            : trust_given(context, material.ca_pem, trusted);
    if (failed) return failed;
  }
  return present(context, material.certificate_pem, material.key_pem);
}

// The identities of this process. Never destroyed: threads of the host may outlive static objects.
struct Identities {
  struct Entry {
    std::shared_ptr<TlsIdentity> identity;
    int64_t made_ns;
    int64_t used_ns;
  };
  std::mutex mutex;
  std::map<std::string, Entry> entries;
};

Identities &identities() {
  static auto *const all = new Identities;
  return *all;
}

}  // namespace

std::string TlsMaterial::hash() const {
  initialise_openssl();
  std::string text;
  for (std::string_view part : {ca_pem, certificate_pem, key_pem, server_name}) {
    text += std::to_string(part.size()) + ':';
    text += part;
  }
  text += insecure ? '1' : '0';
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char *>(text.data()), text.size(), digest);
  OPENSSL_cleanse(text.data(), text.size());
  return {reinterpret_cast<const char *>(digest), sizeof digest};
}

TlsIdentity::~TlsIdentity() {
  for (auto &[endpoint, session] : sessions_) SSL_SESSION_free(session);
  SSL_CTX_free(context_);
}

Failed TlsIdentity::get(const TlsMaterial &material, std::shared_ptr<TlsIdentity> &identity) {
  constexpr size_t kMost = 32;
  // The system's authorities change on disk; a process that lives for months shall notice.
  constexpr int64_t kOld = INT64_C(600'000'000'000);

  const std::string key = material.hash();
  Identities &all = identities();
  const int64_t now = monotonic_ns();
  {
    const std::lock_guard lock(all.mutex);
    if (auto found = all.entries.find(key);
        found != all.entries.end() && now - found->second.made_ns < kOld) {
      found->second.used_ns = now;
      identity = found->second.identity;
      return {};
    }
  }
  // Two threads may make the same one: the later stays, both work.
  SSL_CTX *context = SSL_CTX_new(TLS_client_method());
  if (!context) return failure(MUSTER_E_RESOURCE_EXHAUSTED, Phase::tls, "out of memory");
  auto made = std::make_shared<TlsIdentity>(context, !material.insecure);
  if (Failed failed = make(material, context, made->trusted_)) return failed;

  const std::lock_guard lock(all.mutex);
  if (all.entries.size() >= kMost) {
    auto oldest = all.entries.begin();
    for (auto entry = all.entries.begin(); entry != all.entries.end(); ++entry) {
      if (entry->second.used_ns < oldest->second.used_ns) oldest = entry;
    }
    all.entries.erase(oldest);
  }
  all.entries[key] = {made, now, now};
  identity = std::move(made);
  return {};
}

SSL_SESSION *TlsIdentity::take_session(const std::string &endpoint) {
  const std::lock_guard lock(mutex_);
  auto found = sessions_.find(endpoint);
  if (found == sessions_.end()) return nullptr;
  SSL_SESSION *session = found->second;
  sessions_.erase(found);  // TLS 1.3 tickets are for one use (RFC 8446, C.4)
  return session;
}

void TlsIdentity::keep_session(const std::string &endpoint, SSL_SESSION *session) {
  const std::lock_guard lock(mutex_);
  if (sessions_.size() >= 64 && !sessions_.contains(endpoint)) {
    SSL_SESSION_free(sessions_.begin()->second);
    sessions_.erase(sessions_.begin());
  }
  SSL_SESSION *&place = sessions_[endpoint];
  if (place) SSL_SESSION_free(place);
  place = session;
}

}  // namespace muster::http
