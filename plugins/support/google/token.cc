#include "plugins/support/google/token.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <simdjson.h>

#include <array>

#include "plugins/support/base64.h"
#include "plugins/support/google/jwt.h"
#include "plugins/support/google/subject_token.h"
#include "plugins/support/google/token_host.h"
#include "plugins/support/http_status.h"
#include "plugins/support/quote_answer.h"
#include "plugins/support/rfc3339.h"
#include "plugins/support/text.h"
#include "plugins/support/unique_keys.h"

namespace muster::support::google {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

constexpr uint64_t kMaximum = uint64_t{1} << 20;
constexpr int64_t kLife_s = 3600;      // of what a service account signs: more is refused
constexpr int64_t kUnknown_s = 300;    // of a token whose endpoint does not say how long it is good
constexpr int64_t kLongest_s = 86400;  // nobody gives more
constexpr const char* kRedacted = "REDACTED";
constexpr const char* kCloudPlatform = "https://www.googleapis.com/auth/cloud-platform";

class JsonText {
 public:
  JsonText() : writer_(buffer_) { writer_.StartObject(); }
  JsonText& add(const char* key, std::string_view value) {
    writer_.Key(key);
    return string(value);
  }
  JsonText& add(const char* key, int64_t value) {
    writer_.Key(key);
    writer_.Int64(value);
    return *this;
  }
  JsonText& add(const char* key, const std::vector<std::string>& values) {
    writer_.Key(key);
    writer_.StartArray();
    for (const std::string& value : values) string(value);
    writer_.EndArray();
    return *this;
  }
  std::string text() {
    writer_.EndObject();
    return {buffer_.GetString(), buffer_.GetSize()};
  }

 private:
  JsonText& string(std::string_view value) {
    writer_.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
    return *this;
  }
  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_;
};

std::string form(std::initializer_list<std::pair<const char*, std::string>> fields) {
  std::string out;
  for (const auto& [name, value] : fields) {
    if (value.empty()) continue;
    out += fmt::format("{}{}={}", out.empty() ? "" : "&", name, percent_encoded(value));
  }
  return out;
}

// The reasons of RFC 6749, RFC 8628 and RFC 8693 (OAuth's {"error": WORD}) and of Google's APIs ({"error": {"status": WORD}}). No other word of such an
// answer is shown.
constexpr std::array<const char*, 22> kReasons = {"invalid_request",
                                                  "invalid_client",
                                                  "invalid_grant",
                                                  "unauthorized_client",
                                                  "unsupported_grant_type",
                                                  "invalid_scope",
                                                  "invalid_target",
                                                  "access_denied",
                                                  "server_error",
                                                  "temporarily_unavailable",
                                                  "invalid_token",
                                                  "admin_policy_enforced",
                                                  "org_internal",
                                                  "rate_limit_exceeded",
                                                  "account_selection_required",
                                                  "INVALID_ARGUMENT",
                                                  "NOT_FOUND",
                                                  "PERMISSION_DENIED",
                                                  "UNAUTHENTICATED",
                                                  "RESOURCE_EXHAUSTED",
                                                  "FAILED_PRECONDITION",
                                                  "UNAVAILABLE"};

// The one of them that an endpoint gives; "" for none.
std::string_view reason_of(std::string_view body) {
  simdjson::dom::parser parser;
  element root;
  std::string_view said;
  if (parser.parse(body.data(), body.size()).get(root) || !repeated_key(root).empty()) return "";
  if (root.at_pointer("/error").get_string().get(said) &&
      root.at_pointer("/error/status").get_string().get(said))
    return "";
  for (const char* reason : kReasons)
    if (said == reason) return reason;
  return "";
}

std::string hint_of(const CredentialFile& file, std::string_view reason, int64_t now) {
  if (file.type == CredentialFile::Type::kAuthorizedUser ||
      file.type == CredentialFile::Type::kExternalAccountUser)
    return "log in again: gcloud auth application-default login";
  if (file.type == CredentialFile::Type::kServiceAccount && reason == "invalid_grant")
    return fmt::format(
        "is the key deleted, or this machine's clock wrong? It says {:%Y-%m-%dT%H:%M:%SZ}",
        fmt::gmtime(static_cast<std::time_t>(now)));
  return "gcloud auth application-default print-access-token asks the same";
}

class Fetcher {
 public:
  Fetcher(const CredentialFile& file, int64_t timeout_ns, sdk::Call& call)
      : file_(file), timeout_ns_(timeout_ns), call_(call) {}

  sdk::Result<Token> fetch(const std::string& scopes, bool self_signed) {
    for (const std::string& secret : file_.secrets) call_.mark_secret(secret);
    using Type = CredentialFile::Type;
    switch (file_.type) {
      case Type::kServiceAccount:
        return self_signed || file_.universe != kDefaultUniverse ? sign(scopes) : grant(scopes);
      case Type::kAuthorizedUser:
        return post(file_.token_url, form({{"grant_type", "refresh_token"},
                                           {"client_id", file_.client_id},
                                           {"client_secret", file_.client_secret},
                                           {"refresh_token", file_.refresh_token}}));
      case Type::kExternalAccountUser:
        return post(file_.token_url,
                    form({{"grant_type", "refresh_token"}, {"refresh_token", file_.refresh_token}}),
                    basic());
      case Type::kExternalAccount: {
        auto token = exchange(file_.impersonation_url.empty() ? scopes : kCloudPlatform);
        return !token || file_.impersonation_url.empty() ? std::move(token)
                                                         : impersonate(*token, scopes);
      }
      case Type::kImpersonated: {
        auto token = Fetcher(*file_.source, timeout_ns_, call_).fetch(kCloudPlatform, true);
        return token ? impersonate(*token, scopes) : std::move(token);
      }
    }
    return sdk::Failure{MUSTER_E_INTERNAL, "no such type of credentials", {}};
  }

 private:
  sdk::Failure wrong(const std::string& why) const {
    return {
        MUSTER_E_INVALID_ARGUMENT, fmt::format("the credential file {}: {}", file_.place, why), {}};
  }

  // `claims` has all but the times.
  sdk::Result<std::string> jwt(JsonText&& claims, int64_t now) {
    // A replay knows no key, and nobody reads what would be signed with it.
    if (trimmed(file_.private_key) == kRedacted) return std::string(kRedacted);
    JsonText header;
    header.add("alg", "RS256").add("typ", "JWT");
    if (!file_.private_key_id.empty()) header.add("kid", file_.private_key_id);
    auto token = signed_jwt(header.text(), claims.add("iat", now).add("exp", now + kLife_s).text(),
                            file_.private_key);
    if (!token) return wrong(token.failure().message);
    call_.mark_secret(*token);
    return token;
  }

  sdk::Result<Token> sign(const std::string& scopes) {
    const int64_t now = now_s(call_);
    JsonText claims;
    claims.add("iss", file_.client_email).add("sub", file_.client_email).add("scope", scopes);
    auto token = jwt(std::move(claims), now);
    if (!token) return std::move(token).failure();
    return Token{*std::move(token), now + kLife_s, true};
  }

  sdk::Result<Token> grant(const std::string& scopes) {
    JsonText claims;
    claims.add("iss", file_.client_email).add("scope", scopes).add("aud", file_.token_url);
    auto assertion = jwt(std::move(claims), now_s(call_));
    if (!assertion) return std::move(assertion).failure();
    return post(file_.token_url,
                form({{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"},
                      {"assertion", *assertion}}));
  }

  std::string basic() const {
    return file_.client_secret.empty()
               ? ""
               : "Basic " + base64_encode(file_.client_id + ":" + file_.client_secret);
  }

  sdk::Result<Token> exchange(const std::string& scopes) {
    auto subject = subject_token(file_, call_);
    if (!subject) return std::move(subject).failure();
    identity_ = *subject;
    std::string options;
    if (!file_.workforce_user_project.empty() && file_.client_id.empty())
      options = percent_encoded(JsonText().add("userProject", file_.workforce_user_project).text());
    return post(file_.token_url,
                form({{"grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"},
                      {"audience", file_.audience},
                      {"scope", scopes},
                      {"requested_token_type", "urn:ietf:params:oauth:token-type:access_token"},
                      {"subject_token", subject->text},
                      {"subject_token_type", file_.subject_token_type},
                      {"options", options}}),
                basic());
  }

  sdk::Result<Token> impersonate(const Token& token, const std::string& scopes) {
    std::vector<std::string> list;
    for (size_t at = 0; at < scopes.size();) {
      const size_t end = std::min(scopes.find(' ', at), scopes.size());
      list.push_back(scopes.substr(at, end - at));
      at = end + 1;
    }
    JsonText body;
    body.add("scope", list)
        .add("lifetime", fmt::format("{}s", file_.lifetime_s))
        .add("delegates", file_.delegates);
    return post(file_.impersonation_url, body.text(), "Bearer " + token.text, "application/json");
  }

  sdk::Result<Token> post(const std::string& url, const std::string& body,
                          const std::string& authorization = "",
                          std::string_view type = "application/x-www-form-urlencoded") {
    if (!may_have_token(url, file_.universe))
      return wrong(
          fmt::format("it would send secrets to {}, which is neither https below {} nor "
                      "the loopback",
                      quote_url(url), file_.universe));
    std::vector<muster_http_header_v1> headers = {{"Content-Type", type.data(), type.size()}};
    if (!authorization.empty())
      headers.push_back({"Authorization", authorization.data(), authorization.size()});
    muster_http_request_v1 request = {};
    request.struct_size = sizeof request;
    request.flags = MUSTER_HTTP_IDEMPOTENT | MUSTER_HTTP_SECRET_BODY;
    request.method = "POST";
    request.url = url.data();
    request.url_size = url.size();
    request.headers = headers.data();
    request.header_count = headers.size();
    request.body = body.data();
    request.body_size = body.size();
    request.maximum_body_size = kMaximum;
    request.client_certificate_pem = identity_.certificate_pem.data();
    request.client_certificate_pem_size = identity_.certificate_pem.size();
    request.client_key_pem = identity_.key_pem.data();
    request.client_key_pem_size = identity_.key_pem.size();
    request.purpose = "get an access token";
    request.timeout_ns = timeout_ns_ != 0 ? timeout_ns_ : request_timeout_ns(call_);
    call_.progress("an access token of Google");
    auto response = call_.send(request);
    if (!response)
      return std::move(response).failure().with(
          "hint", fmt::format("the credential file {} names it to get tokens from", file_.place));
    const int64_t status = response->status();
    if (status != 200) {
      // Here the credentials are the question: none of these says that the members are not there.
      int32_t code = code_of_status(status);
      if (code == MUSTER_E_NOT_FOUND || code == MUSTER_E_FAILED_PRECONDITION ||
          code == MUSTER_E_INVALID_ARGUMENT)
        code = MUSTER_E_UNAUTHENTICATED;
      const std::string_view reason = reason_of(response->body());
      return sdk::Failure{
          code,
          fmt::format("{} gives no token for the credentials of {}: status {} ({}){}; {}",
                      quote_url(url), file_.place, status, status_in_words(status),
                      reason.empty() ? "" : fmt::format(", reason '{}'", reason),
                      quote_answer(response->body(), AskedFor::kCredential)),
          {{"http_status", std::to_string(status)},
           {"endpoint", url},
           {"hint", hint_of(file_, reason, now_s(call_))}}};
    }
    auto token = read_token(response->body(), now_s(call_));
    if (!token) {
      sdk::Failure failure = std::move(token).failure();
      failure.message = fmt::format("{} {}", quote_url(url), failure.message);
      return std::move(failure).with("endpoint", url);
    }
    call_.mark_secret(token->text);
    return token;
  }

  const CredentialFile& file_;
  const int64_t timeout_ns_;
  sdk::Call& call_;
  SubjectToken
      identity_;  // of an external account; its certificate is shown to whom the token comes from
};

}  // namespace

int64_t request_timeout_ns(const sdk::Call& call) {
  constexpr int64_t kMinute_ns = 60'000'000'000;
  const auto* clock = call.host().service<muster_clock_v1>(MUSTER_CLOCK_V1);
  if (clock == nullptr) return kMinute_ns;
  const int64_t left = call.get()->deadline_ns - clock->monotonic_ns(call.get());
  return left > 60 * kMinute_ns ? kMinute_ns : 0;
}

int64_t now_s(const sdk::Call& call) {
  const auto* clock = call.host().service<muster_clock_v1>(MUSTER_CLOCK_V1);
  return clock == nullptr ? 0 : clock->realtime_ns(call.get()) / 1'000'000'000;
}

sdk::Result<Token> read_token(std::string_view answer, int64_t now) {
  if (trimmed(answer) == kRedacted) return Token{kRedacted, 0, false};
  const auto wrong = [](std::string why) {
    return sdk::Failure{MUSTER_E_DATA_LOSS, std::move(why), {}};
  };
  simdjson::dom::parser parser;
  element document;
  object root;
  if (parser.parse(answer.data(), answer.size()).get(document) || document.get_object().get(root))
    return wrong("answers with no JSON object where a token should be");
  if (const std::string key = repeated_key(document); !key.empty())
    return wrong(fmt::format("answers with a token whose key {} stands there twice", quote(key)));
  std::string_view text, when;
  Token token;
  if (!root["accessToken"].get_string().get(text)) {
    if (root["expireTime"].get_string().get(when)) when = {};
    const auto expires = parse_rfc3339(when);
    token.expires = expires ? *expires : now + kUnknown_s;
  } else if (!root["access_token"].get_string().get(text)) {
    // A number to most, a text to some.
    int64_t seconds = 0;
    if (root["expires_in"].get_int64().get(seconds)) {
      std::string_view digits;
      std::optional<int64_t> read;
      if (!root["expires_in"].get_string().get(digits)) read = parse_digits(digits, kLongest_s);
      seconds = read ? *read : kUnknown_s;
    }
    token.expires = now + std::min(std::max<int64_t>(seconds, 0), kLongest_s);
  } else {
    return wrong("answers without a token");
  }
  // It becomes a header's value, which must not end the header.
  for (const char c : text)
    if (c <= ' ' || c == 0x7F)
      return wrong("answers with a token that has a blank or control character in it");
  if (text.empty()) return wrong("answers with an empty token");
  token.text = text;
  return token;
}

std::vector<std::string> urls_asked(const CredentialFile& file, const sdk::Call& call) {
  using Type = CredentialFile::Type;
  std::vector<std::string> out;
  if (file.type == Type::kServiceAccount) return out;
  if (file.type == Type::kImpersonated) {
    out = urls_asked(*file.source, call);
  } else {
    if (file.type == Type::kExternalAccount) out = urls_asked(file.subject, call);
    out.push_back(file.token_url);
  }
  if (!file.impersonation_url.empty()) out.push_back(file.impersonation_url);
  return out;
}

sdk::Result<Token> fetch_token(const CredentialFile& file, const std::string& scopes,
                               bool self_signed, int64_t timeout_ns, sdk::Call& call) {
  return Fetcher(file, timeout_ns, call).fetch(scopes, self_signed);
}

}  // namespace muster::support::google
