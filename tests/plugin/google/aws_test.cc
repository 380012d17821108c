// Federation from AWS: the signature, and where region and keys come from.
#include <doctest/doctest.h>

#include <simdjson.h>

#include <algorithm>

#include "plugins/support/google/aws_signature.h"
#include "tests/plugin/google/world.h"

using namespace fake;
using muster::support::google::AwsKeys;
using muster::support::google::AwsRequest;
using muster::support::google::sign_for_aws;

namespace {

constexpr int64_t kDay_s = 1440938160;  // 2015-08-30T12:36:00Z, of AWS's published examples
const AwsKeys kKeys{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ""};
const std::string kMetadata = "http://169.254.169.254/latest/";

std::string signature_of(const AwsRequest& request, const char* service) {
  const std::string line =
      sign_for_aws(request, kKeys, "us-east-1", service, kDay_s).at("Authorization");
  return line.substr(line.find("Signature=") + 10);
}

std::string file(const std::string& source) {
  return R"({"type": "external_account", "audience": "//iam.googleapis.com/pool",
    "subject_token_type": "urn:ietf:params:aws:token-type:aws4_request",
    "token_url": "https://sts.googleapis.com/v1/token", "credential_source": {"environment_id": "aws1",
    "regional_cred_verification_url":
    "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15")" +
         source + "}}";
}
const std::string kUrls =
    R"(, "region_url": "http://169.254.169.254/latest/meta-data/placement/availability-zone",
    "url": "http://169.254.169.254/latest/meta-data/iam/security-credentials")";
const std::string kSession =
    R"(, "imdsv2_session_token_url": "http://169.254.169.254/latest/api/token")";

// A machine of AWS whose role is trainer, and Google's STS.
World world_of(const std::string& content) {
  World world = with_file(content);
  world.serve = [](const Request& request) -> Response {
    const auto is = [&](const std::string& path) { return request.url == kMetadata + path; };
    if (is("api/token")) return reply(200, "session-token");
    if (is("meta-data/placement/availability-zone")) return reply(200, "us-east-2b\n");
    if (is("meta-data/iam/security-credentials")) return reply(200, "trainer");
    if (is("meta-data/iam/security-credentials/trainer"))
      return reply(200, R"({"Code": "Success", "AccessKeyId": "ASIA1", "SecretAccessKey": "aws-key",
                            "Token": "aws-session"})");
    if (request.url == "https://sts.googleapis.com/v1/token")
      return reply(200, R"({"access_token": "sts-token", "expires_in": 3599})");
    return {};
  };
  return world;
}

// A member of the subject token, or a header of it.
std::string said(const Answer& answer, const std::string& name) {
  const std::string once =
      form_field(answer.requests.at(answer.requests.size() - 2).body, "subject_token");
  const std::string json = form_field("t=" + once, "t");
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  REQUIRE_FALSE(parser.parse(json).get(root));
  std::string_view value;
  if (!root[name].get(value)) return std::string(value);
  for (const auto header : root["headers"])
    if (header["key"].get_string().value() == name)
      return std::string(header["value"].get_string().value());
  return "";
}

bool is_secret(const Answer& answer, const std::string& text) {
  return std::find(answer.secrets.begin(), answer.secrets.end(), text) != answer.secrets.end();
}

}  // namespace

// The test suite that AWS published for Signature Version 4, and the example of its documentation.
TEST_CASE("requests are signed as AWS's published examples are") {
  CHECK(signature_of({"GET", "https://example.amazonaws.com/", {}}, "service") ==
        "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
  CHECK(signature_of({"POST", "https://example.amazonaws.com", {}}, "service") ==
        "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
  CHECK(signature_of({"GET", "https://example.amazonaws.com/?Param2=value2&Param1=value1", {}},
                     "service") ==
        "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
  CHECK(signature_of({"GET",
                      "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08",
                      {{"content-type", "application/x-www-form-urlencoded; charset=utf-8"}}},
                     "iam") == "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7");
}

TEST_CASE("on EC2 region and keys come from its metadata service, in one session") {
  const Answer answer = ask("google_token", "{}", world_of(file(kUrls + kSession)));
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  REQUIRE(answer.requests.size() == 6);
  CHECK(answer.requests[0].method == "PUT");
  CHECK(answer.requests[0].headers.at("X-aws-ec2-metadata-token-ttl-seconds") == "300");
  for (size_t n = 1; n < 4; ++n)
    CHECK(answer.requests[n].headers.at("X-aws-ec2-metadata-token") == "session-token");
  CHECK(said(answer, "url") ==
        "https://sts.us-east-2.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15");
  CHECK(said(answer, "method") == "POST");
  CHECK(said(answer, "host") == "sts.us-east-2.amazonaws.com");
  CHECK(said(answer, "x-amz-date") == "20260131T120000Z");
  CHECK(said(answer, "x-amz-security-token") == "aws-session");
  CHECK(said(answer, "x-goog-cloud-target-resource") == "//iam.googleapis.com/pool");
  CHECK(said(answer, "Authorization")
            .rfind("AWS4-HMAC-SHA256 Credential=ASIA1/20260131/us-east-2/sts/aws4_request, "
                   "SignedHeaders=host;x-amz-date;x-amz-security-token;"
                   "x-goog-cloud-target-resource, Signature=",
                   0) == 0);
  for (const char* secret : {"aws-key", "aws-session", "session-token"})
    CHECK_MESSAGE(is_secret(answer, secret), secret);
  CHECK(authorization(answer, 5) == "Bearer sts-token");
}

TEST_CASE("where the variables say region and keys, no metadata service is asked") {
  World world = world_of(file(""));
  world.variables["AWS_DEFAULT_REGION"] = "eu-west-1";
  world.variables["AWS_ACCESS_KEY_ID"] = "AKIA1";
  world.variables["AWS_SECRET_ACCESS_KEY"] = "variable-key";
  Answer answer = ask("google_token", "{}", world);
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(answer.requests.size() == 2);
  CHECK(said(answer, "host") == "sts.eu-west-1.amazonaws.com");
  CHECK(said(answer, "x-amz-security-token").empty());
  CHECK(is_secret(answer, "variable-key"));
  world.variables["AWS_REGION"] = "us-gov-west-1";
  world.variables["AWS_SESSION_TOKEN"] = "variable-session";
  answer = ask("google_token", "{}", world);
  CHECK(said(answer, "host") == "sts.us-gov-west-1.amazonaws.com");
  CHECK(said(answer, "x-amz-security-token") == "variable-session");
}

TEST_CASE("a host with FIPS is of the same service") {
  std::string content = file("");
  content.replace(content.find("https://sts.{region}"), 12, "https://sts-fips.");
  World world = world_of(content);
  world.variables = {{"GOOGLE_APPLICATION_CREDENTIALS", "/key.json"},
                     {"AWS_REGION", "us-east-1"},
                     {"AWS_ACCESS_KEY_ID", "AKIA1"},
                     {"AWS_SECRET_ACCESS_KEY", "variable-key"}};
  const Answer answer = ask("google_token", "{}", world);
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(said(answer, "host") == "sts-fips.us-east-1.amazonaws.com");
  CHECK(said(answer, "Authorization").find("/us-east-1/sts/aws4_request,") != std::string::npos);
}

TEST_CASE("what AWS lacks is told with what would say it") {
  const auto message = [](const World& world) { return ask("google_token", "{}", world).message; };
  CHECK(message(world_of(file(""))).find("neither AWS_REGION nor its 'region_url'") !=
        std::string::npos);
  World world = world_of(file(""));
  world.variables["AWS_REGION"] = "us-east-1";
  CHECK(message(world).find("neither AWS_ACCESS_KEY_ID") != std::string::npos);
  world.variables["AWS_REGION"] = "evil.example/";
  CHECK(message(world).find("'evil.example/' is no region of AWS") != std::string::npos);

  World refusing = world_of(file(kUrls + kSession));
  refusing.serve = [](const Request&) { return reply(403, "no"); };
  CHECK(message(refusing).find(
            "answers 403 (it is not permitted) to PUT 'http://169.254.169.254/latest/api/token'") !=
        std::string::npos);
  World roleless = world_of(file(kUrls));
  roleless.serve = [serve = roleless.serve](const Request& request) -> Response {
    if (request.url.find("/trainer") != std::string::npos)
      return reply(200, R"({"Code": "Failed"})");
    return serve(request);
  };
  CHECK(message(roleless).find("answers without keys") != std::string::npos);
}
