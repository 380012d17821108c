// A token that stands where nobody expects it: no way to a credential shows a word of the answer, whatever its status or shape.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/plugin/google/world.h"

using namespace fake;

namespace {

const std::string kCanary = "ya29.c4n4ry-MUST-not-be-seen";

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Each shape in which an endpoint, well or ill, could say it.
std::vector<std::string> shapes() {
  const std::string& c = kCanary;
  return {
      c,
      c + "\n",
      "{\"access_token\": \"" + c + "\", \"expires_in\": 3600",
      "{\"access_token\": [\"" + c + "\"]}",
      "{\"access_token\": {\"" + c + "\": 1}}",
      "{\"" + c + "\": \"" + c + "\"}",
      "[\"" + c + "\"]",
      "\"" + c + "\"",
      "{\"error\": \"" + c + "\"}",
      "{\"error\": \"invalid_grant\", \"error_description\": \"" + c + "\"}",
      "{\"error\": {\"message\": \"" + c + "\", \"status\": \"" + c + "\"}}",
      "{\"accessToken\": 7, \"expireTime\": \"" + c + "\"}",
      "{\"access_token\": \"a\\n" + c + "\"}",
      "<html>" + c + "</html>",
      "HTTP/1.1 200 OK\r\n\r\n" + c,
      std::string("\x1b[31m\0", 6) + c,
  };
}

// A way to a token: which of its requests the canary answers; the others are answered well.
struct Way {
  std::string name;
  World world;
  std::string asked;  // in the URL of the request that is answered with the canary
};

const std::string kUrlSource =
    R"({"url": "https://idp.example/t", "format": {"type": "json", "subject_token_field_name": "value"}})";
const std::string kAws =
    R"({"environment_id": "aws1", "regional_cred_verification_url": "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15",
        "region_url": "http://169.254.169.254/latest/zone", "url": "http://169.254.169.254/latest/roles",
        "imdsv2_session_token_url": "http://169.254.169.254/latest/session"})";

Response well(const Request& request) {
  const auto is = [&](const char* part) { return holds(request.url, part); };
  if (is("/computeMetadata/")) {
    if (is("universe-domain")) return reply(404, "", {{"Metadata-Flavor", "Google"}});
    return reply(200, R"({"access_token": "vm-token", "expires_in": 3000})",
                 {{"Metadata-Flavor", "Google"}});
  }
  if (is("latest/session")) return reply(200, "session");
  if (is("latest/zone")) return reply(200, "us-east-2b");
  if (is("latest/roles/"))
    return reply(200, R"({"AccessKeyId": "ASIA1", "SecretAccessKey": "aws-key", "Token": "s"})");
  if (is("latest/roles")) return reply(200, "trainer");
  if (is("idp.example")) return reply(200, R"({"value": "idp-token"})");
  if (is("iamcredentials"))
    return reply(200, R"({"accessToken": "iam-token", "expireTime": "2026-01-31T13:00:00Z"})");
  if (request.method == "POST") return reply(200, R"({"access_token": "t", "expires_in": 3600})");
  return {};
}

std::vector<Way> ways() {
  World vm;
  vm.variables["GCE_METADATA_HOST"] = "127.0.0.1:9";
  World granted = with_file(service_account_file());
  granted.serve = [](const Request& request) -> Response {
    return request.method == "POST" ? well(request) : reply(401, "{}");
  };
  std::vector<Way> out = {
      {"the metadata server", vm, "/token?"},
      {"a refresh token", with_file(user_file()), "oauth2.googleapis.com"},
      {"a service account's grant", granted, "oauth2.googleapis.com"},
      {"STS", with_file(external(kUrlSource)), "sts.googleapis.com"},
      {"impersonation", with_file(external(kUrlSource, kImpersonation)), "iamcredentials"},
      {"a URL of the subject token", with_file(external(kUrlSource)), "idp.example"},
      {"AWS: the session", with_file(external(kAws)), "latest/session"},
      {"AWS: the region", with_file(external(kAws)), "latest/zone"},
      {"AWS: the keys", with_file(external(kAws)), "latest/roles/trainer"},
  };
  for (Way& way : out)
    if (way.name != "a service account's grant") way.world.serve = well;
  return out;
}

Answer ask_with(const Way& way, int64_t status, const std::string& body) {
  World world = way.world;
  world.serve = [serve = way.world.serve, asked = way.asked, status,
                 body](const Request& request) -> Response {
    if (!holds(request.url, asked)) return serve(request);
    return reply(status, body,
                 {{"Metadata-Flavor", "Google"}, {"X-Token", kCanary}, {"Retry-After", kCanary}});
  };
  return ask("google_token", "{}", world);
}

void check_hidden(const Answer& answer) {
  CHECK_MESSAGE(!holds(answer.everything_said(), kCanary), answer.everything_said());
  // Not a part of it either.
  CHECK_MESSAGE(!holds(answer.everything_said(), "MUST-not"), answer.everything_said());
}

}  // namespace

TEST_CASE("an endpoint of tokens is quoted under no status") {
  for (const Way& way : ways()) {
    CAPTURE(way.name);
    for (int64_t status = 200; status <= 599; ++status) {
      CAPTURE(status);
      for (const std::string& body :
           {R"({"access_token": ")" + kCanary + R"(", "expires_in": 3600})",
            R"({"error": ")" + kCanary + R"("})"}) {
        const Answer answer = ask_with(way, status, body);
        check_hidden(answer);
        if (status == 200) continue;
        CHECK(answer.code != MUSTER_OK);
        CHECK(answer.code != MUSTER_E_UNKNOWN);
        CHECK(answer.code != MUSTER_E_INTERNAL);
        // A 404 of the metadata server says that there is no service account.
        if (status != 404)
          CHECK_MESSAGE(holds(answer.message, std::to_string(status)), answer.message);
      }
    }
  }
}

TEST_CASE("an endpoint of tokens is quoted in no shape of its answer") {
  for (const Way& way : ways())
    for (const std::string& body : shapes())
      for (const int64_t status : {200, 201, 302, 400, 401, 403, 404, 429, 500, 503}) {
        CAPTURE(way.name);
        CAPTURE(status);
        CAPTURE(body);
        check_hidden(ask_with(way, status, body));
      }
}

TEST_CASE(
    "what a program for tokens prints is quoted neither when it fails nor when it is no token") {
  World gcloud = google_world();
  World executable = with_file(external(R"({"executable": {"command": "/bin/idp"}})"));
  executable.variables["GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES"] = "1";
  for (const std::string& printed : shapes())
    for (const int64_t status : {0, 1, 255})
      for (const bool to_error : {false, true}) {
        CAPTURE(printed);
        CAPTURE(status);
        const auto run = [&](const Program&) -> Run {
          return {status, to_error ? "" : printed, to_error ? printed : "", MUSTER_OK, ""};
        };
        gcloud.run = run;
        executable.run = run;
        check_hidden(ask("google_token", R"({"credentials": "gcloud"})", gcloud));
        check_hidden(ask("google_token", "{}", executable));
      }
  executable.run = [](const Program&) -> Run {
    return {0, R"({"success": false, "code": ")" + kCanary + R"(", "message": ")" + kCanary + "\"}",
            "", MUSTER_OK, ""};
  };
  const Answer answer = ask("google_token", "{}", executable);
  check_hidden(answer);
  CHECK(answer.code == MUSTER_E_UNAUTHENTICATED);
  CHECK(holds(answer.details.at("hint"), "run that program in a shell"));
}

TEST_CASE(
    "what others than endpoints of tokens say is quoted, capped and without control characters") {
  World world;
  world.serve = [](const Request&) -> Response {
    return reply(500,
                 "odd \x1b[31m\xc2\x9b\xe2\x80\xae\xe2\x80\xa8\xff\x7f" + std::string(100000, 'x'));
  };
  const Answer answer = ask("google_token", R"({"access_token": "mine"})", world);
  CHECK(holds(answer.message, R"('odd \x1b[31m\xc2\x9b\xe2\x80\xae\xe2\x80\xa8\xff\x7fxxx)"));
  CHECK(answer.message.size() < 600);
}
