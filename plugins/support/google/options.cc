#include "plugins/support/google/options.h"

namespace muster::support::google {

void take_credential_option(std::string_view key, std::string_view text, CredentialOptions& out) {
  for (const auto& [name, place] :
       {std::pair<const char*, std::string*>{"access_token", &out.token},
        {"access_token_file", &out.token_file},
        {"credentials_file", &out.file},
        {"quota_project", &out.quota_project},
        {"universe_domain", &out.universe}})
    if (key == name) *place = text;
  if (key == "credentials")
    out.from = text == "gcloud" ? CredentialOptions::From::kGcloud
               : text == "none" ? CredentialOptions::From::kNone
                                : CredentialOptions::From::kDefault;
}

sdk::Status check_credential_options(const CredentialOptions& options) {
  int given = 0;
  for (const bool one : {!options.token.empty(), !options.token_file.empty(), !options.file.empty(),
                         options.from != CredentialOptions::From::kDefault})
    given += one ? 1 : 0;
  if (given > 1)
    return sdk::Failure{
        MUSTER_E_INVALID_ARGUMENT,
        "'credentials', 'credentials_file', 'access_token' and 'access_token_file' each say "
        "who you are: one of them can be given",
        {{"option", "/credentials"}}};
  return {};
}

}  // namespace muster::support::google
