// The token of an external account's own identity provider, which Google's STS exchanges.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/support/google/credential_file.h"

namespace muster::support::google {

struct SubjectToken {
  std::string text;
  std::string certificate_pem, key_pem;  // what the exchange shows in TLS; "" for nothing
};

// Made or read anew from the source that the credential file names; told to the core as a secret where it is one. An executable is run
// only where GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES is 1, for the file says what runs.
sdk::Result<SubjectToken> subject_token(const CredentialFile& file, sdk::Call& call);

// The URLs that it asks, in order.
std::vector<std::string> urls_asked(const SubjectSource& source, const sdk::Call& call);

// A command line as a shell would split it, with its quotes and backslashes and nothing else of a shell. Empty when a quote is open.
std::vector<std::string> split_command(std::string_view command);

}  // namespace muster::support::google
