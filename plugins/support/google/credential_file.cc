#include "plugins/support/google/credential_file.h"

#include <fmt/format.h>
#include <simdjson.h>

#include "plugins/support/google/aws_signature.h"
#include "plugins/support/google/subject_token.h"
#include "plugins/support/google/token_host.h"
#include "plugins/support/program.h"
#include "plugins/support/quote_answer.h"
#include "plugins/support/text.h"
#include "plugins/support/unique_keys.h"

namespace muster::support::google {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr const char* kTokenUrl = "https://oauth2.googleapis.com/token";
constexpr const char* kStsUserUrl = "https://sts.googleapis.com/v1/oauthtoken";

// What is wrong, thrown within this file and told by read_credential_file.
struct Wrong {
  std::string why;
  int32_t code = MUSTER_E_INVALID_ARGUMENT;
};

class Reader {
 public:
  Reader(object root, std::string place) : root_(root) { out_.place = std::move(place); }

  CredentialFile read(bool may_have_source) {
    for (const auto field : root_) add_url_secrets(field.value);
    const std::string type = needed("type");
    out_.project = text("project_id");
    out_.quota_project = text("quota_project_id");
    out_.universe = text("universe_domain");
    if (out_.universe.empty()) out_.universe = kDefaultUniverse;
    if (type == "service_account") {
      service_account();
    } else if (type == "authorized_user") {
      out_.type = CredentialFile::Type::kAuthorizedUser;
      out_.token_url = text("token_uri", kTokenUrl);
      user();
    } else if (type == "external_account_authorized_user") {
      out_.type = CredentialFile::Type::kExternalAccountUser;
      out_.token_url = text("token_url", kStsUserUrl);
      user();
    } else if (type == "external_account") {
      external_account();
    } else if (type == "impersonated_service_account" && may_have_source) {
      impersonated();
    } else {
      throw Wrong{fmt::format("credentials of type {} are not among those that muster has "
                              "(service_account, authorized_user, external_account, "
                              "external_account_authorized_user, impersonated_service_account)",
                              quote(type)),
                  MUSTER_E_UNIMPLEMENTED};
    }
    return std::move(out_);
  }

 private:
  static std::string text_of(object at, const char* key, const std::string& otherwise) {
    element value;
    if (at[key].get(value) || value.is_null()) return otherwise;
    std::string_view found;
    if (value.get_string().get(found)) throw Wrong{fmt::format("its '{}' is no text", key)};
    if (!is_text(found)) throw Wrong{fmt::format("its '{}' has a NUL in it", key)};
    return std::string(found);
  }
  std::string text(const char* key, const std::string& otherwise = "") const {
    return text_of(root_, key, otherwise);
  }
  std::string needed(const char* key) const {
    std::string found = text(key);
    if (found.empty()) throw Wrong{fmt::format("it has no '{}'", key)};
    return found;
  }
  std::string secret(std::string value) {
    if (!value.empty()) out_.secrets.push_back(value);
    return value;
  }

  // Of every URL in the file, also of one that nobody asks. No deeper than simdjson reads.
  // NOLINTNEXTLINE(misc-no-recursion)
  void add_url_secrets(element at) {
    std::string_view text;
    object map;
    array list;
    if (!at.get_string().get(text)) {
      for (std::string& one : secrets_of_url(text)) secret(std::move(one));
    } else if (!at.get_object().get(map)) {
      for (const auto field : map) add_url_secrets(field.value);
    } else if (!at.get_array().get(list)) {
      for (const element item : list) add_url_secrets(item);
    }
  }

  void service_account() {
    out_.type = CredentialFile::Type::kServiceAccount;
    out_.private_key = secret(needed("private_key"));
    out_.client_email = needed("client_email");
    out_.private_key_id = text("private_key_id");
    out_.token_url = text("token_uri", kTokenUrl);
  }

  void user() {
    out_.refresh_token = secret(needed("refresh_token"));
    out_.client_secret = secret(needed("client_secret"));
    out_.client_id = needed("client_id");
  }

  void impersonation(bool must) {
    out_.impersonation_url = must ? needed("service_account_impersonation_url")
                                  : text("service_account_impersonation_url");
    array delegates;
    if (!root_["delegates"].get_array().get(delegates)) {
      for (const element one : delegates) {
        std::string_view name;
        if (one.get_string().get(name)) throw Wrong{"a member of its 'delegates' is no text"};
        out_.delegates.emplace_back(name);
      }
    }
    object more;
    int64_t seconds = 0;
    if (!root_["service_account_impersonation"].get_object().get(more) &&
        !more["token_lifetime_seconds"].get_int64().get(seconds)) {
      if (seconds < 600 || seconds > 43200)
        throw Wrong{"its 'token_lifetime_seconds' is no number from 600 to 43200"};
      out_.lifetime_s = seconds;
    }
  }

  void external_account() {
    out_.type = CredentialFile::Type::kExternalAccount;
    out_.audience = needed("audience");
    out_.subject_token_type = needed("subject_token_type");
    out_.token_url = needed("token_url");
    out_.client_id = text("client_id");
    out_.client_secret = secret(text("client_secret"));
    out_.workforce_user_project = text("workforce_pool_user_project");
    impersonation(false);
    object source;
    if (root_["credential_source"].get_object().get(source))
      throw Wrong{"it has no 'credential_source'"};
    subject(source);
  }

  void aws(object source, const std::string& environment) {
    SubjectSource& out = out_.subject;
    out.kind = SubjectSource::Kind::kAws;
    if (environment != "aws1")
      throw Wrong{
          fmt::format("its 'environment_id' {} is none that muster has (aws1)", quote(environment)),
          MUSTER_E_UNIMPLEMENTED};
    out.aws_verification_url = text_of(source, "regional_cred_verification_url", "");
    if (https_host(out.aws_verification_url).empty())
      throw Wrong{"its 'regional_cred_verification_url' is no URL of https"};
    out.aws_region_url = text_of(source, "region_url", "");
    out.aws_keys_url = text_of(source, "url", "");
    out.aws_session_url = text_of(source, "imdsv2_session_token_url", "");
  }

  void certificate(object certificate) {
    SubjectSource& out = out_.subject;
    out.kind = SubjectSource::Kind::kCertificate;
    out.certificate_config = text_of(certificate, "certificate_config_location", "");
    out.trust_chain = text_of(certificate, "trust_chain_path", "");
    bool usual = false;
    if (certificate["use_default_certificate_config"].get(usual)) usual = false;
    if (usual == !out.certificate_config.empty())
      throw Wrong{
          "its 'certificate' must have one of 'certificate_config_location' and "
          "'use_default_certificate_config': true"};
  }

  void subject(object source) {
    using Kind = SubjectSource::Kind;
    SubjectSource& out = out_.subject;
    const std::string environment = text_of(source, "environment_id", "");
    if (!environment.empty()) return aws(source, environment);
    out.file = text_of(source, "file", "");
    out.url = text_of(source, "url", "");
    object executable, x509;
    if (!source["executable"].get_object().get(executable)) {
      out.command = text_of(executable, "command", "");
      for (std::string& one : secret_arguments(split_command(out.command))) secret(std::move(one));
      out.output_file = text_of(executable, "output_file", "");
    }
    const bool certified = !source["certificate"].get_object().get(x509);
    if (!out.file.empty() + !out.url.empty() + !out.command.empty() + certified != 1)
      throw Wrong{
          "its 'credential_source' must have one of 'file', 'url', 'executable', 'certificate' and "
          "'environment_id'"};
    if (certified) return certificate(x509);
    out.kind = !out.file.empty() ? Kind::kFile : !out.url.empty() ? Kind::kUrl : Kind::kExecutable;
    object headers;
    if (!source["headers"].get_object().get(headers)) {
      for (const auto field : headers) {
        std::string_view value;
        if (field.value.get_string().get(value) || !is_text(value) || !is_text(field.key) ||
            value.find_first_of("\r\n") != std::string_view::npos)
          throw Wrong{"a header of its 'credential_source' is no text of one line"};
        out.headers.emplace_back(field.key, secret(std::string(value)));
      }
    }
    object format;
    if (!source["format"].get_object().get(format) && text_of(format, "type", "text") == "json") {
      out.json_field = text_of(format, "subject_token_field_name", "");
      if (out.json_field.empty())
        throw Wrong{"its 'credential_source' lacks 'subject_token_field_name'"};
    }
  }

  void impersonated() {
    out_.type = CredentialFile::Type::kImpersonated;
    impersonation(true);
    object source;
    if (root_["source_credentials"].get_object().get(source))
      throw Wrong{"it has no 'source_credentials'"};
    CredentialFile read = Reader(source, "source_credentials of " + out_.place).read(false);
    for (const std::string& secret : read.secrets) out_.secrets.push_back(secret);
    // Files of this kind name no universe of their own.
    if (text("universe_domain").empty()) out_.universe = read.universe;
    out_.source = std::make_shared<const CredentialFile>(std::move(read));
  }

  object root_;
  CredentialFile out_;
};

}  // namespace

sdk::Result<CredentialFile> read_credential_file(std::string_view json, const std::string& path) {
  const std::string place = quote(path, 4096);
  simdjson::dom::parser parser;
  element root;
  object map;
  // Without the excerpt that other JSON errors show: it may be of a key.
  if (const auto error = parser.parse(json.data(), json.size()).get(root))
    return sdk::Failure{MUSTER_E_INVALID_ARGUMENT,
                        fmt::format("the credential file {} is not JSON: {}", place,
                                    simdjson::error_message(error)),
                        {}};
  try {
    if (root.get_object().get(map)) throw Wrong{"it is no JSON object"};
    if (const std::string key = repeated_key(root); !key.empty())
      throw Wrong{fmt::format("its key {} stands there twice", quote(key))};
    return Reader(map, place).read(true);
  } catch (const Wrong& wrong) {
    return sdk::Failure{
        wrong.code, fmt::format("the credential file {}: {}", place, wrong.why), {}};
  }
}

}  // namespace muster::support::google
