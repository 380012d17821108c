// Who we are to the API server, by a user entry or a file with a token.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/exec_credential.h"
#include "plugins/kubernetes/kubeconfig.h"

namespace muster::kubernetes {

struct Credentials {
  std::string authorization;  // the header's value; "" for none
  std::string certificate_pem, key_pem;

  bool empty() const { return authorization.empty() && certificate_pem.empty(); }
};

// Gets them anew, after the server refused them: true when they are others now.
using Renewal = std::function<sdk::Result<bool>(Credentials&)>;

struct FoundCredentials {
  Credentials credentials;
  Renewal renew;  // null when they could only be the same again
};

// The credentials of a token file. Each reading reads it anew.
sdk::Result<FoundCredentials> token_file_credentials(const std::string& path, sdk::Call& call);

// Those of the chosen user, as client-go takes them: client certificate, token file over token, basic, else program, else OIDC's
// id-token. Secrets are told to the core. `cache` is the resolver's.
// The renewal uses call and cache. UNAUTHENTICATED where there are none
// although the entry says how to get some; INVALID_ARGUMENT with the place of the entry.
sdk::Result<FoundCredentials> user_credentials(const Chosen& chosen, const std::string& ca_pem,
                                               ExecCache& cache, sdk::Call& call);

// Impersonate-* headers of the user entry.
sdk::Result<std::vector<std::pair<std::string, std::string>>> impersonation(const Chosen& chosen);

// PEM out of a -data entry or out of the file beside it; "" when neither is there. `what` is the entry's key without "-data".
sdk::Result<std::string> pem_of(sdk::Call& call, const Place& place, const char* what,
                                const std::string& data, const std::string& file, bool secret);

}  // namespace muster::kubernetes
