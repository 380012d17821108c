// The options of a backend that say who we are to Google.
#pragma once

#include <string_view>

#include <muster/plugin.hpp>

#include "plugins/support/google/credentials.h"

namespace muster::support::google {

// Takes `credentials`, `credentials_file`, `access_token`, `access_token_file`, `quota_project` or `universe_domain`; leaves any other key.
void take_credential_option(std::string_view key, std::string_view text, CredentialOptions& out);

// INVALID_ARGUMENT when more than one of them says who we are.
sdk::Status check_credential_options(const CredentialOptions& options);

}  // namespace muster::support::google
