#include "plugins/kubernetes/credentials.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "plugins/support/base64.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::quote;

constexpr uint64_t kFileMaximum = uint64_t{1} << 20;

// A header's value must not end the header.
bool fits_header(std::string_view value) {
  return std::none_of(value.begin(), value.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

std::string place_and_user(const Chosen& chosen) {
  return fmt::format("{}: user {}", chosen.user.place.to_string(), quote(chosen.user_name));
}

// The header of a token; "where" it stands is for the failure.
sdk::Result<std::string> bearer(sdk::Call& call, std::string_view token, const std::string& where) {
  token = support::trimmed(token);
  call.mark_secret(token);
  if (token.empty())
    return sdk::Failure{
        MUSTER_E_UNAUTHENTICATED, fmt::format("the token in {} is empty", where), {}};
  if (!fits_header(token))
    return sdk::Failure{
        MUSTER_E_INVALID_ARGUMENT,
        fmt::format("the token in {} has a line end or a control character in it", where),
        {}};
  return fmt::format("Bearer {}", token);
}

// A key of Impersonate-Extra-KEY: what may not stand in a header's name is percent-encoded.
std::string header_key(std::string_view key) {
  std::string out;
  for (const char c : key) {
    const bool token = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("!#$&'*+-.^_`|~").find(c) != std::string_view::npos;
    out += token ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

// `exp` of a JSON Web Token, in seconds since 1970; nothing when it has none, or is no such token.
std::optional<int64_t> expiry_of(std::string_view token) {
  const size_t first = token.find('.');
  const size_t second = token.find('.', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return std::nullopt;
  std::string claims(token.substr(first + 1, second - first - 1));
  std::replace(claims.begin(), claims.end(), '-', '+');
  std::replace(claims.begin(), claims.end(), '_', '/');
  const auto text = support::base64_decode(claims);
  if (!text) return std::nullopt;
  simdjson::dom::parser parser;
  double expires = 0;
  if (parser.parse(*text)["exp"].get(expires) || !(expires >= 0 && expires < 1e11))
    return std::nullopt;
  return static_cast<int64_t>(expires);
}

sdk::Result<std::string> id_token(const Chosen& chosen, sdk::Call& call) {
  const KubeAuthProvider& provider = *chosen.user.auth_provider;
  const auto wrong = [&](const char* what, const char* hint) {
    return sdk::Failure{MUSTER_E_INVALID_ARGUMENT,
                        fmt::format("{} has the auth-provider {}, which {}", place_and_user(chosen),
                                    quote(provider.name), what),
                        {{"hint", hint}}};
  };
  if (provider.name == "gcp")
    return wrong("kubectl too no longer has",
                 "use the exec plugin gke-gcloud-auth-plugin: gcloud container clusters "
                 "get-credentials writes it");
  if (provider.name == "azure")
    return wrong("kubectl too no longer has",
                 "use the exec plugin kubelogin (github.com/Azure/kubelogin): kubelogin "
                 "convert-kubeconfig writes it");
  if (provider.name != "oidc")
    return wrong("does not exist", "the only auth-provider is oidc; others are exec plugins");
  if (provider.id_token.empty())
    return wrong("has no id-token", "log in, so that the kubeconfig gets one");
  const auto* clock = call.host().service<muster_clock_v1>(MUSTER_CLOCK_V1);
  const std::optional<int64_t> expires = expiry_of(provider.id_token);
  call.mark_secret(provider.id_token);
  // A recording hides the token, and with it when it expires: there it is the server that says so, for a replay to hear it too.
  if (call.live() && clock != nullptr && expires &&
      clock->realtime_ns(call.get()) / 1'000'000'000 >= *expires)
    return sdk::Failure{
        MUSTER_E_UNAUTHENTICATED,
        fmt::format("{}: the id-token of its auth-provider expired at {:%Y-%m-%dT%H:%M:%SZ}",
                    place_and_user(chosen), fmt::gmtime(static_cast<std::time_t>(*expires))),
        {{"hint",
          "kubectl get pods writes a new one into the kubeconfig where it has a "
          "refresh-token; else log in again"}}};
  return bearer(call, provider.id_token, chosen.user.place.to_string());
}

// The token of the file where there is one in it, else the token beside it.
sdk::Result<std::string> file_or_token(const KubeUser& user, sdk::Call& call) {
  auto token = call.file(user.token_file, kFileMaximum, MUSTER_FILE_SECRET, !user.token.empty());
  if (token && (!support::trimmed(*token).empty() || user.token.empty()))
    return bearer(call, *token, quote(user.token_file, 4096));
  if (!user.token.empty()) return bearer(call, user.token, user.place.to_string());
  return std::move(token).failure().with(
      "hint", fmt::format("{} names it as tokenFile", user.place.to_string()));
}

// A renewal that reads a header's value once more.
template <typename Read>
Renewal reread(const Read& read) {
  return [read](Credentials& credentials) -> sdk::Result<bool> {
    auto authorization = read();
    if (!authorization) return std::move(authorization).failure();
    const bool other = *authorization != credentials.authorization;
    credentials.authorization = *std::move(authorization);
    return other;
  };
}

sdk::Status take_exec(const Chosen& chosen, const std::string& ca_pem, ExecCache& cache, bool anew,
                      sdk::Call& call, Credentials& out) {
  auto given = exec_credential(chosen, ca_pem, cache, anew, call);
  if (!given) return std::move(given).failure();
  out = {"", std::move(given->certificate_pem), std::move(given->key_pem)};
  if (given->token.empty()) return {};
  auto authorization =
      bearer(call, given->token, fmt::format("the answer of {}", quote(chosen.user.exec->command)));
  if (!authorization) return std::move(authorization).failure();
  out.authorization = *std::move(authorization);
  return {};
}

}  // namespace

sdk::Result<std::string> pem_of(sdk::Call& call, const Place& place, const char* what,
                                const std::string& data, const std::string& file, bool secret) {
  if (!data.empty()) {
    if (secret) call.mark_secret(data);
    auto decoded = support::base64_decode(data);
    if (!decoded)
      return sdk::Failure{MUSTER_E_INVALID_ARGUMENT,
                          fmt::format("{}: {}-data is not base64", place.to_string(), what),
                          {}};
    if (secret) call.mark_secret(*decoded);
    return *std::move(decoded);
  }
  if (file.empty()) return std::string();
  auto content = call.file(file, kFileMaximum, secret ? MUSTER_FILE_SECRET : 0);
  if (!content)
    return std::move(content).failure().with(
        "hint", fmt::format("{} names it as {}", place.to_string(), what));
  if (secret) call.mark_secret(*content);
  return std::string(*content);
}

sdk::Result<FoundCredentials> token_file_credentials(const std::string& path, sdk::Call& call) {
  const auto read = [path, &call]() -> sdk::Result<std::string> {
    auto token = call.file(path, kFileMaximum, MUSTER_FILE_SECRET);
    if (!token) return std::move(token).failure();
    return bearer(call, *token, quote(path, 4096));
  };
  FoundCredentials out;
  out.renew = reread(read);
  if (auto renewed = out.renew(out.credentials); !renewed) return std::move(renewed).failure();
  return out;
}

sdk::Result<FoundCredentials> user_credentials(const Chosen& chosen, const std::string& ca_pem,
                                               ExecCache& cache, sdk::Call& call) {
  const KubeUser& user = chosen.user;
  FoundCredentials out;
  auto certificate = pem_of(call, user.place, "client-certificate", user.certificate_data,
                            user.certificate_file, false);
  if (!certificate) return std::move(certificate).failure();
  auto key = pem_of(call, user.place, "client-key", user.key_data, user.key_file, true);
  if (!key) return std::move(key).failure();
  out.credentials.certificate_pem = *std::move(certificate);
  out.credentials.key_pem = *std::move(key);

  call.mark_secret(user.token);
  call.mark_secret(user.password);
  std::optional<sdk::Result<std::string>> authorization;
  if (!user.token_file.empty()) {
    const auto read = [user, &call] { return file_or_token(user, call); };
    authorization = read();
    out.renew = reread(read);
  } else if (!user.token.empty()) {
    authorization = bearer(call, user.token, user.place.to_string());
  } else if (!user.username.empty()) {
    const std::string basic = support::base64_encode(user.username + ":" + user.password);
    call.mark_secret(basic);
    authorization = "Basic " + basic;
  }
  if (user.auth_provider) {
    auto token = id_token(chosen, call);
    if (!token) return std::move(token).failure();
    if (!authorization) authorization = std::move(token);
  }
  if (authorization) {
    if (!*authorization) return std::move(*authorization).failure();
    out.credentials.authorization = **std::move(authorization);
  }
  // Who has other credentials needs no program.
  if (user.exec && out.credentials.empty()) {
    const auto take = [chosen, ca_pem, &cache, &call](bool anew, Credentials& credentials) {
      return take_exec(chosen, ca_pem, cache, anew, call, credentials);
    };
    if (auto status = take(false, out.credentials); !status) return std::move(status).failure();
    out.renew = [take](Credentials& credentials) -> sdk::Result<bool> {
      if (auto status = take(true, credentials); !status) return std::move(status).failure();
      return true;
    };
  }
  return out;
}

sdk::Result<std::vector<std::pair<std::string, std::string>>> impersonation(const Chosen& chosen) {
  const KubeUser& user = chosen.user;
  std::vector<std::pair<std::string, std::string>> out;
  if (!user.as.empty()) out.emplace_back("Impersonate-User", user.as);
  if (!user.as_uid.empty()) out.emplace_back("Impersonate-Uid", user.as_uid);
  for (const std::string& group : user.as_groups) out.emplace_back("Impersonate-Group", group);
  for (const auto& [extra, value] : user.as_extra)
    out.emplace_back("Impersonate-Extra-" + header_key(extra), value);
  for (const auto& [name, value] : out)
    if (!fits_header(value))
      return sdk::Failure{
          MUSTER_E_INVALID_ARGUMENT,
          fmt::format("{} has a control character in what 'as' says", place_and_user(chosen)),
          {}};
  return out;
}

}  // namespace muster::kubernetes
