// A backend that has Google's credentials and asks one URL with them: for tests of the credentials alone.
#include <simdjson.h>

#include <muster/plugin.hpp>

#include "plugins/support/google/api.h"

namespace {

using muster::support::google::CredentialOptions;
using muster::support::google::Credentials;
namespace google = muster::support::google;
namespace sdk = muster::sdk;

MUSTER_DESCRIPTOR({
  "name" : "google_token",
  "version" : "0.1.0",
  "abi" : {"major" : 1, "minor" : 0},
  "description" : "Asks one URL with Google credentials."
})

class GoogleToken {
 public:
  static sdk::Result<std::unique_ptr<GoogleToken>> create(const sdk::Host&,
                                                          std::string_view options) {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    if (parser.parse(options.data(), options.size()).get(root))
      return sdk::Failure{MUSTER_E_INVALID_ARGUMENT, "no JSON", {}};
    const auto text = [&](const char* key) {
      std::string_view value;
      return root[key].get(value) ? std::string() : std::string(value);
    };
    CredentialOptions out;
    if (text("credentials") == "gcloud") out.from = CredentialOptions::From::kGcloud;
    if (text("credentials") == "none") out.from = CredentialOptions::From::kNone;
    out.token = text("access_token");
    out.token_file = text("access_token_file");
    out.file = text("credentials_file");
    out.quota_project = text("quota_project");
    out.universe = text("universe_domain");
    out.scopes = "scope-a scope-b";
    return std::make_unique<GoogleToken>(std::move(out), text("url"));
  }

  GoogleToken(CredentialOptions options, std::string url)
      : credentials_(std::move(options)), url_(std::move(url)) {}

  sdk::Status resolve(sdk::Call& call) {
    if (auto found = credentials_.find(call); !found) return found;
    google::Question question;
    question.url = url_.empty() ? "https://compute." + credentials_.universe() + "/x" : url_;
    question.purpose = "ask";
    question.what = "the thing";
    question.permission = "compute.things.get";
    question.role = "roles/compute.viewer";
    question.service = "compute.googleapis.com";
    question.project = "orchard";
    question.option = "/thing";
    question.look = "gcloud look";
    auto response = google::ask_api(credentials_, question, call);
    if (!response) return std::move(response).failure();
    call.set_attribute("origin", credentials_.origin());
    call.set_attribute("universe", credentials_.universe());
    call.set_attribute("project", credentials_.project());
    return {};
  }

 private:
  Credentials credentials_;
  std::string url_;
};

}  // namespace

MUSTER_PLUGIN(GoogleToken, "google_token", "0.1.0")
