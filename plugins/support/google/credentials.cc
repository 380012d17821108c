// Where credentials are looked for, and what is told of them. What is done with them: credentials_send.cc.
#include "plugins/support/google/credentials.h"

#include <fmt/format.h>

#include "plugins/support/google/metadata.h"
#include "plugins/support/google/token_host.h"
#include "plugins/support/text.h"

namespace muster::support::google {
namespace {

constexpr uint64_t kFileMaximum = uint64_t{1} << 20;
constexpr const char* kVariable = "GOOGLE_APPLICATION_CREDENTIALS";
constexpr const char* kHint =
    "on a laptop: gcloud auth application-default login (or 'credentials: gcloud' for the login of "
    "gcloud itself); elsewhere name a credential file by GOOGLE_APPLICATION_CREDENTIALS";

std::string variable(const sdk::Call& call, const char* name) {
  const auto value = call.variable(name);
  return value ? std::string(*value) : std::string();
}

}  // namespace

// `what`: all that makes these credentials other ones.
void Credentials::use(Kind kind, std::string origin, const std::string& what,
                      const sdk::Call& call) {
  kind_ = kind;
  origin_ = std::move(origin);
  token_.reset();
  if (kind != Kind::kFile && kind != Kind::kMetadata && kind != Kind::kGcloud) {
    shared_.reset();
    return;
  }
  // A recording has what each call was told.
  shared_ =
      call.live()
          ? SharedToken::of(fmt::format("{} {} {}", static_cast<int>(kind), options_.scopes, what))
          : std::make_shared<SharedToken>();
}

sdk::Status Credentials::use_file(const std::string& path, const std::string& said_by,
                                  sdk::Call& call) {
  auto content = call.file(path, kFileMaximum);
  if (!content) return std::move(content).failure().with("hint", said_by + " names this file");
  auto read = read_credential_file(*content, path);
  if (!read) {
    call.mark_secret(*content);  // nobody knows where in it the secrets are
    return std::move(read).failure().with("hint", said_by + " names this file");
  }
  for (const std::string& secret : read->secrets) call.mark_secret(secret);
  use(Kind::kFile, fmt::format("the credential file {} ({})", read->place, said_by),
      std::string(*content), call);
  file_path_ = path;
  file_ = *std::move(read);
  universe_ = file_->universe;
  if (project_.empty()) project_ = file_->project;
  if (quota_project_.empty()) quota_project_ = file_->quota_project;
  return {};
}

sdk::Status Credentials::use_metadata(const std::string& looked_at, sdk::Call& call) {
  use(Kind::kMetadata, fmt::format("the metadata server {}", Metadata::host(call)),
      Metadata::host(call) + " " + options_.universe, call);
  // The token is the question that tells whether there is a server.
  if (auto status = ensure_token(call); !status) {
    sdk::Failure failure = std::move(status).failure();
    if (call.cancelled() || failure.code == MUSTER_E_PERMISSION_DENIED ||
        failure.code == MUSTER_E_DATA_LOSS || Metadata::expected(call))
      return failure;
    const std::string why = !failure.message.empty()
                                ? failure.message
                                : fmt::format(
                                      "the metadata server {} does not answer, so this is no "
                                      "machine of Google Cloud",
                                      Metadata::host(call));
    return sdk::Failure{MUSTER_E_UNAUTHENTICATED,
                        fmt::format("there are no Google credentials: {}; {}", looked_at, why),
                        {{"hint", kHint}}};
  }
  if (options_.universe.empty()) universe_ = shared_->universe();
  return {};
}

std::string Credentials::member() const {
  if (!file_) return "serviceAccount:EMAIL";
  if (file_->type == CredentialFile::Type::kServiceAccount)
    return "serviceAccount:" + file_->client_email;
  if (file_->type == CredentialFile::Type::kAuthorizedUser) return "user:EMAIL";
  // ".../serviceAccounts/EMAIL:generateAccessToken"
  const std::string& url = file_->impersonation_url;
  const size_t from = url.rfind('/') + 1;
  const size_t end = url.rfind(':');
  return from == 0 || end == std::string::npos || end < from
             ? "serviceAccount:EMAIL"
             : "serviceAccount:" + url.substr(from, end - from);
}

std::vector<Credentials::TokenRequest> Credentials::token_requests(const sdk::Call& call) const {
  std::vector<TokenRequest> out;
  if (kind_ == Kind::kMetadata) {
    out.push_back({"metadata server", "an access token", "a later resolve has it for an hour"});
    if (options_.universe.empty())
      out.push_back({"metadata server", "universe/universe-domain", "a later resolve knows it"});
  } else if (kind_ == Kind::kFile) {
    for (const std::string& url : urls_asked(*file_, call)) {
      const size_t from = url.find("://") == std::string::npos ? 0 : url.find("://") + 3;
      out.push_back({url.substr(from, url.find('/', from) - from), "an access token",
                     "a later resolve has it for an hour"});
    }
  }
  return out;
}

sdk::Status Credentials::find(sdk::Call& call, bool ask) {
  file_.reset();
  project_ = variable(call, "GOOGLE_CLOUD_PROJECT");
  if (project_.empty()) project_ = variable(call, "GCLOUD_PROJECT");
  quota_project_ = !options_.quota_project.empty() ? options_.quota_project
                                                   : variable(call, "GOOGLE_CLOUD_QUOTA_PROJECT");
  universe_ = !options_.universe.empty() ? options_.universe : std::string(kDefaultUniverse);
  const auto look = [&]() -> sdk::Status {
    if (!options_.token.empty()) {
      use(Kind::kToken, "the option access_token", "", call);
      return {};
    }
    if (!options_.token_file.empty()) {
      use(Kind::kTokenFile, fmt::format("the token file {}", quote(options_.token_file, 4096)), "",
          call);
      return {};
    }
    if (!options_.file.empty()) return use_file(options_.file, "the option credentials_file", call);
    if (options_.from == CredentialOptions::From::kNone) {
      use(Kind::kNone, "no credentials (credentials: none)", "", call);
      return {};
    }
    if (options_.from == CredentialOptions::From::kGcloud) {
      use(Kind::kGcloud, "gcloud auth print-access-token", "", call);
      return {};
    }
    if (const std::string path = variable(call, kVariable); !path.empty())
      return use_file(path, kVariable, call);
    const std::string folder = variable(call, "CLOUDSDK_CONFIG");
    const std::string known =
        (folder.empty() ? "~/.config/gcloud" : folder) + "/application_default_credentials.json";
    const auto there = call.file(known, kFileMaximum, 0, true);
    if (there || there.failure().code != MUSTER_E_NOT_FOUND)
      return use_file(known, folder.empty() ? "gcloud" : "CLOUDSDK_CONFIG", call);
    if (!ask) {
      use(Kind::kMetadata, "the metadata server", Metadata::host(call), call);
      return {};
    }
    return use_metadata(
        fmt::format("{} is not set; {} does not exist", kVariable, quote(known, 4096)), call);
  };
  if (auto status = look(); !status) return status;
  if (!options_.universe.empty() && kind_ == Kind::kFile && universe_ != options_.universe)
    return sdk::Failure{MUSTER_E_INVALID_ARGUMENT,
                        fmt::format("{} is of the universe {}, and the options say {}", origin_,
                                    quote(universe_), quote(options_.universe)),
                        {{"option", "/universe_domain"}}};
  if (!options_.universe.empty()) universe_ = options_.universe;
  call.host().log(MUSTER_LOG_DEBUG, "google: credentials are " + origin_);
  return {};
}

}  // namespace muster::support::google
