// How the API server is reached: its URL, TLS, credentials and the namespace, from a kubeconfig or from inside a pod.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <muster/http_streams.hpp>
#include <muster/plugin.hpp>

#include "plugins/kubernetes/credentials.h"
#include "plugins/kubernetes/options.h"
#include "plugins/kubernetes/permissions.h"

namespace muster::kubernetes {

// One GET of the API server, without what an Access adds. The texts outlive it.
struct Get {
  Get(const std::string& url, std::string_view forms, const std::string& purpose);
  Get(const Get&) = delete;
  Get& operator=(const Get&) = delete;

  muster_http_request_v1 request = {};

 private:
  muster_http_header_v1 accept_;
};

struct Access {
  std::string server;      // "https://host:port/prefix" without a slash at the end
  std::string name_space;  // "": all
  std::string origin;  // in words: "context 'lab' of /home/u/.kube/config", "inside the cluster"
  bool within_cluster = false;
  bool insecure = false;
  std::string ca_pem;
  std::string tls_server_name;
  std::string proxy_url;
  std::vector<std::pair<std::string, std::string>> headers;  // Impersonate-*, Accept-Encoding
  std::string settings;            // where TLS, proxy and credentials are said, in words
  int64_t timeout_ns = 0;          // of each request that says none itself; 0: the call's deadline
  std::string user;                // in words, for the message about permissions; "" when not known
  std::vector<Permission> needed;  // for all that is asked of the server

  // Sends a request with all of the above beside its own headers. Where the server refuses the credentials (401) and others
  // can be had (a rotated token file, a credential program), it is sent once more with those: once for one Access.
  sdk::Result<sdk::Response> send(muster_http_request_v1 request, sdk::Call& call) const;
  // Begins one with all of the above, beside others; see renew and explain for what comes of it.
  sdk::Result<uint64_t> begin(const muster_http_request_v1& request,
                              const sdk::HttpStreams& streams) const;
  // After a 401: whether others can be had, and they are then; once for one Access.
  sdk::Result<bool> renew(sdk::Call& call) const;
  // A failed request's failure: of TLS and of a proxy, with the place where they are said.
  sdk::Failure explain(sdk::Failure failure) const;
  bool anonymous() const { return found->credentials.empty(); }

  // The request with all of the above; `headers` keeps what it points to.
  muster_http_request_v1 fill(muster_http_request_v1 request,
                              std::vector<muster_http_header_v1>& all) const;

  // Shared by copies, for all of them are renewed together.
  std::shared_ptr<FoundCredentials> found = std::make_shared<FoundCredentials>();
};

// Finds it anew, so that rotated tokens and edited files are seen; what a credential program gave is kept in `cache`, which is
// the resolver's. Good during this call alone. Tells the core every secret it reads. `watching`: it is to be for a watch.
// FAILED_PRECONDITION: there is neither a kubeconfig nor a service account. INVALID_ARGUMENT: a kubeconfig that is wrong.
// UNAUTHENTICATED: credentials that cannot be had. Others are those of reading a file and of running a program.
sdk::Result<Access> find_access(const Options& options, bool watching, ExecCache& cache,
                                sdk::Call& call);

// Where the members are looked for, by the environment and files alone: as find_access finds it, without credentials.
struct Where {
  std::string name_space;       // "": all
  bool within_cluster = false;  // as the pod's service account
};
sdk::Result<Where> find_where(const Options& options, sdk::Call& call);

// The token of this pod's service account, told as a secret; "" when there is none.
std::string own_token(sdk::Call& call);

// This pod's namespace when the process runs in one: POD_NAMESPACE, else the service account's file; else "".
std::string own_namespace(sdk::Call& call);

}  // namespace muster::kubernetes
