// Credential programs (kubeconfig's `exec`), by the protocol client.authentication.k8s.io/v1 and v1beta1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/kubeconfig.h"

namespace muster::kubernetes {

// What a program gave: a token, a certificate with its key, or both.
struct ExecCredential {
  std::string token;
  std::string certificate_pem, key_pem;
  std::optional<int64_t> expires;  // seconds since 1970; nothing: until the server refuses it
};

// KUBERNETES_EXEC_INFO: what the program is told. `ca_pem` and the cluster only where the entry asks for them.
std::string exec_info(const KubeExec& exec, const KubeCluster& cluster, const std::string& ca_pem,
                      bool interactive);

// Reads what it printed: JSON where it begins with '{', else YAML. The failure has no words of the text in it: it may be a secret.
sdk::Result<ExecCredential> read_exec_credential(std::string_view text,
                                                 const std::string& api_version);

// What the program of one resolver gave, kept for its resolves until it expires.
struct ExecCache {
  std::string asked;  // program, arguments, environment and information; "" when nothing is kept
  ExecCredential credential;
};

// The credential of a user's `exec`: the kept one, or what the program says now (`anew`: in any case). Secrets are told to
// the core. UNAUTHENTICATED: the program failed, or printed no credential; FAILED_PRECONDITION: it needs a terminal; others are
// those of running it.
sdk::Result<ExecCredential> exec_credential(const Chosen& chosen, const std::string& ca_pem,
                                            ExecCache& cache, bool anew, sdk::Call& call);

}  // namespace muster::kubernetes
