#include "sdk/muster-check/servers.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <memory>

#include "core/cancel.h"
#include "core/service/call_strings.h"
#include "core/service/host.h"
#include "core/service/http_secret.h"
#include "core/service/services.h"
#include "core/service/text.h"
#include "core/service/url.h"

namespace muster::check {
namespace {

constexpr size_t kPiece = 64 * 1024;
Servers* the_servers = nullptr;

// An answer on its way to the core, freed by release.
struct Held {
  std::string body;
  RecordedExchange::Headers texts;
  std::vector<muster_http_header_v1> headers;
};

void release(muster_http_response_v1* response) {
  const std::unique_ptr<Held> held(static_cast<Held*>(response->ctx));
  response->ctx = nullptr;
}

std::string endpoint_of(const std::string& url) {
  const Result<Url> parsed = Url::parse(url);
  return parsed ? parsed->endpoint() : url;
}

Error broken(Code code, std::string message, const char* phase, const Question& question) {
  return {code,
          std::move(message),
          {{"phase", phase},
           {"endpoint", endpoint_of(question.url)},
           {"sent", std::string_view(phase) == "connect" ? "0" : "1"}}};
}

// A whole answer, streamed where the request wants that.
int32_t give(const muster_http_request_v1* request, int64_t status, std::string body,
             RecordedExchange::Headers headers, muster_http_response_v1* response) {
  if (request->on_body != nullptr && status >= 200 && status <= 299) {
    for (size_t at = 0; at < body.size(); at += kPiece) {
      const std::string_view piece = std::string_view(body).substr(at, kPiece);
      const int32_t code = request->on_body(request->on_body_ctx, piece.data(), piece.size());
      if (code != MUSTER_OK) return code;
    }
    body.clear();
  }
  auto held = std::make_unique<Held>();
  held->texts = std::move(headers);
  for (const auto& [name, value] : held->texts)
    held->headers.push_back({name.c_str(), value.c_str(), value.size()});
  const size_t size = body.size();
  held->body = std::move(body);
  pad(held->body);
  response->status = status;
  response->body = held->body.data();
  response->body_size = size;
  response->headers = held->headers.data();
  response->header_count = held->headers.size();
  response->ctx = held.release();
  return MUSTER_OK;
}

// Says nothing until the caller gives up.
int32_t stay_silent(const muster_call_v1* call, const Question& question, muster_error* error) {
  for (;;) {
    if (call->is_cancelled(call) != 0 && monotonic_ns() < call->deadline_ns)
      return fail(error, broken(Code::kCancelled, "cancelled", "wait", question));
    if (monotonic_ns() >= call->deadline_ns)
      return fail(error,
                  broken(Code::kDeadlineExceeded, "no answer came in time", "wait", question));
    const timespec rest{0, 5'000'000};
    ::nanosleep(&rest, nullptr);
  }
}

// More than anybody wants to have.
int32_t give_endlessly(const muster_http_request_v1* request, const Question& question,
                       muster_error* error) {
  if (request->on_body != nullptr) {
    const std::string piece(kPiece, ' ');
    for (uint64_t given = 0; given <= request->maximum_body_size; given += kPiece) {
      const int32_t code = request->on_body(request->on_body_ctx, piece.data(), piece.size());
      if (code != MUSTER_OK) return code;
    }
  }
  return fail(error, broken(Code::kResourceExhausted,
                            fmt::format("the answer is larger than the {} bytes it may have",
                                        request->maximum_body_size),
                            "receive", question));
}

int32_t cut_off(const muster_http_request_v1* request, const Question& question,
                const std::string& body, muster_error* error) {
  if (request->on_body != nullptr && body.size() > 1) {
    const int32_t code = request->on_body(request->on_body_ctx, body.data(), body.size() / 2);
    if (code != MUSTER_OK) return code;
  }
  return fail(error,
              broken(Code::kUnavailable, "the connection was closed in the middle of the answer",
                     "receive", question));
}

std::string error_body(int64_t status) {
  return fmt::format(R"({{"error": {{"code": {}, "message": "muster-check says {}"}}}})", status,
                     status);
}

}  // namespace

Servers::Servers(const RecordedResolver* recorded, const Secrets& secrets)
    : recorded_(recorded), secrets_(secrets) {
  the_servers = this;
  if (recorded == nullptr) return;
  taken_.resize(recorded->exchanges.size());
  for (const RecordedExchange& exchange : recorded->exchanges) {
    const Question question{exchange.method, exchange.url, exchange.body};
    if (number_of(question) == questions_.size()) questions_.push_back(question);
  }
}

Servers::~Servers() { the_servers = nullptr; }

const muster_transport_v1* Servers::transport() {
  static const muster_transport_v1 table = {sizeof(muster_transport_v1),
                                            MUSTER_PLUGIN_ABI_MAJOR,
                                            MUSTER_PLUGIN_ABI_MINOR,
                                            &Servers::exchange,
                                            &release,
                                            nullptr};
  return &table;
}

void Servers::begin(std::optional<size_t> question, const Fault* fault, bool hangs) {
  const std::lock_guard lock(mutex_);
  wrong_ = question;
  fault_ = fault;
  hangs_ = hangs;
  taken_.assign(taken_.size(), false);
  requests_ = faults_ = 0;
  last_request_.clear();
}

void Servers::behave() { begin(std::nullopt, nullptr, false); }
void Servers::misbehave(size_t question, const Fault& fault) { begin(question, &fault, false); }
void Servers::hang() { begin(std::nullopt, nullptr, true); }

int Servers::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

int Servers::faults() const {
  const std::lock_guard lock(mutex_);
  return faults_;
}

std::string Servers::last_request() const {
  const std::lock_guard lock(mutex_);
  return last_request_;
}

size_t Servers::number_of(const Question& question) const {
  const auto same = [&](const Question& other) {
    return other.method == question.method && other.url == question.url &&
           other.body == question.body;
  };
  return static_cast<size_t>(std::find_if(questions_.begin(), questions_.end(), same) -
                             questions_.begin());
}

const RecordedExchange* Servers::take(const Question& question) {
  const RecordedExchange* last = nullptr;
  for (size_t i = 0; i < taken_.size(); ++i) {
    const RecordedExchange& exchange = recorded_->exchanges[i];
    if (exchange.method != question.method || exchange.url != question.url ||
        exchange.body != question.body)
      continue;
    last = &exchange;
    if (taken_[i]) continue;
    taken_[i] = true;
    break;
  }
  return last;  // asked more often than recorded: as it was answered last
}

int32_t Servers::exchange(const muster_host_v1* /*host*/, const muster_call_v1* call,
                          const muster_http_request_v1* request, muster_http_response_v1* response,
                          muster_error* error) {
  return guarded(error, [&]() -> int32_t {
    if (the_servers == nullptr)
      return fail(error, {Code::kUnavailable, "there is no server any more", {}});
    return the_servers->answer(call, request, response, error);
  });
}

int32_t Servers::answer(const muster_call_v1* call, const muster_http_request_v1* request,
                        muster_http_response_v1* response, muster_error* error) {
  Question question;
  question.method = request->method;
  question.url = shown_url(std::string_view(request->url, request->url_size), secrets_);
  const std::string_view body =
      request->body == nullptr ? std::string_view() : view_of(request->body, request->body_size);
  question.body = (request->flags & MUSTER_HTTP_SECRET_BODY) != 0 && !body.empty()
                      ? "REDACTED"
                      : secrets_.redact(body);

  const RecordedExchange* recorded = nullptr;
  const Fault* fault = nullptr;
  bool hangs = false;
  {
    const std::lock_guard lock(mutex_);
    ++requests_;
    last_request_ = question.text();
    hangs = hangs_;
    if (wrong_ && number_of(question) == *wrong_) fault = fault_;
    if (hangs || fault != nullptr) ++faults_;
    if (recorded_ != nullptr) recorded = take(question);
  }
  if (hangs) return stay_silent(call, question, error);
  const std::string right = recorded == nullptr ? "" : recorded->response_body;
  if (fault != nullptr) {
    switch (fault->kind) {
      case Fault::Kind::kStatus: {
        RecordedExchange::Headers headers{{"Content-Type", "application/json"}};
        if (fault->status == 429) headers.emplace_back("Retry-After", "1");
        return give(request, fault->status, error_body(fault->status), headers, response);
      }
      case Fault::Kind::kSlow: return stay_silent(call, question, error);
      case Fault::Kind::kCutOff: return cut_off(request, question, right, error);
      case Fault::Kind::kRedirect:
        return give(request, 302, "", {{"Location", "https://login.invalid/?then=back"}}, response);
      case Fault::Kind::kHuge: return give_endlessly(request, question, error);
      case Fault::Kind::kBody:
        return give(request, 200, std::string(fault->body), {{"Content-Type", "text/html"}},
                    response);
      case Fault::Kind::kHalf:
        return give(request, 200, right.substr(0, right.size() / 2), recorded->response_headers,
                    response);
    }
  }
  if (recorded == nullptr && recorded_ == nullptr)
    return fail(error, broken(Code::kUnavailable, "connection refused", "connect", question));
  // Where it was sent on to, or something that the recorded resolve did not have to ask.
  if (recorded == nullptr && question.url.starts_with("https://login.invalid"))
    return give(request, 200, "<html><body>Please log in</body></html>",
                {{"Content-Type", "text/html"}}, response);
  if (recorded == nullptr)
    return give(request, 404, error_body(404), {{"Content-Type", "application/json"}}, response);
  if (recorded->error) {
    if (request->on_body != nullptr && !right.empty())
      request->on_body(request->on_body_ctx, right.data(), right.size());
    return fail(error, *recorded->error);
  }
  return give(request, recorded->status, right, recorded->response_headers, response);
}

}  // namespace muster::check
