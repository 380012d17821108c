// One connection's TLS: its socket below, its verification, and what went wrong in words.
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <mutex>

#include "plugins/http/tls.h"
#include "plugins/http/words.h"

#include <arpa/inet.h>

namespace muster::http {

namespace {

// OpenSSL's own socket BIO calls write(), which raises SIGPIPE in the host; ours never does. The
// number of the socket is the BIO's data.
int fd_of(BIO *bio) { return static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(bio))); }

int bio_write(BIO *bio, const char *data, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t sent =
      send(fd_of(bio), data, static_cast<size_t>(size), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int bio_read(BIO *bio, char *data, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t got = recv(fd_of(bio), data, static_cast<size_t>(size), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
  if (got == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return static_cast<int>(got);
}

long bio_control(BIO *bio, int command, long, void *) {
  switch (command) {
    case BIO_CTRL_FLUSH: return 1;
    case BIO_CTRL_EOF: return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
    default: return 0;
  }
}

BIO_METHOD *bio_method() {
  static BIO_METHOD *const method = [] {
    BIO_METHOD *made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "muster socket");
    if (made) {
      BIO_meth_set_write(made, bio_write);
      BIO_meth_set_read(made, bio_read);
      BIO_meth_set_ctrl(made, bio_control);
    }
    return made;
  }();
  return method;
}

std::string subject_of(const X509_NAME *name) {
  char text[256] = "";
  if (X509_NAME_get_text_by_NID(name, NID_commonName, text, sizeof text) <= 0)
    X509_NAME_oneline(name, text, sizeof text);
  return quote(text);
}

// "'a.example', '10.0.0.1'": whom a certificate is for, or "" when it names nobody.
std::string names_of(X509 *certificate) {
  auto *names = static_cast<GENERAL_NAMES *>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  std::string result;
  int shown = 0;
  const int count = names ? sk_GENERAL_NAME_num(names) : 0;
  for (int i = 0; i < count && shown < 8; ++i) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
    std::string one;
    if (name->type == GEN_DNS) {
      one.assign(reinterpret_cast<const char *>(ASN1_STRING_get0_data(name->d.dNSName)),
                 static_cast<size_t>(ASN1_STRING_length(name->d.dNSName)));
    } else if (name->type == GEN_IPADD) {
      char text[INET6_ADDRSTRLEN] = "";
      const int size = ASN1_STRING_length(name->d.iPAddress);
      if (size != 4 && size != 16) continue;
      inet_ntop(size == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(name->d.iPAddress), text,
                sizeof text);
      one = text;
    } else {
      continue;
    }
    result += (shown++ ? ", " : "") + quote(one);
  }
  if (count > 8) result += ", ...";
  GENERAL_NAMES_free(names);
  return result;
}

// "2026-01-31 12:00:00 UTC"
std::string time_words(const ASN1_TIME *time) {
  tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "an unreadable time";
  char text[64];
  return strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts) > 0 ? text
                                                                          : "an unreadable time";
}

std::string now_words() {
  const time_t now = time(nullptr);
  tm parts{};
  gmtime_r(&now, &parts);
  char text[64];
  strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text;
}

// What is wrong with `certificate`, and what to do about it, into `findings`.
void note_problem(int error, X509 *certificate, TlsFindings &findings) {
  const std::string trusted = findings.identity->trusted();
  const std::string who = subject_of(X509_get_subject_name(certificate));
  const auto note = [&](std::string problem, std::string hint) {
    findings.problem = std::move(problem);
    findings.hint = std::move(hint);
  };
  const std::string give_authority =
      "give the certificate authority that signed the server's certificate (a CA file)";
  switch (error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH: {
      const std::string names = names_of(certificate);
      const std::string wanted = quote(findings.name);
      if (names.empty()) {
        return note(
            "the server's certificate, of " + who +
                ", names no DNS name and no IP address (subject alternative name), so it is not "
                "for " +
                wanted,
            "have the certificate issued again with the subject alternative name " + wanted);
      }
      return note(
          "the server's certificate is for " + names + ", not for " + wanted,
          "ask the server by a name of its certificate, or give that name as the TLS server name");
    }
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return note("the certificate of " + who + " expired on " +
                      time_words(X509_get0_notAfter(certificate)) + " (this machine's clock says " +
                      now_words() + ")",
                  "have the certificate renewed, or set this machine's clock right");
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return note("the certificate of " + who + " is valid only from " +
                      time_words(X509_get0_notBefore(certificate)) +
                      " on (this machine's clock says " + now_words() + ")",
                  "set this machine's clock right");
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return note(
          "the server's certificate, of " + who + ", is self-signed and not among " + trusted,
          give_authority);
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      return note("the server's chain ends in the self-signed certificate of " + who +
                      ", which is not among " + trusted,
                  give_authority);
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return note("the certificate of " + who + " was issued by " +
                      subject_of(X509_get_issuer_name(certificate)) + ", which is not among " +
                      trusted,
                  give_authority);
    default:
      return note(
          "the certificate of " + who + " is refused: " + X509_verify_cert_error_string(error), "");
  }
}

int on_verify(int ok, X509_STORE_CTX *store) {
  if (ok) return ok;
  const auto *ssl = static_cast<const SSL *>(
      X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto *findings = ssl ? static_cast<TlsFindings *>(SSL_get_app_data(ssl)) : nullptr;
  X509 *certificate = X509_STORE_CTX_get_current_cert(store);
  if (findings && certificate && findings->problem.empty()) {
    try {
      note_problem(X509_STORE_CTX_get_error(store), certificate, *findings);
    } catch (...) {  // out of memory; refused all the same
    }
  }
  return 0;
}

// OpenSSL's words, or ours where they say nothing to a user.
TlsTrouble handshake_trouble(unsigned long error) {
  const auto trouble = [](std::string words, std::string hint) {
    return TlsTrouble{MUSTER_E_FAILED_PRECONDITION, std::move(words), std::move(hint)};
  };
  const std::string give_client = "give a client certificate with its key that the server accepts";
  const int reason = ERR_GET_REASON(error);
  switch (reason) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_BAD_RECORD_TYPE:
      return trouble(
          "what answers there does not speak TLS",
          "write http:// if the server is meant to be asked in the clear, or another port");
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      return trouble("the server offers no version of TLS that is still safe; it takes 1.2 or 1.3",
                     "have TLS 1.2 or 1.3 switched on at the server");
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return trouble("the server requires a client certificate, and none was given", give_client);
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
      return trouble(
          "the server refused the handshake: no cipher in common, or it requires a client "
          "certificate",
          give_client);
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
      return trouble("the server refused the client certificate", give_client);
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
      return trouble("the server does not know the authority that issued the client certificate",
                     give_client);
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
      return trouble("the server says that the client certificate has expired", give_client);
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
      return trouble("the server says that the client certificate is revoked", give_client);
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
      return trouble("the server denies access to the client certificate", give_client);
    case SSL_R_TLSV1_UNRECOGNIZED_NAME:
      return trouble("the server does not serve the name that was asked for",
                     "give the name that the server serves as the TLS server name");
    default: {
      const char *text = ERR_reason_error_string(error);
      return trouble(text ? text : "TLS error " + std::to_string(reason), "");
    }
  }
}

}  // namespace

SSL *make_ssl(TlsIdentity &identity, int fd, TlsFindings &findings) {
  SSL *ssl = SSL_new(identity.context());
  BIO *bio = bio_method() ? BIO_new(bio_method()) : nullptr;
  if (!ssl || !bio) {
    SSL_free(ssl);
    BIO_free(bio);
    return nullptr;
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a BIO keeps a pointer, and ours is a descriptor
  BIO_set_data(bio, reinterpret_cast<void *>(static_cast<intptr_t>(fd)));
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl, bio, bio);
  SSL_set_app_data(ssl, &findings);
  SSL_set_connect_state(ssl);
  findings.identity = &identity;

  in6_addr v6{};
  in_addr v4{};
  const bool is_ip = inet_pton(AF_INET, findings.name.c_str(), &v4) == 1 ||
                     inet_pton(AF_INET6, findings.name.c_str(), &v6) == 1;
  // RFC 6066: no IP addresses in SNI.
  if (!is_ip) SSL_set_tlsext_host_name(ssl, findings.name.c_str());
  if (identity.verifies()) {
    SSL_set_verify(ssl, SSL_VERIFY_PEER, on_verify);
  } else {
    SSL_set_verify(ssl, SSL_VERIFY_NONE, nullptr);
  }
  X509_VERIFY_PARAM *parameters = SSL_get0_param(ssl);
  // Names are those of the subject alternative names alone (RFC 6125, 6.4.4), as everywhere by now.
  X509_VERIFY_PARAM_set_hostflags(
      parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  const int set =
      is_ip ? X509_VERIFY_PARAM_set1_ip_asc(parameters, findings.name.c_str())
            : X509_VERIFY_PARAM_set1_host(parameters, findings.name.c_str(), findings.name.size());
  if (set != 1) {
    SSL_free(ssl);
    return nullptr;
  }
  if (SSL_SESSION *session = identity.take_session(findings.endpoint)) {
    SSL_set_session(ssl, session);
    SSL_SESSION_free(session);
  }
  return ssl;
}

TlsTrouble tls_trouble(SSL *ssl, int result, int saved_errno, const TlsFindings &findings) {
  const int kind = SSL_get_error(ssl, result);
  const unsigned long error = ERR_peek_error();
  TlsTrouble trouble{MUSTER_E_UNAVAILABLE, ""};
  if (!findings.problem.empty()) {
    trouble = {MUSTER_E_FAILED_PRECONDITION, findings.problem, findings.hint};
  } else if (kind == SSL_ERROR_ZERO_RETURN ||
             (kind == SSL_ERROR_SSL &&
              ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING)) {
    trouble.words = "the server closed the connection";
    trouble.closed = true;
  } else if (kind == SSL_ERROR_SYSCALL && error == 0) {
    trouble.words =
        saved_errno == 0 ? "the server closed the connection" : errno_words(saved_errno);
    trouble.closed = true;
  } else if (ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE) {
    trouble = {MUSTER_E_RESOURCE_EXHAUSTED, "out of memory"};
  } else {
    trouble = handshake_trouble(error);
  }
  ERR_clear_error();
  return trouble;
}

}  // namespace muster::http
