// External accounts and impersonation: whose token is exchanged for which.
#include <doctest/doctest.h>

#include <algorithm>

#include "plugins/support/google/subject_token.h"
#include "tests/plugin/google/world.h"

using namespace fake;

namespace {

// STS gives "sts-token", IAM "iam-token".
World federation(const std::string& content) {
  World world = with_file(content);
  world.serve = [](const Request& request) -> Response {
    if (request.url.rfind("https://sts.", 0) == 0)
      return reply(200,
                   R"({"access_token": "sts-token", "expires_in": 3599, "token_type": "Bearer"})");
    if (request.url.rfind("https://iamcredentials.", 0) == 0)
      return reply(200, R"({"accessToken": "iam-token", "expireTime": "2026-01-31T13:00:00Z"})");
    if (request.url.rfind("https://idp.example/", 0) == 0)
      return reply(200, R"({"value": "idp-token"})");
    return {};
  };
  return world;
}

bool is_secret(const Answer& answer, const std::string& text) {
  return std::find(answer.secrets.begin(), answer.secrets.end(), text) != answer.secrets.end();
}

}  // namespace

TEST_CASE("an external account's token comes from its file and is exchanged") {
  World world = federation(external(R"({"file": "/oidc"})"));
  world.files["/oidc"] = "file-token\n";
  const Answer answer = ask("google_token", "{}", world);
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  const std::string& body = answer.requests.at(0).body;
  CHECK(form_field(body, "grant_type") == "urn:ietf:params:oauth:grant-type:token-exchange");
  CHECK(form_field(body, "audience") == "//iam.googleapis.com/pool");
  CHECK(form_field(body, "scope") == "scope-a scope-b");
  CHECK(form_field(body, "subject_token") == "file-token");
  CHECK(form_field(body, "subject_token_type") == "urn:ietf:params:oauth:token-type:jwt");
  CHECK(form_field(body, "options").empty());
  CHECK(authorization(answer, 0).empty());
  CHECK(authorization(answer, 1) == "Bearer sts-token");
  CHECK(is_secret(answer, "file-token"));
  CHECK(is_secret(answer, "sts-token"));
}

TEST_CASE("an external account with impersonation gets the service account's token") {
  World world =
      federation(external(R"({"url": "https://idp.example/t", "headers": {"X-Key": "idp-key"},
                   "format": {"type": "json", "subject_token_field_name": "value"}})",
                          kImpersonation + R"(, "client_id": "c", "client_secret": "s3cret",
                                   "service_account_impersonation": {"token_lifetime_seconds": 900})"));
  const Answer answer = ask("google_token", "{}", world);
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  REQUIRE(answer.requests.size() == 4);
  CHECK(answer.requests[0].headers.at("X-Key") == "idp-key");
  CHECK(form_field(answer.requests[1].body, "subject_token") == "idp-token");
  CHECK(form_field(answer.requests[1].body, "scope") ==
        "https://www.googleapis.com/auth/cloud-platform");
  CHECK(authorization(answer, 1) == "Basic YzpzM2NyZXQ=");
  CHECK(authorization(answer, 2) == "Bearer sts-token");
  CHECK(answer.requests[2].body ==
        R"({"scope":["scope-a","scope-b"],"lifetime":"900s","delegates":[]})");
  CHECK(authorization(answer, 3) == "Bearer iam-token");
  CHECK(is_secret(answer, "idp-key"));
}

TEST_CASE("a workforce user's project goes along twice encoded") {
  World world =
      federation(external(R"({"file": "/oidc"})", R"(, "workforce_pool_user_project": "p")"));
  world.files["/oidc"] = "t0ken";
  const Answer answer = ask("google_token", "{}", world);
  CHECK(form_field(answer.requests.at(0).body, "options") == "%7B%22userProject%22%3A%22p%22%7D");
}

TEST_CASE("an executable runs only when that is allowed, and its answer is read") {
  World world = federation(external(
      R"({"executable": {"command": "/bin/idp --for 'two words'", "output_file": "/kept"}})",
      kImpersonation));
  Answer answer = ask("google_token", "{}", world);
  CHECK(answer.code == MUSTER_E_UNAUTHENTICATED);
  CHECK(answer.programs.empty());
  CHECK(answer.details.at("hint") ==
        "set GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1 when you trust that file");

  world.variables["GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES"] = "1";
  world.run = [](const Program&) -> Run {
    return {0, R"({"version": 1, "success": true, "id_token": "exe-token",
                   "expiration_time": 1769860900})",
            "", MUSTER_OK, ""};
  };
  answer = ask("google_token", "{}", world);
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(answer.programs.at(0).arguments ==
        std::vector<std::string>{"/bin/idp", "--for", "two words"});
  const auto& environment = answer.programs[0].environment;
  CHECK(environment.at("GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE") == "//iam.googleapis.com/pool");
  CHECK(environment.at("GOOGLE_EXTERNAL_ACCOUNT_IMPERSONATED_EMAIL") == "g@o");
  CHECK(environment.at("GOOGLE_EXTERNAL_ACCOUNT_OUTPUT_FILE") == "/kept");
  CHECK(form_field(answer.requests.at(0).body, "subject_token") == "exe-token");

  world.files["/kept"] = R"({"version": 1, "success": true, "id_token": "kept-token",
                             "expiration_time": 1769860801})";
  answer = ask("google_token", "{}", world);
  CHECK(answer.programs.empty());
  CHECK(form_field(answer.requests.at(0).body, "subject_token") == "kept-token");
  world.files["/kept"] = R"({"success": true, "id_token": "old", "expiration_time": 1769860800})";
  CHECK(ask("google_token", "{}", world).programs.size() == 1);
}

TEST_CASE("an executable that says it failed is told, and where its words are to be read") {
  World world = federation(external(R"({"executable": {"command": "idp"}})"));
  world.variables["GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES"] = "1";
  world.run = [](const Program&) -> Run {
    return {0, R"({"version": 1, "success": false, "code": "401", "message": "not logged in"})", "",
            MUSTER_OK, ""};
  };
  const Answer answer = ask("google_token", "{}", world);
  CHECK(answer.code == MUSTER_E_UNAUTHENTICATED);
  CHECK(answer.message.find("says that it failed") != std::string::npos);
  CHECK(answer.details.at("hint").find("in a shell") != std::string::npos);
}

TEST_CASE("an impersonated service account is reached with the source's token") {
  World world = federation(R"({"type": "impersonated_service_account", "delegates": ["d"],
    "source_credentials": )" +
                           user_file() + kImpersonation + "}");
  world.serve = [serve = world.serve](const Request& request) -> Response {
    if (request.url.rfind("https://oauth2.", 0) == 0)
      return reply(200, R"({"access_token": "source-token", "expires_in": 3599})");
    return serve(request);
  };
  const Answer answer = ask("google_token", "{}", world);
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(authorization(answer, 1) == "Bearer source-token");
  CHECK(answer.requests.at(1).body ==
        R"({"scope":["scope-a","scope-b"],"lifetime":"3600s","delegates":["d"]})");
  CHECK(authorization(answer, 2) == "Bearer iam-token");
}

TEST_CASE("sources that muster does not have are named") {
  for (const auto& [source, word] :
       {std::pair<const char*, const char*>{R"({"environment_id": "aws2", "url": "x"})", "'aws2'"},
        {R"({"environment_id": "aws1", "regional_cred_verification_url": "http://x"})", "https"},
        {R"({"file": "a", "certificate": {}})", "one of"},
        {R"({"file": "a", "url": "b"})", "one of"},
        {"{}", "one of"}}) {
    const Answer answer = ask("google_token", "{}", federation(external(source)));
    CHECK(answer.code != MUSTER_OK);
    CHECK_MESSAGE(answer.message.find(word) != std::string::npos, answer.message);
  }
}

TEST_CASE("a command line is split as a shell does it") {
  using muster::support::google::split_command;
  using Words = std::vector<std::string>;
  CHECK(split_command("a  b\tc") == Words{"a", "b", "c"});
  CHECK(split_command(R"(a 'b c' "d \" e" f\ g '')") == Words{"a", "b c", "d \" e", "f g", ""});
  CHECK(split_command("a 'b").empty());
  CHECK(split_command(" ").empty());
}
