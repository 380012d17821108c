// Where Google credentials are looked for, what is asked for a token, and where a token may go.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "plugins/support/google/token_host.h"
#include "tests/plugin/google/world.h"

using namespace fake;

namespace {

Answer ask_google(const World& world, const std::string& options = "{}") {
  return ask("google_token", options, world);
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool is_secret(const Answer& answer, const std::string& text) {
  return std::find(answer.secrets.begin(), answer.secrets.end(), text) != answer.secrets.end();
}

// A metadata server that gives tokens.
World on_a_vm() {
  World world;
  world.files["/sys/class/dmi/id/product_name"] = "Google Compute Engine\n";
  world.serve = [](const Request& request) -> Response {
    Response out;
    if (!holds(request.url, "/computeMetadata/")) return out;
    CHECK(request.headers.at("Metadata-Flavor") == "Google");
    CHECK((request.flags & MUSTER_HTTP_NO_PROXY) != 0);
    out.headers["Metadata-Flavor"] = "Google";
    if (holds(request.url, "/token"))
      out.body = R"({"access_token": "vm-token", "expires_in": 3000, "token_type": "Bearer"})";
    if (holds(request.url, "universe-domain")) out.status = 404;
    return out;
  };
  return world;
}

}  // namespace

TEST_CASE("a service account signs its own token, and no server is asked for one") {
  const Answer answer = ask_google(with_file(service_account_file()));
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  REQUIRE(answer.requests.size() == 1);
  CHECK(answer.requests[0].url == "https://compute.googleapis.com/x");
  const std::string sent = authorization(answer, 0);
  REQUIRE(sent.substr(0, 7) == "Bearer ");
  std::string claims;
  CHECK(verify_jwt(sent.substr(7), claims));
  CHECK(holds(claims, R"("iss":"grape@orchard.iam.gserviceaccount.com")"));
  CHECK(holds(claims, R"("sub":"grape@orchard.iam.gserviceaccount.com")"));
  CHECK(holds(claims, R"("scope":"scope-a scope-b")"));
  CHECK(holds(claims, R"("iat":1769860800,"exp":1769864400)"));
  CHECK_FALSE(holds(claims, "aud"));
  CHECK(is_secret(answer, sent.substr(7)));
  CHECK(is_secret(answer, private_key()));
  CHECK(answer.attributes.at("project") == "orchard");
  CHECK(answer.attributes.at("origin") ==
        "the credential file '/key.json' (GOOGLE_APPLICATION_CREDENTIALS)");
}

TEST_CASE("an API that refuses a self-signed token gets one of the token endpoint, once") {
  World world =
      with_file(service_account_file(R"(, "token_uri": "https://oauth2.googleapis.com/t")"));
  world.serve = [](const Request& request) -> Response {
    if (request.method == "POST")
      return reply(200, R"({"access_token": "granted", "expires_in": "3599"})");
    return reply(request.headers.at("Authorization") == "Bearer granted" ? 200 : 401, "{}");
  };
  const Answer answer = ask_google(world);
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  REQUIRE(answer.requests.size() == 3);
  const Request& asked = answer.requests[1];
  CHECK(asked.url == "https://oauth2.googleapis.com/t");
  CHECK(asked.headers.at("Content-Type") == "application/x-www-form-urlencoded");
  CHECK((asked.flags & MUSTER_HTTP_SECRET_BODY) != 0);
  CHECK((asked.flags & MUSTER_HTTP_IDEMPOTENT) != 0);
  CHECK(form_field(asked.body, "grant_type") == "urn:ietf:params:oauth:grant-type:jwt-bearer");
  std::string claims;
  CHECK(verify_jwt(form_field(asked.body, "assertion"), claims));
  CHECK(holds(claims, R"("aud":"https://oauth2.googleapis.com/t")"));
  CHECK_FALSE(holds(claims, R"("sub")"));
}

TEST_CASE("a token that is refused twice is UNAUTHENTICATED") {
  World world = with_file(user_file());
  world.serve = [](const Request& request) -> Response {
    if (request.method == "POST") return reply(200, R"({"access_token": "t", "expires_in": 3599})");
    return reply(401, R"({"error": {"code": 401, "message": "Invalid Credentials"}})");
  };
  const Answer answer = ask_google(world);
  CHECK(answer.code == MUSTER_E_UNAUTHENTICATED);
  CHECK(answer.requests.size() == 4);
  CHECK(holds(answer.message, "'Invalid Credentials'"));
  CHECK(holds(answer.details.at("hint"), "gcloud auth application-default login"));
}

TEST_CASE(
    "gcloud's own file is found where there is no variable, and its refresh token is exchanged") {
  World world = google_world();
  world.files["/home/user/.config/gcloud/application_default_credentials.json"] =
      user_file(R"(, "quota_project_id": "payer")");
  const Answer answer = ask_google(world);
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  REQUIRE(answer.requests.size() == 2);
  const Request& asked = answer.requests[0];
  CHECK(asked.url == "https://oauth2.googleapis.com/token");
  CHECK(form_field(asked.body, "grant_type") == "refresh_token");
  CHECK(form_field(asked.body, "client_id") == "id.apps");
  CHECK(form_field(asked.body, "client_secret") == "client-secret");
  CHECK(form_field(asked.body, "refresh_token") == "1//refresh/secret");
  CHECK(authorization(answer, 1) == "Bearer token-1");
  CHECK(answer.requests[1].headers.at("x-goog-user-project") == "payer");
  for (const char* secret : {"client-secret", "1//refresh/secret", "token-1"})
    CHECK(is_secret(answer, secret));
}

TEST_CASE(
    "CLOUDSDK_CONFIG moves gcloud's folder; the environment's quota project is over the file's") {
  World world = google_world();
  world.variables["CLOUDSDK_CONFIG"] = "/sdk";
  world.variables["GOOGLE_CLOUD_QUOTA_PROJECT"] = "env-payer";
  world.files["/sdk/application_default_credentials.json"] =
      user_file(R"(, "quota_project_id": "payer")");
  const Answer answer = ask_google(world);
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(answer.requests[1].headers.at("x-goog-user-project") == "env-payer");
  CHECK(ask_google(world, R"({"quota_project": "mine"})")
            .requests[1]
            .headers.at("x-goog-user-project") == "mine");
}

TEST_CASE("a variable that names no file, or a file that is none, ends the search") {
  World world = on_a_vm();
  world.variables["GOOGLE_APPLICATION_CREDENTIALS"] = "/absent.json";
  Answer answer = ask_google(world);
  CHECK(answer.code == MUSTER_E_NOT_FOUND);
  CHECK(answer.requests.empty());
  CHECK(answer.details.at("hint") == "GOOGLE_APPLICATION_CREDENTIALS names this file");

  struct Wrong {
    const char* content;
    const char* why;
  };
  for (const Wrong& wrong : {
           Wrong{"not json: secret-key", "is not JSON"},
           Wrong{"[]", "it is no JSON object"},
           Wrong{R"({"type": "service_account", "private_key": "secret-key"})", "'client_email'"},
           Wrong{R"({"type": "authorized_user", "client_id": 7})", "'refresh_token'"},
           Wrong{R"({"type": "gdch_service_account"})", "type 'gdch_service_account'"},
           Wrong{R"({"type": "service_account", "client_email": "g", "private_key": "secret-key"})",
                 "no RSA key in PEM"},
       }) {
    answer = ask_google(with_file(wrong.content));
    CHECK_MESSAGE(answer.code != MUSTER_OK, wrong.content);
    CHECK_MESSAGE(holds(answer.message, wrong.why), answer.message);
    CHECK(holds(answer.message, "'/key.json'"));
    CHECK_FALSE(holds(answer.message, "secret-key"));
    CHECK(answer.requests.empty());
  }
}

TEST_CASE("without any, each place that was looked at is told, and what to run") {
  const Answer answer = ask_google({});
  CHECK(answer.code == MUSTER_E_UNAUTHENTICATED);
  CHECK(
      answer.message ==
      "there are no Google credentials: GOOGLE_APPLICATION_CREDENTIALS is not set; "
      "'~/.config/gcloud/application_default_credentials.json' does not exist; the metadata server "
      "metadata.google.internal does not answer, so this is no machine of Google Cloud");
  CHECK(holds(answer.details.at("hint"), "gcloud auth application-default login"));
  REQUIRE(answer.requests.size() == 1);
  CHECK((answer.requests[0].flags & MUSTER_HTTP_NO_RETRY) != 0);
}

TEST_CASE("a metadata server that hangs costs a second and no other try, where none is expected") {
  World world;
  world.serve = [](const Request&) -> Response {
    return {0, "", {}, MUSTER_E_DEADLINE_EXCEEDED, "no answer in time"};
  };
  const Answer off = ask_google(world);
  CHECK(off.code == MUSTER_E_UNAUTHENTICATED);
  CHECK(holds(off.message, "this is no machine of Google Cloud"));
  REQUIRE(off.requests.size() == 1);
  CHECK(off.requests[0].timeout_ns == INT64_C(1'000'000'000));
  CHECK((off.requests[0].flags & MUSTER_HTTP_NO_RETRY) != 0);

  world.files["/sys/class/dmi/id/product_name"] = "Google Compute Engine\n";
  const Answer on = ask_google(world);
  CHECK(on.code == MUSTER_E_DEADLINE_EXCEEDED);
  REQUIRE(on.requests.size() == 1);
  CHECK(on.requests[0].timeout_ns == INT64_C(10'000'000'000));
  CHECK((on.requests[0].flags & MUSTER_HTTP_NO_RETRY) == 0);
}

TEST_CASE(
    "NO_GCE_CHECK keeps from asking a metadata server, and one without the flavour is not "
    "believed") {
  World world;
  world.variables["NO_GCE_CHECK"] = "true";
  Answer answer = ask_google(world);
  CHECK(answer.code == MUSTER_E_UNAUTHENTICATED);
  CHECK(answer.requests.empty());
  CHECK(holds(answer.message, "NO_GCE_CHECK is 'true'"));

  World portal;
  portal.serve = [](const Request&) -> Response {
    return reply(200, R"({"access_token": "stolen", "expires_in": 3000})");
  };
  answer = ask_google(portal);
  CHECK(answer.code == MUSTER_E_UNAUTHENTICATED);
  CHECK(holds(answer.message, "without Metadata-Flavor: Google"));
}

TEST_CASE("on a VM the metadata server gives the token, with the scopes asked for") {
  World world = on_a_vm();
  world.variables["GCE_METADATA_HOST"] = "127.0.0.1:9";
  const Answer answer = ask_google(world);
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(answer.requests[0].url ==
        "http://127.0.0.1:9/computeMetadata/v1/instance/service-accounts/default/"
        "token?scopes=scope-a%2Cscope-b");
  CHECK(authorization(answer, answer.requests.size() - 1) == "Bearer vm-token");
  CHECK(answer.attributes.at("universe") == "googleapis.com");
  CHECK((answer.requests[0].flags & MUSTER_HTTP_SECRET_BODY) != 0);
  CHECK(is_secret(answer, "vm-token"));
}

TEST_CASE(
    "on a VM the universe is asked for with the first token, once for all resolvers and for good") {
  const auto asked = [](const std::vector<Answer>& answers, const std::string& what) {
    size_t count = 0;
    for (const Answer& answer : answers) {
      CHECK_MESSAGE(answer.code == MUSTER_OK, answer.message);
      CHECK(answer.attributes.at("universe") == "apis.other.example");
      for (const Request& request : answer.requests) count += holds(request.url, what) ? 1 : 0;
    }
    return count;
  };
  World world = on_a_vm();
  world.serve = [serve = world.serve](const Request& request) -> Response {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (!holds(request.url, "universe-domain")) return serve(request);
    return reply(200, "apis.other.example", {{"Metadata-Flavor", "Google"}});
  };
  World later = world;
  later.time_s += 2900;
  auto answers = ask_beside("google_token", "{}", {world, world, world, world});
  CHECK(asked(answers, "/token") == 1);
  CHECK(asked(answers, "universe-domain") == 1);
  answers = ask_in_turn("google_token", "{}", {world, world, later});
  CHECK(asked(answers, "/token") == 2);
  CHECK(asked(answers, "universe-domain") == 1);
  answers = {ask_google(world, R"({"universe_domain": "apis.other.example"})")};
  CHECK(asked(answers, "/token") == 1);
  CHECK(asked(answers, "universe-domain") == 0);
}

TEST_CASE("a text of the metadata server that ends with its connection is not believed") {
  for (const std::string path : {"/token", "universe-domain"}) {
    World world = on_a_vm();
    world.serve = [serve = world.serve, path](const Request& request) -> Response {
      Response out = serve(request);
      if (!holds(request.url, path)) return out;
      if (path == "universe-domain")
        out = reply(200, "googleapis.co", {{"Metadata-Flavor", "Google"}});
      out.unframed = true;
      return out;
    };
    const Answer answer = ask_google(world);
    CHECK(answer.code == MUSTER_E_DATA_LOSS);
    CHECK_MESSAGE(holds(answer.message, "whether its text is whole cannot be told"),
                  answer.message);
  }
}

TEST_CASE("a universe that is no domain gets no token") {
  for (const char* universe :
       {"evil.example/", "a b", "-a", ".a", "a..b", "A.b", "a@b", "a:1", "<p>"}) {
    World world = on_a_vm();
    world.serve = [serve = world.serve, universe](const Request& request) -> Response {
      if (!holds(request.url, "universe-domain")) return serve(request);
      return reply(200, universe, {{"Metadata-Flavor", "Google"}});
    };
    const Answer answer = ask_google(world);
    CHECK_MESSAGE(answer.code == MUSTER_E_DATA_LOSS, universe);
    CHECK(holds(answer.message, "which is no domain"));
    for (const Request& request : answer.requests)
      CHECK(request.headers.count("Authorization") == 0);
  }
}

TEST_CASE("a VM without a service account is told so") {
  World world = on_a_vm();
  world.serve = [](const Request&) -> Response {
    return reply(404, "", {{"Metadata-Flavor", "Google"}});
  };
  const Answer answer = ask_google(world);
  CHECK(answer.code == MUSTER_E_UNAUTHENTICATED);
  CHECK(holds(answer.message, "knows no service account of this machine"));
}

TEST_CASE(
    "a token is kept until its last minutes, then another is asked for; a failure keeps the old") {
  World early = with_file(user_file()), soon = early, down = early, over = early;
  soon.time_s += 3600 - 100;
  down.time_s += 2 * 3600 - 200;
  down.serve = [](const Request& request) -> Response {
    return reply(request.method == "POST" ? 503 : 200, "{}");
  };
  over = down;
  over.time_s += 1000;
  const auto answers = ask_in_turn("google_token", "{}", {early, early, soon, down, over});
  CHECK(answers[0].requests.size() == 2);
  CHECK(answers[1].requests.size() == 1);
  CHECK(authorization(answers[1], 0) == "Bearer token-1");
  CHECK(answers[2].requests.size() == 2);
  REQUIRE_MESSAGE(answers[3].code == MUSTER_OK, answers[3].message);
  CHECK(authorization(answers[3], 1) == authorization(answers[2], 1));
  CHECK(answers[4].code == MUSTER_E_UNAVAILABLE);
}

namespace {

// Four resolvers at once, whose token endpoint takes a while to answer by `answer`; how often it was asked.
std::vector<Answer> ask_four(World world, int& asked,
                             const std::function<Response()>& answer = nullptr) {
  auto count = std::make_shared<std::atomic<int>>(0);
  world.serve = [count, answer](const Request& request) -> Response {
    if (request.method == "GET") return {};
    const int given = ++*count;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (answer != nullptr) return answer();
    return reply(
        200, R"({"expires_in": 3600, "access_token": "token-)" + std::to_string(given) + R"("})");
  };
  auto answers = ask_beside("google_token", "{}", {world, world, world, world});
  asked = *count;
  return answers;
}

}  // namespace

TEST_CASE("resolvers of the same credentials share one token, and one of them asks for it") {
  int asked = 0;
  for (const Answer& answer : ask_four(with_file(user_file()), asked)) {
    REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
    CHECK(authorization(answer, answer.requests.size() - 1) == "Bearer token-1");
    CHECK(is_secret(answer, "token-1"));
  }
  CHECK(asked == 1);
  // With the last of them it is gone.
  ask_four(with_file(user_file()), asked);
  CHECK(asked == 1);
}

TEST_CASE("recorded and replayed ones, and other credentials, share none") {
  World world = with_file(user_file());
  world.keep = false;
  int asked = 0;
  ask_four(world, asked);
  CHECK(asked == 4);

  World other = with_file(user_file(R"(, "quota_project_id": "another")"));
  auto count = std::make_shared<std::atomic<int>>(0);
  other.serve = [count](const Request& request) -> Response {
    if (request.method == "POST") ++*count;
    return reply(200, R"({"access_token": "t", "expires_in": 3600})");
  };
  World mine = other;
  mine.files["/key.json"] = user_file();
  ask_beside("google_token", "{}", {mine, other, mine});
  CHECK(*count == 2);
}

TEST_CASE("a token that cannot be had is told to each in words of its own") {
  int asked = 0;
  const auto refuse = [] { return reply(400, R"({"error": "invalid_grant"})"); };
  for (const Answer& answer : ask_four(with_file(user_file()), asked, refuse)) {
    CHECK(answer.code == MUSTER_E_UNAUTHENTICATED);
    CHECK(holds(answer.message, "'invalid_grant'"));
    CHECK(answer.took_ns < 550'000'000);  // whoever waited for the first asks at once, not in turn
  }
}

TEST_CASE("who waits for another that asks for the token ends by its own deadline or cancel") {
  auto count = std::make_shared<std::atomic<int>>(0);
  auto late = std::make_shared<std::atomic<bool>>(false);
  World first = with_file(user_file());
  first.serve = [count, late](const Request& request) -> Response {
    if (request.method == "POST") {
      ++*count;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      *late = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(400));
    }
    return reply(200, R"({"access_token": "t", "expires_in": 3600})");
  };
  World hurried = first, cancelled = first;
  // Both begin only when the first asks.
  hurried.begins = cancelled.begins = [count] { return *count > 0; };
  hurried.time_left_ns = 100'000'000;
  cancelled.cancelled_when = [late] { return late->load(); };
  const auto answers = ask_beside("google_token", "{}", {first, hurried, cancelled});
  CHECK(answers[0].code == MUSTER_OK);
  CHECK(answers[1].code == MUSTER_E_DEADLINE_EXCEEDED);
  CHECK(holds(answers[1].message, "while another source asked for an access token"));
  CHECK(answers[2].code == MUSTER_E_CANCELLED);
  CHECK(answers[2].took_ns < 400'000'000);
  CHECK(*count == 1);
}

TEST_CASE(
    "a token that is not needed yet may take five seconds, and is not asked for again at once") {
  World early = with_file(user_file()), soon = early, again = early, later = early;
  soon.time_s += 3600 - 200;
  soon.serve = [](const Request& request) -> Response {
    return reply(request.method == "POST" ? 503 : 200, "{}");
  };
  again = soon;
  again.time_s += 10;
  later = soon;
  later.time_s += 40;
  const auto answers = ask_in_turn("google_token", "{}", {early, soon, again, later});
  REQUIRE(answers[1].requests.size() == 2);
  CHECK(answers[1].requests[0].timeout_ns == INT64_C(5'000'000'000));
  CHECK(answers[2].requests.size() == 1);
  CHECK(answers[3].requests.size() == 2);
  for (const Answer& answer : answers) CHECK_MESSAGE(answer.code == MUSTER_OK, answer.message);
}

TEST_CASE("a credential file that has changed counts at the next call") {
  World first = with_file(user_file()), second = first;
  second.files["/key.json"] = service_account_file();
  const auto answers = ask_in_turn("google_token", "{}", {first, second});
  CHECK(authorization(answers[0], 1) == "Bearer token-1");
  std::string claims;
  CHECK(verify_jwt(authorization(answers[1], 0).substr(7), claims));
}

TEST_CASE("a refused refresh token is UNAUTHENTICATED with the endpoint's reason and what to run") {
  World world = with_file(user_file());
  world.serve = [](const Request&) -> Response {
    return reply(400,
                 R"({"error": "invalid_grant", "error_description": "Token has been revoked."})");
  };
  const Answer answer = ask_google(world);
  CHECK(answer.code == MUSTER_E_UNAUTHENTICATED);
  CHECK(holds(answer.message, "reason 'invalid_grant'"));
  CHECK(holds(answer.details.at("hint"), "gcloud auth application-default login"));
}

TEST_CASE("a service account whose assertion is refused is told this machine's time") {
  World world = with_file(service_account_file());
  world.serve = [](const Request& request) -> Response {
    if (request.method == "GET") return reply(401, "{}");
    return reply(400, R"({"error": "invalid_grant", "error_description": "Invalid JWT: iat"})");
  };
  const Answer answer = ask_google(world);
  CHECK(answer.code == MUSTER_E_UNAUTHENTICATED);
  CHECK(holds(answer.details.at("hint"), "2026-01-31T12:00:00Z"));
}

TEST_CASE("a given token is sent as it is; a token file is read anew after a refusal") {
  World world = google_world();
  Answer answer = ask_google(world, R"({"access_token": "mine"})");
  CHECK(authorization(answer, 0) == "Bearer mine");
  CHECK(is_secret(answer, "mine"));

  world.files["/token"] = "old\n";
  world.rotate = [](World& w) { w.files["/token"] = "new\n"; };
  world.serve = [](const Request& request) -> Response {
    return reply(request.headers.at("Authorization") == "Bearer new" ? 200 : 401, "{}");
  };
  answer = ask_google(world, R"({"access_token_file": "/token"})");
  CHECK_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(answer.requests.size() == 2);
}

TEST_CASE("gcloud prints the token when asked to, and the command that tells why when it cannot") {
  World world = google_world();
  world.run = [](const Program& program) -> Run {
    CHECK(program.arguments ==
          std::vector<std::string>{"gcloud", "auth", "print-access-token", "--quiet"});
    return {0, "gcloud-token\n", "", MUSTER_OK, ""};
  };
  Answer answer = ask_google(world, R"({"credentials": "gcloud"})");
  CHECK(authorization(answer, 0) == "Bearer gcloud-token");
  world.run = [](const Program&) -> Run {
    return {1, "", "ERROR: You do not currently have an active account", MUSTER_OK, ""};
  };
  answer = ask_google(world, R"({"credentials": "gcloud"})");
  CHECK(answer.code == MUSTER_E_UNAUTHENTICATED);
  CHECK(holds(answer.message, "failed with exit status 1"));
  CHECK(answer.details.at("hint") == "gcloud auth print-access-token tells why; gcloud auth login");
}

TEST_CASE("a recording runs gcloud once for each call, else its token is kept") {
  World world = google_world();
  world.run = [](const Program&) -> Run { return {0, "t0ken\n", "", MUSTER_OK, ""}; };
  auto answers = ask_in_turn("google_token", R"({"credentials": "gcloud"})", {world, world});
  CHECK(answers[1].programs.empty());
  world.keep = false;
  answers = ask_in_turn("google_token", R"({"credentials": "gcloud"})", {world, world});
  CHECK(answers[0].programs.size() == 1);
  CHECK(answers[1].programs.size() == 1);
}

TEST_CASE("credentials: none sends no token") {
  const Answer answer = ask_google(google_world(), R"({"credentials": "none"})");
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(authorization(answer, 0).empty());
}

TEST_CASE("another universe: its host alone gets the token, and a service account always signs") {
  const std::string file = service_account_file(R"(, "universe_domain": "apis.other.example")");
  Answer answer = ask_google(with_file(file));
  REQUIRE_MESSAGE(answer.code == MUSTER_OK, answer.message);
  CHECK(answer.requests[0].url == "https://compute.apis.other.example/x");
  World refusing = with_file(file);
  refusing.serve = [](const Request&) { return reply(401, "{}"); };
  answer = ask_google(refusing);
  CHECK(answer.code == MUSTER_E_UNAUTHENTICATED);
  CHECK(answer.requests.size() == 1);
  answer = ask_google(with_file(file), R"({"url": "https://compute.googleapis.com/x"})");
  CHECK(answer.code == MUSTER_E_INVALID_ARGUMENT);
  CHECK(answer.requests.empty());
  answer = ask_google(with_file(file), R"({"universe_domain": "googleapis.com"})");
  CHECK(answer.code == MUSTER_E_INVALID_ARGUMENT);
  CHECK(answer.details.at("option") == "/universe_domain");
}

TEST_CASE("a token goes to Google over https or to the loopback, and nowhere else") {
  using muster::support::google::may_have_token;
  const std::string_view google = "googleapis.com";
  for (const char* url : {"https://compute.googleapis.com/x", "https://COMPUTE.GoogleApis.com:443",
                          "http://127.0.0.1:8/x", "https://accounts.google.com/o",
                          "http://[::1]:80/", "http://localhost/x"})
    CHECK_MESSAGE(may_have_token(url, google), url);
  for (const char* url :
       {"http://compute.googleapis.com/x", "https://googleapis.com.evil.example/",
        "https://evilgoogleapis.com/", "https://compute.googleapis.com@evil.example/",
        "https://evil.example/?a=.googleapis.com", "http://127.evil.example/", "https://10.0.0.1/",
        "https://evil.example#.googleapis.com", "ftp://compute.googleapis.com/", "", "https://"})
    CHECK_MESSAGE(!may_have_token(url, google), url);
  CHECK_FALSE(may_have_token("https://compute.googleapis.com/", "other.example"));
  CHECK_FALSE(may_have_token("https://accounts.google.com/", "other.example"));
}

TEST_CASE("a credential file cannot send its secrets to a stranger") {
  const Answer answer =
      ask_google(with_file(user_file(R"(, "token_uri": "https://evil.example/t")")));
  CHECK(answer.code == MUSTER_E_INVALID_ARGUMENT);
  CHECK(answer.requests.empty());
  CHECK(holds(answer.message, "https://evil.example/t"));
}

TEST_CASE("the user and password of a URL in a credential file are not told") {
  for (const char* url : {"https://ann:hunter22@evil.example/t?k=hunter22", "ann:hunter22@h",
                          "https://ann:hun@hunter22@evil.example/"}) {
    const Answer answer =
        ask_google(with_file(user_file(std::string(R"(, "token_uri": ")") + url + "\"")));
    CHECK(answer.code == MUSTER_E_INVALID_ARGUMENT);
    CHECK(holds(answer.message, "REDACTED@"));
    CHECK_FALSE(holds(answer.everything_said(), "hunter22"));
  }
}

TEST_CASE("an endpoint's answer that is no token is told, without a word of it") {
  for (const char* body : {"<html>secret</html>", "[]", R"({"access_token": ""})", "{}",
                           R"({"access_token": "a\r\nX: y"})"}) {
    World world = with_file(user_file());
    world.serve = [body](const Request&) -> Response { return reply(200, body); };
    const Answer answer = ask_google(world);
    CHECK(answer.code == MUSTER_E_DATA_LOSS);
    CHECK_FALSE(holds(answer.message, "secret"));
  }
}
