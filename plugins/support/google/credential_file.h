// Credential files of Google Cloud, as `gcloud auth application-default login`, the console and workload identity federation
// write them. Knows nothing of networks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/plugin.hpp>

namespace muster::support::google {

// Where an external account's own token comes from: one of the five.
struct SubjectSource {
  enum class Kind { kFile, kUrl, kExecutable, kAws, kCertificate };
  Kind kind = Kind::kFile;
  std::string file;
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;  // of the request for it
  std::string
      json_field;  // of file and URL: JSON in which the token stands there; "": it is the token
  std::string command, output_file;  // an executable, and where it keeps its answer
  std::string aws_verification_url;  // what is signed, with {region} in it
  std::string aws_region_url, aws_keys_url,
      aws_session_url;             // of the metadata service; "" for none
  std::string certificate_config;  // "": the usual place
  std::string trust_chain;         // "" for none
};

struct CredentialFile {
  enum class Type {
    kServiceAccount,
    kAuthorizedUser,
    kExternalAccount,
    kExternalAccountUser,
    kImpersonated,
  };
  Type type = Type::kServiceAccount;
  std::string place;  // in words: "'/home/u/key.json'"
  std::string project, quota_project, universe;

  std::string client_email, private_key, private_key_id;  // service_account
  std::string token_url;                                  // of all but impersonated
  std::string client_id, client_secret, refresh_token;
  std::string audience, subject_token_type, workforce_user_project;  // external_account
  SubjectSource subject;
  std::string impersonation_url;  // "" for none
  std::vector<std::string> delegates;
  int64_t lifetime_s = 3600;
  std::shared_ptr<const CredentialFile> source;  // of impersonated

  std::vector<std::string> secrets;
};

// Reads one. The failure is INVALID_ARGUMENT, or UNIMPLEMENTED for a type that this muster does not have; it names the file, the key
// or the type, and no word of the content.
sdk::Result<CredentialFile> read_credential_file(std::string_view json, const std::string& path);

}  // namespace muster::support::google
