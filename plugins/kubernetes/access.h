// How the API server is reached: its URL, TLS, credentials and the namespace, from a kubeconfig or from inside a pod.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/options.h"

namespace muster::kubernetes {

struct Access {
  std::string server;  // "https://host:port/prefix" without a slash at the end
  std::string name_space;
  std::string origin;  // in words: "context 'lab' of /home/u/.kube/config", "inside the cluster"
  bool within_cluster = false;
  bool insecure = false;
  std::string ca_pem;
  std::string certificate_pem, key_pem;
  std::string tls_server_name;
  std::string proxy_url;
  std::vector<std::pair<std::string, std::string>> headers;  // Authorization, Impersonate-*
  std::string user;  // in words, for the message about permissions; "" when not known

  // Fills the TLS, proxy and flag fields of a request; they point into this.
  void apply(muster_http_request_v1& request) const;
};

// Finds it anew, so that rotated tokens and edited files are seen. Tells the core every secret it reads.
// FAILED_PRECONDITION: there is neither a service account nor a kubeconfig. INVALID_ARGUMENT: a kubeconfig that is wrong.
// UNIMPLEMENTED: a user entry that needs a credential program. Others are those of reading a file.
sdk::Result<Access> find_access(const Options& options, sdk::Call& call);

// This pod's namespace when the process runs in one: POD_NAMESPACE, else the service account's file; else "".
std::string own_namespace(sdk::Call& call);

}  // namespace muster::kubernetes
