#include "plugins/support/google/credentials.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <muster/http_streams.hpp>
#include <vector>

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

// A token out of a file or an option; it becomes a header's value.
sdk::Result<Token> given_token(std::string_view text, const std::string& where, sdk::Call& call) {
  text = trimmed(text);
  call.mark_secret(text);
  if (text.empty())
    return sdk::Failure{MUSTER_E_UNAUTHENTICATED, fmt::format("{} is empty", where), {}};
  for (const char c : text)
    if (c <= ' ' || c == 0x7F)
      return sdk::Failure{MUSTER_E_INVALID_ARGUMENT,
                          fmt::format("{} has a blank or control character in it", where),
                          {}};
  return Token{std::string(text), 0, false};
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

sdk::Result<Token> Credentials::gcloud_token(sdk::Call& call) {
  sdk::Program program;
  program.arguments = {"gcloud", "auth", "print-access-token", "--quiet"};
  program.timeout_ns = request_timeout_ns(call);
  auto run = call.run(program);
  if (!run)
    return std::move(run).failure().with("hint",
                                         "'credentials: gcloud' asks gcloud for its login's token");
  if (run->exit_status != 0)
    return sdk::Failure{MUSTER_E_UNAUTHENTICATED,
                        fmt::format("gcloud auth print-access-token failed with exit status {}: {}",
                                    run->exit_status, quote(trimmed(run->error_output), 500)),
                        {{"hint", "gcloud auth login"}}};
  return given_token(run->output, "what gcloud auth print-access-token printed", call);
}

// Whoever asks for the first token asks for the universe too, so that the others who wait for it need not.
sdk::Result<Token> Credentials::metadata_token(sdk::Call& call) {
  std::string scopes = options_.scopes;
  for (char& c : scopes)
    if (c == ' ') c = ',';
  auto said =
      Metadata::get("instance/service-accounts/default/token?scopes=" + percent_encoded(scopes),
                    "get an access token", call, true);
  if (!said) return std::move(said).failure();
  if (!*said)
    return sdk::Failure{MUSTER_E_UNAUTHENTICATED,
                        fmt::format("{} knows no service account of this machine", origin_),
                        {{"hint",
                          "give the VM a service account, or name a credential file by "
                          "GOOGLE_APPLICATION_CREDENTIALS"}}};
  auto token = read_token(**said, now_s(call));
  if (!token) {
    sdk::Failure failure = std::move(token).failure();
    failure.message = fmt::format("{} {}", origin_, failure.message);
    return failure;
  }
  if (!options_.universe.empty() || !shared_->universe().empty()) return token;
  auto universe =
      Metadata::get("universe/universe-domain", "find the universe of the credentials", call);
  if (!universe) return std::move(universe).failure();
  shared_->set_universe(*universe && !(*universe)->empty() ? **universe
                                                           : std::string(kDefaultUniverse));
  return token;
}

sdk::Result<Token> Credentials::get_token(bool self_signed, int64_t timeout_ns, sdk::Call& call) {
  switch (kind_) {
    case Kind::kNone: break;
    case Kind::kToken: return given_token(options_.token, "the option access_token", call);
    case Kind::kTokenFile: {
      auto content = call.file(options_.token_file, kFileMaximum, MUSTER_FILE_SECRET);
      if (!content) return std::move(content).failure().with("option", "/access_token_file");
      return given_token(*content, origin_, call);
    }
    case Kind::kGcloud: return gcloud_token(call);
    case Kind::kFile: return fetch_token(*file_, options_.scopes, self_signed, timeout_ns, call);
    case Kind::kMetadata: return metadata_token(call);
  }
  return sdk::Failure{MUSTER_E_INTERNAL, "there is no token without credentials", {}};
}

// Makes token_ one that can be sent.
sdk::Status Credentials::ensure_token(sdk::Call& call) {
  const auto fetch = [&](bool self_signed, int64_t timeout_ns) {
    return get_token(self_signed, timeout_ns, call);
  };
  if (shared_ != nullptr || !token_) {
    auto token = shared_ != nullptr ? shared_->get(fetch, call) : fetch(true, 0);
    if (!token) return std::move(token).failure();
    token_ = *std::move(token);
  }
  call.mark_secret(token_->text);
  return {};
}

// Forgets a token that was refused; false when another cannot be had.
bool Credentials::renew(sdk::Call& call) {
  if (shared_ != nullptr) return shared_->refuse(*token_, universe_ == kDefaultUniverse);
  if (kind_ != Kind::kTokenFile) return false;
  auto again = get_token(true, 0, call);
  if (!again || again->text == token_->text) return false;
  token_ = *std::move(again);
  return true;
}

// Sends those that have no response yet.
sdk::Status Credentials::send_once(const std::vector<muster_http_request_v1>& requests,
                                   std::vector<std::optional<sdk::Response>>& responses,
                                   sdk::Call& call) {
  std::string authorization;
  std::vector<size_t> open;
  for (size_t n = 0; n < requests.size(); ++n) {
    if (responses[n]) continue;
    open.push_back(n);
    if (kind_ == Kind::kNone) continue;
    const std::string_view url(requests[n].url, requests[n].url_size);
    if (!may_have_token(url, universe_))
      return sdk::Failure{
          MUSTER_E_INVALID_ARGUMENT,
          fmt::format("a token of {} is not sent to {}: it is neither https below {} nor the "
                      "loopback",
                      origin_, quote(url.substr(0, url.find('?')), 200), universe_),
          {{"hint",
            "the option endpoint names an API of Google's, of the option universe_domain, or on "
            "the loopback"}}};
  }
  if (kind_ != Kind::kNone) {
    if (auto status = ensure_token(call); !status) return status;
    authorization = "Bearer " + token_->text;
  }
  const auto signed_request = [&](size_t n, std::vector<muster_http_header_v1>& headers) {
    muster_http_request_v1 request = requests[n];
    headers.assign(request.headers, request.headers + request.header_count);
    if (!authorization.empty())
      headers.push_back({"Authorization", authorization.data(), authorization.size()});
    if (!quota_project_.empty())
      headers.push_back({"x-goog-user-project", quota_project_.data(), quota_project_.size()});
    request.headers = headers.data();
    request.header_count = headers.size();
    return request;
  };
  const sdk::HttpStreams streams(call);
  std::vector<muster_http_header_v1> headers;
  if (open.size() == 1 || !streams.possible()) {
    for (const size_t n : open) {
      auto response = call.send(signed_request(n, headers));
      if (!response) return std::move(response).failure();
      responses[n].emplace(*std::move(response));
    }
    return {};
  }
  std::map<uint64_t, size_t> running;
  sdk::Status status;
  for (size_t at = 0; at < open.size() && status; ++at) {
    auto begun = streams.begin(signed_request(open[at], headers));
    if (begun) {
      running.emplace(*begun, open[at]);
    } else {
      status = std::move(begun).failure();
    }
  }
  while (!running.empty() && status) {
    auto news = streams.next(call.get()->deadline_ns, true);
    if (news.ended == 0) {
      if (news.code == MUSTER_E_CANCELLED)
        status = sdk::Failure{MUSTER_E_CANCELLED, "asking an API of Google's was cancelled", {}};
      continue;
    }
    if (*news.response) {
      responses[running.at(news.ended)].emplace(**std::move(news.response));
    } else {
      status = std::move(*news.response).failure();
    }
    running.erase(news.ended);
  }
  for (const auto& [number, n] : running) streams.end(number);
  return status;
}

sdk::Result<sdk::Response> Credentials::send(const muster_http_request_v1& request,
                                             sdk::Call& call) {
  auto responses = send_together({request}, call);
  if (!responses) return std::move(responses).failure();
  return std::move(responses->front());
}

sdk::Result<std::vector<sdk::Response>> Credentials::send_together(
    const std::vector<muster_http_request_v1>& requests, sdk::Call& call) {
  std::vector<std::optional<sdk::Response>> responses(requests.size());
  if (auto status = send_once(requests, responses, call); !status)
    return std::move(status).failure();
  const auto refused = [](const std::optional<sdk::Response>& response) {
    return response->status() == 401;
  };
  if (std::any_of(responses.begin(), responses.end(), refused) && renew(call)) {
    call.host().log(MUSTER_LOG_DEBUG,
                    "google: the API refuses the token; it is asked again with a new one");
    for (auto& response : responses)
      if (refused(response)) response.reset();
    if (auto status = send_once(requests, responses, call); !status)
      return std::move(status).failure();
  }
  std::vector<sdk::Response> out;
  out.reserve(responses.size());
  for (auto& response : responses) out.push_back(*std::move(response));
  return out;
}

}  // namespace muster::support::google
