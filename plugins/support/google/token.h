// Access tokens, and how they are had for the credentials of a file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/support/google/credential_file.h"

namespace muster::support::google {

struct Token {
  std::string text;
  int64_t expires = 0;       // seconds since 1970; 0: when the API refuses it
  bool self_signed = false;  // by the service account's own key: no server was asked
};

// Seconds since 1970 by the call's clock.
int64_t now_s(const sdk::Call& call);

// How long one request of this call may take beside its deadline, which in a watch is years away: a server that hangs must not keep it.
// 0: until the deadline.
int64_t request_timeout_ns(const sdk::Call& call);

// A token endpoint's answer ({"access_token": ..., "expires_in": ...}), or IAM's ({"accessToken": ..., "expireTime": ...}).
// DATA_LOSS, without a word of it, when it is neither. A replay's "REDACTED" is a token of that text.
sdk::Result<Token> read_token(std::string_view answer, int64_t now);

// The URLs that fetch_token asks for a first token, in order.
std::vector<std::string> urls_asked(const CredentialFile& file, const sdk::Call& call);

// A new token with these scopes (apart by blanks). `timeout_ns`: what a request for it may take beside the call's deadline; 0: the usual. Secrets and the token are told to the core. A service account signs one itself
// when `self_signed`, which costs no request; in other universes than Google's it always does. UNAUTHENTICATED with the endpoint's
// words when the credentials are refused; INVALID_ARGUMENT when the file would send them to a host that may not have them.
sdk::Result<Token> fetch_token(const CredentialFile& file, const std::string& scopes,
                               bool self_signed, int64_t timeout_ns, sdk::Call& call);

}  // namespace muster::support::google
