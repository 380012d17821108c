// What the refusals of an API of Google's mean.
#include <doctest/doctest.h>

#include "tests/plugin/google/world.h"

using namespace fake;

namespace {

Answer refused(int64_t status, const std::string& body,
               const std::map<std::string, std::string>& headers = {}) {
  World world;
  world.serve = [=](const Request&) -> Response { return reply(status, body, headers); };
  return ask("google_token", R"({"access_token": "mine"})", world);
}

std::string error(int code, const std::string& message, const std::string& reason,
                  const std::string& details = "[]") {
  return R"({"error": {"code": )" + std::to_string(code) + R"(, "message": ")" + message +
         R"(", "errors": [{"reason": ")" + reason + R"("}], "details": )" + details + "}}";
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a 403 names the permission, by the API's words, and the role that has it") {
  Answer answer =
      refused(403, error(403, "Required 'compute.zones.list' permission for 'p'", "forbidden"));
  CHECK(answer.code == MUSTER_E_PERMISSION_DENIED);
  CHECK(holds(answer.message, "takes the permission compute.zones.list"));
  CHECK(holds(answer.details.at("hint"),
              "gcloud projects add-iam-policy-binding orchard --member=serviceAccount:EMAIL "
              "--role=roles/compute.viewer"));
  answer = refused(403, error(403, "Forbidden", "forbidden"));
  CHECK(holds(answer.message, "takes the permission compute.things.get"));
}

TEST_CASE("an API that is not enabled is told with the command that enables it") {
  for (const std::string& body :
       {error(403, "Compute Engine API has not been used", "accessNotConfigured"),
        error(403, "no", "forbidden", R"([{"reason": "SERVICE_DISABLED"}])")}) {
    const Answer answer = refused(403, body);
    CHECK(answer.code == MUSTER_E_PERMISSION_DENIED);
    CHECK(answer.details.at("hint") ==
          "gcloud services enable compute.googleapis.com --project orchard");
  }
}

TEST_CASE("a token without the scope is told apart from an account without the permission") {
  const Answer answer = refused(403, error(403, "Request had insufficient authentication scopes.",
                                           "insufficientPermissions"));
  CHECK(answer.code == MUSTER_E_PERMISSION_DENIED);
  CHECK(holds(answer.details.at("hint"), "--scopes=cloud-platform"));
}

TEST_CASE("a 403 of a used-up quota is waited out") {
  World world;
  world.serve = [asked = 0](const Request&) mutable -> Response {
    if (++asked <= 2)
      return reply(403, error(403, "Quota exceeded", "rateLimitExceeded"), {{"Retry-After", "1"}});
    return reply(200, "{}");
  };
  const Answer answer = ask("google_token", R"({"access_token": "mine"})", world);
  CHECK_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(answer.requests.size() == 3);
}

TEST_CASE("a 429 of a used-up quota is waited out too, one of pressure is not") {
  World world;
  world.serve = [asked = 0](const Request&) mutable -> Response {
    if (++asked == 1)
      return reply(429, error(429, "Quota", "rateLimitExceeded"), {{"Retry-After", "1"}});
    return reply(200, "{}");
  };
  CHECK(ask("google_token", R"({"access_token": "mine"})", world).code == MUSTER_OK);
  CHECK(refused(429, error(429, "Too busy", "backendError")).requests.size() == 1);
}

TEST_CASE("the command that gives the role names who asked, where the file says it") {
  for (const auto& [file, member] :
       {std::pair{service_account_file(),
                  std::string("--member=serviceAccount:grape@orchard.iam.gserviceaccount.com ")},
        {user_file(), "--member=user:EMAIL "}}) {
    World world = with_file(file);
    world.serve = [](const Request& request) -> Response {
      if (request.method == "POST") return reply(200, R"({"access_token": "t"})");
      return reply(403, error(403, "Forbidden", "forbidden"));
    };
    const Answer answer = ask("google_token", "{}", world);
    CHECK(answer.code == MUSTER_E_PERMISSION_DENIED);
    CHECK_MESSAGE(holds(answer.details.at("hint"), member), answer.details.at("hint"));
  }
}

TEST_CASE("a quota that the deadline does not outlast is RESOURCE_EXHAUSTED at once") {
  const Answer answer = refused(403, error(403, "Quota exceeded", "x", R"([{"reason": "a"}, {}])"));
  CHECK(answer.code == MUSTER_E_PERMISSION_DENIED);
  const Answer waits =
      refused(403, error(403, "Quota exceeded", "rateLimitExceeded"), {{"Retry-After", "100"}});
  CHECK(waits.code == MUSTER_E_RESOURCE_EXHAUSTED);
  CHECK(waits.requests.size() == 1);
  CHECK(waits.details.at("retry_after_ms") == "100000");
}

TEST_CASE("other refusals are what their status says, with the API's words") {
  struct Case {
    int64_t status;
    int32_t code;
  };
  for (const Case& one : {Case{400, MUSTER_E_INVALID_ARGUMENT}, Case{404, MUSTER_E_NOT_FOUND},
                          Case{429, MUSTER_E_RESOURCE_EXHAUSTED}, Case{500, MUSTER_E_UNAVAILABLE},
                          Case{503, MUSTER_E_UNAVAILABLE}, Case{302, MUSTER_E_UNAVAILABLE},
                          Case{410, MUSTER_E_NOT_FOUND}, Case{422, MUSTER_E_INVALID_ARGUMENT}}) {
    const Answer answer = refused(one.status, "<html>odd words</html>");
    CHECK(answer.code == one.code);
    CHECK(holds(answer.message, "odd words"));
    CHECK(answer.details.at("http_status") == std::to_string(one.status));
  }
  CHECK(refused(404, "{}").details.at("hint") == "gcloud look");
  CHECK(refused(404, "{}").details.at("option") == "/thing");
}
