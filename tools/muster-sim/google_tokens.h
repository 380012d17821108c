#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "answer.h"
#include "aws.h"
#include "google.h"
#include "result.h"
#include "tls_material.h"

namespace muster::sim {

// The key of the service account, and the texts of credential files that lead here.
struct GoogleKey {
  KeyPtr key;
  std::string email = "grape@orchard.iam.gserviceaccount.com";
  std::string refresh_token, client_secret, subject_token;
  AwsMachine aws;
};
Result<GoogleKey> make_google_key();

// Credential files by name: service_account.json, authorized_user.json, external_account.json (whose token is in `subject_token_file`),
// aws.json, impersonated.json; x509.json where there is a certificate configuration. Their endpoints are below url.
std::map<std::string, std::string> credential_files(const GoogleKey& key, const std::string& url,
                                                    const std::string& subject_token_file,
                                                    const std::string& certificate_config);

// Who gives tokens, and what a token is worth: the OAuth endpoint (/token), STS (/v1/token), IAM's generateAccessToken, the metadata
// server's, and AWS's metadata service with what STS takes for a token. Safe to call from many threads.
class GoogleTokens {
 public:
  explicit GoogleTokens(std::shared_ptr<const GoogleKey> key) : key_(std::move(key)) {}

  // The answer of an endpoint, or nothing when the path is none of them.
  std::optional<Answer> handle(const Call& call, const Google& world);
  // A token that is good for ever.
  void accept(const std::string& token);
  // A new token.
  std::string give(const Google& world);
  // Why a request's Authorization does not do; "" when it does.
  std::string refusal(const std::string& authorization, const Google& world);

 private:
  Answer oauth(const Call& call, const Google& world);
  Answer sts(const Call& call, const Google& world);
  Answer iam(const Call& call, const Google& world);
  // Why an external account's own token does not count; "" when it does.
  std::string judge_subject(const Call& call, const Google& world) const;
  // Why a signed text does not count; "" when it does.
  std::string judge_jwt(const std::string& jwt, const Google& world, bool assertion) const;

  std::shared_ptr<const GoogleKey> key_;
  std::mutex mutex_;
  std::map<std::string, std::int64_t> given_;  // token -> when it ends, ms; guarded by mutex_
};

}  // namespace muster::sim
