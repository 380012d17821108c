// OAuth, STS and IAM: tokens for keys, refresh tokens, other identities and other accounts.
#include "google_tokens.h"

#include <algorithm>
#include <ctime>
#include <functional>
#include <limits>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <rapidjson/document.h>

#include "continue_token.h"
#include "google_error.h"
#include "json.h"

namespace muster::sim {
namespace {

constexpr const char* kJwtGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
constexpr const char* kExchange = "urn:ietf:params:oauth:grant-type:token-exchange";
constexpr const char* kAwsRequest = "urn:ietf:params:aws:token-type:aws4_request";
constexpr const char* kCertificate = "urn:ietf:params:oauth:token-type:mtls";
constexpr const char* kAccessToken = "urn:ietf:params:oauth:token-type:access_token";
constexpr std::int64_t kSkew_s = 300;

std::string from_base64url(std::string text) {
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  while (text.size() % 4 != 0) text += '=';
  std::string out(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  if (size < 0) return {};
  out.resize(static_cast<std::size_t>(size) - (text.ends_with("==")  ? 2
                                               : text.ends_with('=') ? 1
                                                                     : 0));
  return out;
}

bool signed_by(EVP_PKEY* key, std::string_view text, const std::string& signature) {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  const bool fits =
      EVP_DigestVerifyInit(context, nullptr, EVP_sha256(), nullptr, key) == 1 &&
      EVP_DigestVerify(context, reinterpret_cast<const unsigned char*>(signature.data()),
                       signature.size(), reinterpret_cast<const unsigned char*>(text.data()),
                       text.size()) == 1;
  EVP_MD_CTX_free(context);
  return fits;
}

std::string text_of(const rapidjson::Document& map, const char* key) {
  return map.IsObject() && map.HasMember(key) && map[key].IsString() ? map[key].GetString() : "";
}
std::int64_t number_of(const rapidjson::Document& map, const char* key) {
  return map.IsObject() && map.HasMember(key) && map[key].IsInt64() ? map[key].GetInt64() : 0;
}

Answer oauth_error(const char* error, const std::string& description) {
  JsonWriter out;
  out.open_object();
  out.member("error", error);
  out.member("error_description", description);
  out.close_object();
  Answer answer;
  answer.status = 400;
  answer.append(out.str());
  return answer;
}

Answer token_answer(const std::string& token, std::int64_t life_s, bool exchanged) {
  JsonWriter out;
  out.open_object();
  out.member("access_token", token);
  out.member("expires_in", life_s);
  out.member("token_type", "Bearer");
  if (exchanged) out.member("issued_token_type", kAccessToken);
  out.close_object();
  Answer answer;
  answer.append(out.str());
  return answer;
}

std::int64_t cloud_seconds(const Google& world) { return now_ms() / 1000 + world.clock_ahead_s; }

}  // namespace

Result<GoogleKey> make_google_key() {
  GoogleKey out;
  out.key = KeyPtr(EVP_RSA_gen(2048));
  if (out.key == nullptr) return Failure{"OpenSSL cannot make an RSA key"};
  out.refresh_token = "1//" + random_token();
  out.client_secret = random_token();
  out.subject_token = random_token();
  out.aws = make_aws_machine();
  return out;
}

std::map<std::string, std::string> credential_files(const GoogleKey& key, const std::string& url,
                                                    const std::string& subject_token_file,
                                                    const std::string& certificate_config) {
  const std::string impersonation =
      url + "/v1/projects/-/serviceAccounts/" + key.email + ":generateAccessToken";
  const auto user = [&](JsonWriter& out) {
    out.open_object();
    out.member("type", "authorized_user");
    out.member("client_id", "sim.apps.googleusercontent.com");
    out.member("client_secret", key.client_secret);
    out.member("refresh_token", key.refresh_token);
    out.member("token_uri", url + "/token");
    out.close_object();
  };
  std::map<std::string, std::string> files;
  {
    JsonWriter out;
    out.open_object();
    out.member("type", "service_account");
    out.member("project_id", "orchard");
    out.member("private_key_id", "sim-key");
    out.member("private_key", to_pem(key.key.get()));
    out.member("client_email", key.email);
    out.member("client_id", "112233445566778899000");
    out.member("token_uri", url + "/token");
    out.close_object();
    files["service_account.json"] = out.str();
  }
  {
    JsonWriter out;
    user(out);
    files["authorized_user.json"] = out.str();
  }
  const auto external = [&](const char* type, const std::function<void(JsonWriter&)>& source) {
    JsonWriter out;
    out.open_object();
    out.member("type", "external_account");
    out.member("audience",
               "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/"
               "pool/providers/sim");
    out.member("subject_token_type", type);
    out.member("token_url", url + "/v1/token");
    out.member("service_account_impersonation_url", impersonation);
    out.key("credential_source");
    out.open_object();
    source(out);
    out.close_object();
    out.close_object();
    return out.str();
  };
  files["external_account.json"] =
      external("urn:ietf:params:oauth:token-type:jwt",
               [&](JsonWriter& out) { out.member("file", subject_token_file); });
  files["aws.json"] = external(kAwsRequest, [&](JsonWriter& out) {
    out.member("environment_id", "aws1");
    out.member("region_url", url + "/latest/meta-data/placement/availability-zone");
    out.member("url", url + "/latest/meta-data/iam/security-credentials");
    out.member("imdsv2_session_token_url", url + "/latest/api/token");
    out.member("regional_cred_verification_url",
               "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15");
  });
  if (!certificate_config.empty())
    files["x509.json"] = external(kCertificate, [&](JsonWriter& out) {
      out.key("certificate");
      out.open_object();
      out.member("certificate_config_location", certificate_config);
      out.close_object();
    });
  {
    JsonWriter out;
    out.open_object();
    out.member("type", "impersonated_service_account");
    out.member("service_account_impersonation_url", impersonation);
    out.key("source_credentials");
    user(out);
    out.close_object();
    files["impersonated.json"] = out.str();
  }
  return files;
}

std::optional<Answer> GoogleTokens::handle(const Call& call, const Google& world) {
  if (serves_aws(call.path)) return answer_aws(call, key_->aws);
  const bool of_iam = call.path.starts_with("/v1/projects/-/serviceAccounts/") &&
                      call.path.ends_with(":generateAccessToken");
  if (call.path != "/token" && call.path != "/v1/token" && !of_iam) return std::nullopt;
  if (call.method != "POST")
    return google_error(405, "methodNotAllowed", "POST is what this endpoint takes");
  if (of_iam) return iam(call, world);
  if (!call.content_type.starts_with("application/x-www-form-urlencoded"))
    return oauth_error("invalid_request", "the body is a form, not " + call.content_type);
  return call.path == "/token" ? oauth(call, world) : sts(call, world);
}

std::string GoogleTokens::give(const Google& world) {
  std::string token = "ya29.sim." + random_token();
  const std::lock_guard lock(mutex_);
  given_[token] = now_ms() + world.token_life_s * 1000;
  return token;
}

void GoogleTokens::accept(const std::string& token) {
  const std::lock_guard lock(mutex_);
  if (!token.empty()) given_[token] = std::numeric_limits<std::int64_t>::max();
}

std::string GoogleTokens::judge_jwt(const std::string& jwt, const Google& world,
                                    bool assertion) const {
  const auto first = jwt.find('.');
  const auto second = jwt.find('.', first + 1);
  if (first == std::string::npos || second == std::string::npos ||
      jwt.find('=') != std::string::npos)
    return "it is no JWT in base64url without padding";
  rapidjson::Document header, claims;
  header.Parse(from_base64url(jwt.substr(0, first)).c_str());
  claims.Parse(from_base64url(jwt.substr(first + 1, second - first - 1)).c_str());
  if (text_of(header, "alg") != "RS256" || text_of(header, "kid") != "sim-key")
    return "its header is not that of the key";
  if (!signed_by(key_->key.get(), std::string_view(jwt).substr(0, second),
                 from_base64url(jwt.substr(second + 1))))
    return "Invalid JWT Signature.";
  if (text_of(claims, "iss") != key_->email) return "Invalid grant: account not found";
  const auto now = cloud_seconds(world);
  const auto from = number_of(claims, "iat"), to = number_of(claims, "exp");
  if (to - from > 3600 || from > now + kSkew_s || to < now)
    return "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable "
           "timeframe. Check your iat and exp values in the JWT claim.";
  const auto scope = text_of(claims, "scope"), audience = text_of(claims, "aud");
  if (assertion) {
    if (scope.empty() || !audience.ends_with("/token")) return "it needs scope and aud";
  } else if (text_of(claims, "sub") != key_->email || scope.empty() == audience.empty()) {
    return "it needs sub, and one of scope and aud";
  }
  return {};
}

Answer GoogleTokens::oauth(const Call& call, const Google& world) {
  const auto grant = call.parameter("grant_type");
  std::string why;
  if (grant == kJwtGrant) {
    why = judge_jwt(call.parameter("assertion"), world, true);
  } else if (grant == "refresh_token") {
    if (call.parameter("client_secret") != key_->client_secret)
      return oauth_error("invalid_client", "The OAuth client was not found.");
    if (call.parameter("refresh_token") != key_->refresh_token)
      why = "Token has been expired or revoked.";
  } else {
    return oauth_error("unsupported_grant_type", "Invalid grant_type: " + grant);
  }
  if (!why.empty()) return oauth_error("invalid_grant", why);
  return token_answer(give(world), world.token_life_s, false);
}

std::string GoogleTokens::judge_subject(const Call& call, const Google& world) const {
  const auto type = call.parameter("subject_token_type"), token = call.parameter("subject_token");
  if (type == kAwsRequest)
    return judge_aws_token(token, call.parameter("audience"), key_->aws, cloud_seconds(world));
  if (type == kCertificate) {
    if (call.certificate.empty()) return "No certificate of this provider's was shown.";
    rapidjson::Document chain;
    chain.Parse(token.c_str());
    const bool own = chain.IsArray() && !chain.Empty() && chain[0].IsString() &&
                     chain[0].GetString() == call.certificate;
    return own ? "" : "The subject token is not the chain of the certificate that was shown.";
  }
  return token == key_->subject_token ? "" : "The subject token is not one of this provider's.";
}

Answer GoogleTokens::sts(const Call& call, const Google& world) {
  if (call.parameter("grant_type") != kExchange ||
      call.parameter("requested_token_type") != kAccessToken ||
      !call.parameter("audience").starts_with("//iam.googleapis.com/") ||
      call.parameter("scope").empty())
    return oauth_error("invalid_request", "grant_type, requested_token_type, audience and scope");
  if (const auto why = judge_subject(call, world); !why.empty())
    return oauth_error("invalid_grant", why);
  return token_answer(give(world), world.token_life_s, true);
}

Answer GoogleTokens::iam(const Call& call, const Google& world) {
  if (const auto why = refusal(call.authorization, world); !why.empty())
    return google_error(401, "authError", why);
  rapidjson::Document body;
  body.Parse(call.body.c_str());
  if (!body.IsObject() || !body.HasMember("scope") || !body["scope"].IsArray() ||
      body["scope"].Empty() || !text_of(body, "lifetime").ends_with('s'))
    return google_error(400, "badRequest", "scope and lifetime are needed");
  if (call.path.find("/" + key_->email + ":") == std::string::npos)
    return google_error(403, "forbidden", "Permission 'iam.serviceAccounts.getAccessToken' denied");
  JsonWriter out;
  out.open_object();
  out.member("accessToken", give(world));
  out.member(
      "expireTime",
      fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                  fmt::gmtime(static_cast<std::time_t>(now_ms() / 1000 + world.token_life_s))));
  out.close_object();
  Answer answer;
  answer.append(out.str());
  return answer;
}

std::string GoogleTokens::refusal(const std::string& authorization, const Google& world) {
  constexpr std::string_view kBearer = "Bearer ";
  if (!authorization.starts_with(kBearer))
    return "Request is missing required authentication credential.";
  const auto token = authorization.substr(kBearer.size());
  if (token.find('.') != std::string::npos && !token.starts_with("ya29.")) {
    if (!world.self_signed) return "Request had invalid authentication credentials.";
    return judge_jwt(token, world, false);
  }
  const std::lock_guard lock(mutex_);
  const auto found = given_.find(token);
  if (found == given_.end() || found->second < now_ms())
    return "Request had invalid authentication credentials. Expected OAuth 2 access token.";
  return {};
}

}  // namespace muster::sim
