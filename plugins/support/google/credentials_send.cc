// With the credentials that were found: tokens, and the requests that carry them.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include <muster/http_streams.hpp>

#include "plugins/support/google/credentials.h"
#include "plugins/support/google/metadata.h"
#include "plugins/support/google/token_host.h"
#include "plugins/support/program.h"
#include "plugins/support/quote_answer.h"
#include "plugins/support/text.h"

namespace muster::support::google {
namespace {

constexpr uint64_t kFileMaximum = uint64_t{1} << 20;

bool is_domain(std::string_view text) {
  return text.size() <= 253 && text.find("..") == std::string_view::npos && text.front() != '.' &&
         text.back() != '.' && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
         });
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

sdk::Result<Token> Credentials::gcloud_token(sdk::Call& call) {
  sdk::Program program;
  program.arguments = {"gcloud", "auth", "print-access-token", "--quiet"};
  program.timeout_ns = request_timeout_ns(call);
  auto run = call.run(program);
  if (!run)
    return std::move(run).failure().with("hint",
                                         "'credentials: gcloud' asks gcloud for its login's token");
  hide_said(run->error_output, call);
  if (run->exit_status != 0) {
    call.mark_secret(run->output);
    return sdk::Failure{
        MUSTER_E_UNAUTHENTICATED,
        fmt::format("gcloud auth print-access-token failed with exit status {}: {}",
                    run->exit_status, quote_answer(run->error_output, AskedFor::kCredential)),
        {{"hint", "gcloud auth print-access-token tells why; gcloud auth login"}}};
  }
  return given_token(run->output, "what gcloud auth print-access-token printed", call);
}

// Whoever asks for the first token asks for the universe too, so that the others who wait for it need not.
sdk::Result<Token> Credentials::metadata_token(sdk::Call& call) {
  std::string scopes = options_.scopes;
  for (char& c : scopes)
    if (c == ' ') c = ',';
  auto said =
      Metadata::get("instance/service-accounts/default/token?scopes=" + percent_encoded(scopes),
                    "get an access token", call, AskedFor::kCredential);
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
  const bool named = *universe && !(*universe)->empty();
  // The token goes to the hosts below it.
  if (named && !is_domain(**universe))
    return sdk::Failure{MUSTER_E_DATA_LOSS,
                        fmt::format("{} says that the universe is {}, which is no domain", origin_,
                                    quote_answer(**universe, AskedFor::kData)),
                        {{"hint", "the option universe_domain says it in its place"}}};
  shared_->set_universe(named ? **universe : std::string(kDefaultUniverse));
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
