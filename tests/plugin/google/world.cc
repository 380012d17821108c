#include "tests/plugin/google/world.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>

#include "plugins/support/base64.h"

namespace fake {
namespace {

// One key for the program: making it takes a while.
EVP_PKEY* key() {
  static EVP_PKEY* made = EVP_RSA_gen(2048);
  REQUIRE(made != nullptr);
  return made;
}

std::string decoded(std::string text) {
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  return muster::support::base64_decode(text).value_or("");
}

std::string json_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? "\\n" : std::string(1, c);
  return out;
}

}  // namespace

Response reply(int64_t status, std::string body, std::map<std::string, std::string> headers) {
  Response out;
  out.status = status;
  out.body = std::move(body);
  out.headers = std::move(headers);
  return out;
}

const std::string& private_key() {
  static const std::string pem = [] {
    BIO* bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PKCS8PrivateKey(bio, key(), nullptr, nullptr, 0, nullptr, nullptr);
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    std::string text(data, static_cast<size_t>(size));
    BIO_free(bio);
    return text;
  }();
  return pem;
}

bool verify_jwt(const std::string& jwt, std::string& claims) {
  const size_t first = jwt.find('.');
  const size_t second = jwt.find('.', first + 1);
  if (first == std::string::npos || second == std::string::npos) return false;
  if (jwt.find('=') != std::string::npos) return false;
  claims = decoded(jwt.substr(first + 1, second - first - 1));
  const std::string signature = decoded(jwt.substr(second + 1));
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  EVP_DigestVerifyInit(context, nullptr, EVP_sha256(), nullptr, key());
  const int fits = EVP_DigestVerify(
      context, reinterpret_cast<const unsigned char*>(signature.data()), signature.size(),
      reinterpret_cast<const unsigned char*>(jwt.data()), second);
  EVP_MD_CTX_free(context);
  return fits == 1;
}

std::string service_account_file(const std::string& more) {
  return R"({"type": "service_account", "project_id": "orchard", "private_key_id": "k1",
    "client_email": "grape@orchard.iam.gserviceaccount.com", "private_key": ")" +
         json_escaped(private_key()) + "\"" + more + "}";
}

std::string user_file(const std::string& more) {
  return R"({"type": "authorized_user", "client_id": "id.apps", "client_secret": "client-secret",
    "refresh_token": "1//refresh/secret")" +
         more + "}";
}

std::string external(const std::string& source, const std::string& more) {
  return R"({"type": "external_account", "audience": "//iam.googleapis.com/pool",
    "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
    "token_url": "https://sts.googleapis.com/v1/token", "credential_source": )" +
         source + more + "}";
}

const std::string kImpersonation =
    R"(, "service_account_impersonation_url": "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/g@o:generateAccessToken")";

World google_world() {
  World world;
  world.serve = [given = 0](const Request& request) mutable -> Response {
    if (request.method == "GET") return {};
    ++given;
    return reply(200, R"({"access_token": "token-)" + std::to_string(given) +
                          R"(", "expires_in": 3600, "token_type": "Bearer"})");
  };
  return world;
}

World with_file(const std::string& content) {
  World world = google_world();
  world.variables["GOOGLE_APPLICATION_CREDENTIALS"] = "/key.json";
  world.files["/key.json"] = content;
  return world;
}

std::string authorization(const Answer& answer, size_t n) {
  const auto& headers = answer.requests.at(n).headers;
  const auto found = headers.find("Authorization");
  return found == headers.end() ? "" : found->second;
}

std::string form_field(const std::string& body, const std::string& name) {
  const std::string all = "&" + body;
  const size_t at = all.find("&" + name + "=");
  if (at == std::string::npos) return "";
  const size_t from = at + name.size() + 2;
  std::string out;
  for (size_t n = from; n < all.size() && all[n] != '&'; ++n) {
    if (all[n] != '%') {
      out += all[n];
      continue;
    }
    out += static_cast<char>(std::stoi(all.substr(n + 1, 2), nullptr, 16));
    n += 2;
  }
  return out;
}

}  // namespace fake
