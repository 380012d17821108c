// Federation by an X.509 certificate: which one, what is told of it, and to whom it is shown.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/plugin/google/world.h"

using namespace fake;

namespace {

std::string pem(const std::string& base64) {
  return "-----BEGIN CERTIFICATE-----\n" + base64 + "\n-----END CERTIFICATE-----\n";
}

World world_of(const std::string& certificate) {
  World world = with_file(
      R"({"type": "external_account", "audience": "//iam.googleapis.com/pool",
    "subject_token_type": "urn:ietf:params:oauth:token-type:mtls",
    "token_url": "https://sts.mtls.googleapis.com/v1/token", "credential_source": {"certificate": )" +
      certificate + "}}");
  world.files["/config.json"] =
      R"({"cert_configs": {"workload": {"cert_path": "/own.pem", "key_path": "/own.key"}}})";
  world.files["/own.pem"] = "Subject: CN = w-1\n" + pem("bGVh\nZg==") + pem("aW50ZXI=");
  world.files["/own.key"] = "private words";
  world.files["/chain.pem"] = pem("bGVhZg==") + pem("aW50ZXI=") + pem("cm9vdA==");
  return world;
}

std::string subject(const Answer& answer) {
  return form_field(answer.requests.at(0).body, "subject_token");
}

const std::string kConfig = R"("certificate_config_location": "/config.json")";

}  // namespace

TEST_CASE("a certificate is shown to STS, and is the subject token") {
  const Answer answer = ask("google_token", "{}", world_of("{" + kConfig + "}"));
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(subject(answer) == R"(["bGVhZg=="])");
  CHECK(answer.requests[0].certificate_pem ==
        "Subject: CN = w-1\n" + pem("bGVh\nZg==") + pem("aW50ZXI="));
  CHECK(answer.requests[0].key_pem == "private words");
  CHECK(answer.requests.at(1).certificate_pem.empty());  // the API has the token
  CHECK(std::find(answer.secrets.begin(), answer.secrets.end(), "private words") !=
        answer.secrets.end());
}

TEST_CASE("the trust chain follows it, with or without the certificate at its beginning") {
  World world = world_of("{" + kConfig + R"(, "trust_chain_path": "/chain.pem"})");
  CHECK(subject(ask("google_token", "{}", world)) == R"(["bGVhZg==","aW50ZXI=","cm9vdA=="])");
  world.files["/chain.pem"] = pem("aW50ZXI=");
  CHECK(subject(ask("google_token", "{}", world)) == R"(["bGVhZg==","aW50ZXI="])");
  world.files["/chain.pem"] = pem("aW50ZXI=") + pem("bGVhZg==");
  CHECK(ask("google_token", "{}", world).message.find("not at its beginning") != std::string::npos);
}

TEST_CASE("the usual configuration is GOOGLE_API_CERTIFICATE_CONFIG's, else gcloud's") {
  World world = world_of(R"({"use_default_certificate_config": true})");
  world.variables["GOOGLE_API_CERTIFICATE_CONFIG"] = "/config.json";
  CHECK(ask("google_token", "{}", world).code == MUSTER_OK);
  world.variables.erase("GOOGLE_API_CERTIFICATE_CONFIG");
  CHECK(ask("google_token", "{}", world).code == MUSTER_E_NOT_FOUND);
  world.files["/home/user/.config/gcloud/certificate_config.json"] = world.files["/config.json"];
  CHECK(ask("google_token", "{}", world).code == MUSTER_OK);
  world.variables["CLOUDSDK_CONFIG"] = "/sdk";
  world.files["/sdk/certificate_config.json"] = "{}";
  CHECK(
      ask("google_token", "{}", world).message.find("'/sdk/certificate_config.json' is no JSON") !=
      std::string::npos);
}

TEST_CASE("a certificate that is none, and a file that says two things, are told") {
  World world = world_of("{" + kConfig + "}");
  for (const auto& [content, words] :
       {std::pair<const char*, const char*>{"nothing", "'/own.pem' has no certificate in PEM"},
        {"-----BEGIN CERTIFICATE-----\nbGVhZg==", "has a certificate that is no PEM"},
        {"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----",
         "has a certificate that is no PEM"},
        {"-----BEGIN CERTIFICATE-----\n?-----END CERTIFICATE-----",
         "has a certificate that is no PEM"}}) {
    world.files["/own.pem"] = content;
    const Answer answer = ask("google_token", "{}", world);
    CHECK(answer.code == MUSTER_E_UNAUTHENTICATED);
    CHECK_MESSAGE(answer.message.find(words) != std::string::npos, answer.message);
  }
  for (const std::string& source :
       {std::string("{}"), "{" + kConfig + R"(, "use_default_certificate_config": true})"})
    CHECK(ask("google_token", "{}", world_of(source))
              .message.find("must have one of 'certificate_config_location'") != std::string::npos);
}
