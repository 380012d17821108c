// Who we are to Google's APIs: Application Default Credentials, a given token, or gcloud's.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/support/google/shared_token.h"
#include "plugins/support/google/token.h"

namespace muster::support::google {

struct CredentialOptions {
  enum class From { kDefault, kGcloud, kNone };
  From from = From::kDefault;  // gcloud: its print-access-token; none: requests carry no token
  std::string token;           // over `from`
  std::string token_file;
  std::string file;           // a credential file, in place of GOOGLE_APPLICATION_CREDENTIALS
  std::string quota_project;  // over the file's and GOOGLE_CLOUD_QUOTA_PROJECT
  std::string universe;       // "": the credentials'
  std::string scopes;         // apart by blanks
};

// The credentials of one resolver. All resolvers of a plugin that have the same share a token, which is kept until it is about to expire;
// in a recording or a replay each call has its own. [one-at-a-time]
class Credentials {
 public:
  explicit Credentials(CredentialOptions options) : options_(std::move(options)) {}

  // Looks for them, in this order: the options; GOOGLE_APPLICATION_CREDENTIALS; gcloud's application_default_credentials.json; the
  // metadata server. At the beginning of each call: a file that has changed counts. UNAUTHENTICATED with each place looked at
  // when there are none; the failure of the first place that is there and does not serve. Without `ask` nobody is asked: where
  // nothing else is found, it is taken for granted that there is a metadata server.
  sdk::Status find(sdk::Call& call, bool ask = true);

  // After find. In words: "the credential file '/home/u/key.json'".
  const std::string& origin() const { return origin_; }
  // After find. Who they are, as IAM writes it: "serviceAccount:grape@orchard.iam.gserviceaccount.com"; with EMAIL where that is not known.
  std::string member() const;
  // After find. Whose APIs they are for: "googleapis.com".
  const std::string& universe() const { return universe_; }
  // After find. The project that the environment or the credentials name; "" for none.
  const std::string& project() const { return project_; }

  // After find. The requests that a first token costs, in order: to whom, what for, and why.
  struct TokenRequest {
    std::string server, request, reason;
  };
  std::vector<TokenRequest> token_requests(const sdk::Call& call) const;

  // Sends a request with the token beside its own headers, and with x-goog-user-project where there is a quota project. Where the
  // API refuses the token (401) it is sent once more with a new one, if there can be one. INVALID_ARGUMENT: the URL's host may
  // not have the token.
  sdk::Result<sdk::Response> send(const muster_http_request_v1& request, sdk::Call& call);
  // The same for several that do not wait for one another; each response stands at its request's place. One new token serves all that
  // were refused. The first that fails ends the others.
  sdk::Result<std::vector<sdk::Response>> send_together(
      const std::vector<muster_http_request_v1>& requests, sdk::Call& call);

 private:
  enum class Kind { kNone, kToken, kTokenFile, kGcloud, kFile, kMetadata };

  sdk::Status use_file(const std::string& path, const std::string& said_by, sdk::Call& call);
  sdk::Status use_metadata(const std::string& looked_at, sdk::Call& call);
  void use(Kind kind, std::string origin, const std::string& what, const sdk::Call& call);
  sdk::Status ensure_token(sdk::Call& call);
  sdk::Result<Token> get_token(bool self_signed, int64_t timeout_ns, sdk::Call& call);
  sdk::Result<Token> gcloud_token(sdk::Call& call);
  sdk::Result<Token> metadata_token(sdk::Call& call);
  bool renew(sdk::Call& call);
  sdk::Status send_once(const std::vector<muster_http_request_v1>& requests,
                        std::vector<std::optional<sdk::Response>>& responses, sdk::Call& call);

  CredentialOptions options_;
  Kind kind_ = Kind::kNone;
  std::string origin_, universe_, project_, quota_project_;
  std::string file_path_;
  std::optional<CredentialFile> file_;
  std::shared_ptr<SharedToken> shared_;  // null for those that cost nothing: none, and given ones
  std::optional<Token> token_;           // what was sent last
};

}  // namespace muster::support::google
