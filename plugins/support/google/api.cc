#include "plugins/support/google/api.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <utility>

#include "plugins/support/http_status.h"
#include "plugins/support/json_at.h"
#include "plugins/support/quote_answer.h"
#include "plugins/support/text.h"

namespace muster::support::google {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;

constexpr int64_t kSecond_ns = 1'000'000'000;
// Quotas count by the minute, so these waits together cross into the next one.
constexpr std::array<int64_t, 5> kWaits_s = {5, 10, 15, 20, 30};

std::optional<int64_t> retry_after_s(const sdk::Response& response) {
  const auto header = response.header("Retry-After");
  return header ? parse_digits(trimmed(*header), 86400) : std::nullopt;
}

// "compute.instances.list"
bool is_permission(std::string_view text) {
  return !text.empty() && text.size() <= 200 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '/';
  });
}

std::string origin_of(const std::string& url) {
  return url.substr(0, url.find('/', url.find("://") + 3));
}

// Lives as long as the question.
muster_http_request_v1 request_of(const Question& question, const sdk::Call& call) {
  static constexpr std::string_view kJson = "application/json";
  static const muster_http_header_v1 headers[] = {{"Accept", kJson.data(), kJson.size()},
                                                  {"Content-Type", kJson.data(), kJson.size()}};
  muster_http_request_v1 request = {};
  request.struct_size = sizeof request;
  request.flags = MUSTER_HTTP_IDEMPOTENT;  // all that is asked here only reads
  request.method = question.method;
  request.url = question.url.data();
  request.url_size = question.url.size();
  request.headers = headers;
  request.header_count = question.body.empty() ? 1 : 2;
  request.body = question.body.data();
  request.body_size = question.body.size();
  request.maximum_body_size = question.maximum_size;
  request.purpose = question.purpose.c_str();
  request.timeout_ns = request_timeout_ns(call);
  return request;
}

class Asker {
 public:
  Asker(Credentials& credentials, const Question& question, sdk::Call& call)
      : credentials_(credentials), question_(question), call_(call) {}

  // `first`: the answer to it, when it was sent already.
  sdk::Result<sdk::Response> ask(bool may_be_absent,
                                 std::optional<sdk::Response> first = std::nullopt) {
    for (size_t waits = 0;; ++waits) {
      std::optional<sdk::Response> given = std::exchange(first, std::nullopt);
      auto response = given ? sdk::Result<sdk::Response>(*std::move(given)) : send();
      if (!response) return std::move(response).failure().with("endpoint", origin());
      const int64_t status = response->status();
      if (status == 200 || (status == 404 && may_be_absent)) return response;
      const ApiError said = read_api_error(response->body());
      // The core has tried 429 and 5xx again for a while, and takes a 403 for final; neither reaches the next minute.
      if ((status != 403 && status != 429) || !said.rate_limited())
        return failure_of(*response, said);
      if (auto stopped = wait(*response, said, waits); !stopped)
        return std::move(stopped).failure();
    }
  }

 private:
  std::string origin() const { return origin_of(question_.url); }

  sdk::Result<sdk::Response> send() {
    if (call_.cancelled())
      return sdk::Failure{
          MUSTER_E_CANCELLED, fmt::format("asking for {} was cancelled", question_.what), {}};
    call_.progress(question_.what);
    return credentials_.send(request_of(question_, call_), call_);
  }

  sdk::Status wait(const sdk::Response& response, const ApiError& said, size_t waits) {
    const auto* clock = call_.host().service<muster_clock_v1>(MUSTER_CLOCK_V1);
    const auto asked = retry_after_s(response);
    const int64_t wait_ns =
        asked ? *asked * kSecond_ns
              : jittered_ns(kWaits_s[std::min(waits, kWaits_s.size() - 1)] * kSecond_ns);
    if (clock == nullptr || waits >= kWaits_s.size() ||
        clock->monotonic_ns(call_.get()) + wait_ns >= call_.get()->deadline_ns)
      return sdk::Failure{
          MUSTER_E_RESOURCE_EXHAUSTED,
          fmt::format("the quota of {} for {} is used up: {}", question_.service, question_.what,
                      quote_answer(said.message, AskedFor::kData, 500)),
          {{"http_status", std::to_string(response.status())},
           {"retry_after_ms", std::to_string(wait_ns / 1'000'000)},
           {"endpoint", origin()},
           {"hint", "quotas count by the minute: a timeout of 90s waits for the next one"}}};
    call_.progress(fmt::format("{}: the quota is used up, waiting {} s", question_.what,
                               wait_ns / kSecond_ns));
    if (const int32_t slept = clock->sleep_ns(call_.get(), wait_ns); slept != MUSTER_OK)
      return sdk::Failure{
          slept,
          fmt::format("stopped while waiting for the quota of {}: {}", question_.service,
                      quote_answer(said.message, AskedFor::kData, 500)),
          {}};
    return {};
  }

  sdk::Failure forbidden(const ApiError& said, const std::string& words) const {
    if (said.disabled())
      return sdk::Failure{MUSTER_E_PERMISSION_DENIED,
                          fmt::format("the API {} is not enabled for {}: {}", question_.service,
                                      question_.what, words),
                          {{"hint", fmt::format("gcloud services enable {} --project {}",
                                                question_.service, question_.project)}}};
    if (said.lacks_scope())
      return sdk::Failure{
          MUSTER_E_PERMISSION_DENIED,
          fmt::format("the token of {} has not the scope for {}: {}", credentials_.origin(),
                      question_.what, words),
          {{"hint",
            "a VM's access scopes are set when it is made, or while it is stopped: gcloud "
            "compute instances set-service-account VM --scopes=cloud-platform"}}};
    const std::string permission = said.permission.empty() ? question_.permission : said.permission;
    return sdk::Failure{
        MUSTER_E_PERMISSION_DENIED,
        fmt::format("{} may not ask for {}, which takes the permission {}: {}",
                    credentials_.origin(), question_.what, permission, words),
        {{"hint",
          fmt::format("{} has it: gcloud projects add-iam-policy-binding {} "
                      "--member={} --role={}",
                      question_.role, question_.project, credentials_.member(), question_.role)}}};
  }

  sdk::Failure failure_of(const sdk::Response& response, const ApiError& said) const {
    const int64_t status = response.status();
    const std::string words = said.message.empty()
                                  ? quote_answer(response.body(), AskedFor::kData)
                                  : quote_answer(said.message, AskedFor::kData, 500);
    const auto told = [&](int32_t code, const std::string& message) {
      return sdk::Failure{code, message, {}};
    };
    sdk::Failure out = told(code_of_status(status),
                            fmt::format("{} answers {} ({}) when asked for {}: {}", origin(),
                                        status, status_in_words(status), question_.what, words));
    switch (status) {
      case 400:
      case 422:
        if (question_.of_a_page) {
          out = told(
              MUSTER_E_DATA_LOSS,
              fmt::format("{} does not take the token that it gave for a further page of {}: {}",
                          origin(), question_.what, words));
          break;
        }
        out = told(
            MUSTER_E_INVALID_ARGUMENT,
            fmt::format("the API does not take the question for {}: {}", question_.what, words));
        if (!question_.option.empty()) out.details.emplace_back("option", question_.option);
        break;
      case 401:
        out = told(MUSTER_E_UNAUTHENTICATED, fmt::format("{} refuses the token of {}: {}", origin(),
                                                         credentials_.origin(), words));
        out.details.emplace_back("hint", "log in again: gcloud auth application-default login");
        break;
      case 403: out = forbidden(said, words); break;
      case 404:
      case 410:
        out =
            told(MUSTER_E_NOT_FOUND, fmt::format("the API knows no {}: {}", question_.what, words));
        if (!question_.option.empty()) out.details.emplace_back("option", question_.option);
        out.details.emplace_back("hint", question_.look);
        break;
      case 429:
        out = told(MUSTER_E_RESOURCE_EXHAUSTED,
                   fmt::format("{} has too much to do: {}", origin(), words));
        if (const auto after = retry_after_s(response))
          out.details.emplace_back("retry_after_ms", std::to_string(*after * 1000));
        break;
      default: break;
    }
    out.details.emplace_back("http_status", std::to_string(status));
    out.details.emplace_back("endpoint", origin());
    return out;
  }

  Credentials& credentials_;
  const Question& question_;
  sdk::Call& call_;
};

}  // namespace

int64_t jittered_ns(int64_t wait_ns) {
  static thread_local std::minstd_rand random{std::random_device{}()};
  return std::uniform_int_distribution<int64_t>(wait_ns / 4 * 3, wait_ns / 4 * 5)(random);
}

bool ApiError::rate_limited() const {
  return reason == "rateLimitExceeded" || reason == "userRateLimitExceeded" ||
         reason == "RATE_LIMIT_EXCEEDED";
}
bool ApiError::disabled() const {
  return reason == "accessNotConfigured" || reason == "SERVICE_DISABLED";
}
bool ApiError::lacks_scope() const {
  return reason == "insufficientPermissions" || reason == "ACCESS_TOKEN_SCOPE_INSUFFICIENT";
}

ApiError read_api_error(std::string_view body) {
  ApiError out;
  simdjson::dom::parser parser;
  element root;
  if (parser.parse(body.data(), body.size()).get(root)) return out;
  out.message = text_at(root, "/error/message");
  out.reason = text_at(root, "/error/errors/0/reason");
  array details;
  if (!root.at_pointer("/error/details").get_array().get(details)) {
    // The new form is exact where the old one says "forbidden" for everything.
    for (const element detail : details)
      if (const std::string_view reason = text_at(detail, "/reason");
          !reason.empty() && (out.reason.empty() || out.reason == "forbidden"))
        out.reason = reason;
  }
  for (const std::string_view before : {"Required '", "Permission '"}) {
    const size_t at = out.message.find(before);
    if (at == std::string::npos) continue;
    const size_t from = at + before.size();
    const size_t end = out.message.find('\'', from);
    if (end == std::string::npos) continue;
    const std::string named = out.message.substr(from, end - from);
    if (is_permission(named)) out.permission = named;
  }
  return out;
}

sdk::Result<sdk::Response> ask_api(Credentials& credentials, const Question& question,
                                   sdk::Call& call, bool may_be_absent) {
  return Asker(credentials, question, call).ask(may_be_absent);
}

std::vector<sdk::Result<sdk::Response>> ask_api_together(Credentials& credentials,
                                                         const std::vector<Asked>& questions,
                                                         sdk::Call& call) {
  std::vector<muster_http_request_v1> requests;
  std::string what;
  for (const Asked& asked : questions) {
    requests.push_back(request_of(asked.question, call));
    what += (what.empty() ? "" : ", ") + asked.question.what;
  }
  call.progress(what);
  auto sent = credentials.send_together(requests, call);
  std::vector<sdk::Result<sdk::Response>> out;
  std::optional<sdk::Failure> failed;
  if (!sent)
    failed = sdk::Failure(sent.failure()).with("endpoint", origin_of(questions[0].question.url));
  for (size_t n = 0; n < questions.size(); ++n) {
    if (failed) {
      out.emplace_back(*failed);
      continue;
    }
    auto& answer = (*sent)[n];
    out.push_back(Asker(credentials, questions[n].question, call)
                      .ask(questions[n].may_be_absent, std::move(answer)));
    if (!out.back()) failed = out.back().failure();
  }
  return out;
}

}  // namespace muster::support::google
