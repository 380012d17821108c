// Workload identity federation from AWS: a signed question to AWS of who asks is the external account's own token.
#pragma once

#include <string>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/support/google/credential_file.h"

namespace muster::support::google {

// The signed GetCallerIdentity request, as Google's STS takes it. Region and keys come from AWS_REGION, AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID,
// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, else from the instance metadata service that the file names. The keys are told to the
// core as secrets. UNAUTHENTICATED where neither has them.
sdk::Result<std::string> aws_subject_token(const CredentialFile& file, sdk::Call& call);

// The URLs of the metadata service that this asks, in order: none where the environment says all.
std::vector<std::string> aws_urls_asked(const SubjectSource& source, const sdk::Call& call);

}  // namespace muster::support::google
