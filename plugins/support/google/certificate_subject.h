// Workload identity federation by an X.509 certificate: it is shown to Google's STS in TLS, and its chain is the external account's token.
#pragma once

#include <muster/plugin.hpp>

#include "plugins/support/google/credential_file.h"
#include "plugins/support/google/subject_token.h"

namespace muster::support::google {

// Reads the certificate and key that the certificate configuration names (the credential file says where it is: else
// GOOGLE_API_CERTIFICATE_CONFIG or gcloud's certificate_config.json), and the chain that the credential file names. The key is told to
// the core as a secret. UNAUTHENTICATED where they say no certificate; the failure of a file that cannot be read.
sdk::Result<SubjectToken> certificate_subject(const CredentialFile& file, sdk::Call& call);

}  // namespace muster::support::google
