// The token of an external account's own identity provider, which Google's STS exchanges.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/support/google/credential_file.h"

namespace muster::support::google {

// Read anew out of the file, from the URL or by the executable that the credential file names; told to the core as a secret. An
// executable is run only where GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES is 1, for the file says what runs.
sdk::Result<std::string> subject_token(const CredentialFile& file, sdk::Call& call);

// A command line as a shell would split it, with its quotes and backslashes and nothing else of a shell. Empty when a quote is open.
std::vector<std::string> split_command(std::string_view command);

}  // namespace muster::support::google
