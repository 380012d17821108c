// One attempt: over the network, or out of a recording.
#include "core/service/http_exchange.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/service/call_strings.h"
#include "core/service/host.h"
#include "core/service/http_library.h"
#include "core/service/http_secret.h"
#include "core/service/recording.h"
#include "core/service/services.h"
#include "core/service/text.h"

namespace muster {
namespace {

constexpr size_t kPiece = 64 * 1024;
constexpr const char* kRedacted = "REDACTED";
const std::array<char, kPadding> kEmptyBody{};

// Stands between the transport and the plugin's on_body.
struct Stream {
  const HttpRequest* request = nullptr;
  std::string* copy = nullptr;     // of what is recorded
  muster_call_v1* call = nullptr;  // as the transport sees it
  int64_t last_deadline_ns = 0;    // of the plugin's call
  uint64_t bytes = 0;
  int32_t stopped = MUSTER_OK;
  bool too_large = false;

  static int32_t take(void* ctx, const char* data, uint64_t size) {
    return guarded(nullptr, [&]() -> int32_t {
      auto& stream = *static_cast<Stream*>(ctx);
      if (stream.stopped != MUSTER_OK) return stream.stopped;
      stream.bytes += size;
      if (stream.bytes > stream.request->maximum_body_size) {
        stream.too_large = true;
        return MUSTER_E_RESOURCE_EXHAUSTED;
      }
      if (stream.copy != nullptr) stream.copy->append(data, size);
      stream.stopped = stream.request->raw.on_body(stream.request->raw.on_body_ctx, data, size);
      const int64_t idle_ns = stream.request->raw.idle_timeout_ns;
      if (idle_ns > 0)
        stream.call->deadline_ns = std::min(stream.last_deadline_ns, monotonic_ns() + idle_ns);
      return stream.stopped;
    });
  }
};

Error too_large(const HttpRequest& request) {
  return {
      Code::kResourceExhausted,
      fmt::format("the answer is larger than the {} bytes it may have", request.maximum_body_size),
      {{"phase", "receive"}, {"endpoint", request.url.endpoint()}, {"sent", "1"}}};
}

// A response of the transport, freed by it.
struct Held {
  muster_http_response_v1 response{};
  void (*release)(muster_http_response_v1*) = nullptr;
  Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (release != nullptr) release(&response);
  }
};

Attempt over_network(Call& call, const muster_call_v1* raw_call, const HttpRequest& request,
                     const Proxy& proxy, int64_t deadline_ns, std::string* copy) {
  Attempt attempt;
  if (call.http() == nullptr) {
    attempt.error = {Code::kInternal, "the core gave this call no HTTP library", {}};
    return attempt;
  }
  Result<const muster_transport_v1*> transport = call.http()->transport(call.session());
  if (!transport) {
    attempt.error = std::move(transport).error();
    return attempt;
  }

  muster_call_v1 bounded = *raw_call;
  bounded.deadline_ns = deadline_ns;
  Stream stream;
  stream.request = &request;
  stream.copy = copy;
  stream.call = &bounded;
  stream.last_deadline_ns = call.deadline_ns();
  muster_http_request_v1 hop = request.raw;
  hop.struct_size = sizeof(hop);
  hop.method = request.method.c_str();
  hop.url = request.url.text().c_str();
  hop.url_size = request.url.text().size();
  hop.headers = request.headers.data();
  hop.header_count = request.headers.size();
  hop.body = request.body.data();
  hop.body_size = request.body.size();
  hop.maximum_body_size = request.maximum_body_size;
  hop.proxy_url = proxy.url.empty() ? nullptr : proxy.url.c_str();
  if (request.raw.on_body != nullptr) {
    hop.on_body = Stream::take;
    hop.on_body_ctx = &stream;
  }

  const auto held = std::make_shared<Held>();
  held->response.struct_size = sizeof(held->response);
  const Host host("http", call.path(), "{}", call.session().shared_log(),
                  call.session().shared_secrets(), nullptr);
  muster_error error;
  const int64_t start = monotonic_ns();
  const int32_t code =
      (*transport)->exchange(host.table(), &bounded, &hop, &held->response, &error);
  attempt.milliseconds = (monotonic_ns() - start) / 1'000'000;
  attempt.bytes = stream.bytes;
  attempt.handed_over = stream.bytes > 0;
  attempt.stopped = stream.stopped;
  if (code == MUSTER_OK) held->release = (*transport)->release;

  if (stream.too_large ||
      (code == MUSTER_OK && held->response.body_size > request.maximum_body_size)) {
    attempt.error = too_large(request);
  } else if (code != MUSTER_OK) {
    attempt.error = std::move(error.error);
    const bool known = code > MUSTER_OK && code <= MUSTER_E_UNAUTHENTICATED;
    attempt.error.code = known ? static_cast<Code>(code) : Code::kUnknown;
    // A stream that fell silent is a broken one.
    if (code == MUSTER_E_DEADLINE_EXCEEDED && attempt.handed_over &&
        monotonic_ns() < call.deadline_ns())
      attempt.error.code = Code::kUnavailable;
  } else if (held->response.status < 100 || held->response.status > 999) {
    attempt.error = {Code::kInternal,
                     fmt::format("the transport gave the status {}", held->response.status),
                     {}};
  } else {
    attempt.status = held->response.status;
    attempt.headers = held->response.headers;
    attempt.header_count = held->response.headers == nullptr ? 0 : held->response.header_count;
    attempt.body = held->response.body == nullptr
                       ? std::string_view(kEmptyBody.data(), 0)
                       : std::string_view(held->response.body, held->response.body_size);
    attempt.bytes = std::max<uint64_t>(attempt.bytes, attempt.body.size());
    attempt.owner = held;
  }
  return attempt;
}

// A recorded answer in the form of a response.
struct Replayed {
  RecordedExchange exchange;
  std::string body;  // with the zeros behind it
  std::vector<muster_http_header_v1> headers;
};

Attempt out_of_recording(Call& call, const HttpRequest& request, const ExchangeKey& key) {
  Attempt attempt;
  Result<RecordedExchange> found =
      call.session().recording()->exchange(call.path(), request.method, key.url, key.body);
  if (!found) {
    attempt.error = std::move(found).error();
    return attempt;
  }
  attempt.milliseconds = found->milliseconds;
  call.skip(found->milliseconds * 1'000'000);
  const auto replayed = std::make_shared<Replayed>();
  replayed->exchange = std::move(found).value();
  const RecordedExchange& exchange = replayed->exchange;

  // What was streamed before an error was streamed too.
  const bool streamed = request.raw.on_body != nullptr &&
                        (exchange.error || (exchange.status >= 200 && exchange.status <= 299));
  if (streamed) {
    Stream stream;
    stream.request = &request;
    for (size_t at = 0;
         at < exchange.response_body.size() && stream.stopped == MUSTER_OK && !stream.too_large;
         at += kPiece) {
      const std::string_view piece = std::string_view(exchange.response_body).substr(at, kPiece);
      Stream::take(&stream, piece.data(), piece.size());
    }
    attempt.bytes = stream.bytes;
    attempt.handed_over = stream.bytes > 0;
    attempt.stopped = stream.stopped;
    if (stream.too_large) {
      attempt.error = too_large(request);
      return attempt;
    }
    if (stream.stopped != MUSTER_OK) return attempt;
  }
  if (exchange.error) {
    attempt.error = *exchange.error;
    return attempt;
  }
  if (!streamed) {
    if (exchange.response_body.size() > request.maximum_body_size) {
      attempt.error = too_large(request);
      return attempt;
    }
    replayed->body = std::move(replayed->exchange.response_body);
  }
  attempt.bytes = exchange.bytes;
  pad(replayed->body);
  for (const auto& [name, value] : exchange.response_headers) {
    replayed->headers.push_back({name.c_str(), value.c_str(), value.size()});
  }
  attempt.status = exchange.status;
  attempt.body = replayed->body;
  attempt.headers = replayed->headers.data();
  attempt.header_count = replayed->headers.size();
  attempt.owner = replayed;
  return attempt;
}

// A recording is for people to read: where the server is offered a choice, protobuf is left out of it. `accept` keeps the
// header's new value.
void ask_for_text(HttpRequest& request, std::string& accept) {
  for (muster_http_header_v1& header : request.headers) {
    if (!equal_without_case(header.name, "Accept")) continue;
    for (std::string_view rest(header.value, header.value_size); !rest.empty();) {
      const std::string_view type = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), type.size() + 1));
      if (type.find("protobuf") != std::string_view::npos) continue;
      accept.append(accept.empty() ? "" : ",").append(type);
    }
    if (accept.empty()) return;
    header.value = accept.data();
    header.value_size = accept.size();
    return;
  }
}

void record(Call& call, const HttpRequest& request, const ExchangeKey& key, const Attempt& attempt,
            int number, std::string streamed) {
  RecordedExchange exchange;
  exchange.method = request.method;
  exchange.url = key.url;
  exchange.body = key.body;
  exchange.attempt = number;
  for (const muster_http_header_v1& header : request.headers) {
    exchange.headers.emplace_back(header.name, is_secret_header(header.name)
                                                   ? std::string(kRedacted)
                                                   : std::string(header.value, header.value_size));
  }
  exchange.milliseconds = attempt.milliseconds;
  const bool secret = request.has(MUSTER_HTTP_SECRET_BODY);
  const std::string body = !streamed.empty() ? std::move(streamed) : std::string(attempt.body);
  exchange.bytes = body.size();
  exchange.response_body = secret && !body.empty() ? kRedacted : body;
  if (attempt.answered()) {
    exchange.status = attempt.status;
    for (uint64_t i = 0; i < attempt.header_count; ++i) {
      const muster_http_header_v1& header = attempt.headers[i];
      if (auto value = kept_header(request, header.name, view_of(header.value, header.value_size)))
        exchange.response_headers.emplace_back(header.name, *std::move(value));
    }
  } else if (attempt.stopped != MUSTER_OK) {
    exchange.status = 200;  // only a 2xx is handed over, and the plugin ends it again
  } else {
    exchange.error = attempt.error;
  }
  call.session().recording()->add_exchange(call.path(), std::move(exchange));
}

}  // namespace

std::string_view Attempt::header(std::string_view name) const {
  for (uint64_t i = 0; i < header_count; ++i) {
    if (equal_without_case(headers[i].name, name))
      return view_of(headers[i].value, headers[i].value_size);
  }
  return {};
}

ExchangeKey exchange_key(const HttpRequest& request, const Secrets& secrets) {
  ExchangeKey key;
  key.url = shown_url(request, secrets);
  key.body = request.has(MUSTER_HTTP_SECRET_BODY) && !request.body.empty()
                 ? std::string(kRedacted)
                 : secrets.redact(request.body);
  return key;
}

Attempt attempt_exchange(Call& call, const muster_call_v1* raw_call, const HttpRequest& request,
                         const Proxy& proxy, int64_t deadline_ns, int number) {
  const Session::Mode mode = call.session().mode();
  if (mode == Session::Mode::kLive ||
      (mode == Session::Mode::kReplay && !call.session().replays_exchanges()))
    return over_network(call, raw_call, request, proxy, deadline_ns, nullptr);
  const ExchangeKey key = exchange_key(request, call.session().secrets());
  if (mode == Session::Mode::kReplay) return out_of_recording(call, request, key);
  HttpRequest legible = request;
  std::string accept;
  ask_for_text(legible, accept);
  std::string streamed;
  Attempt attempt = over_network(call, raw_call, legible, proxy, deadline_ns, &streamed);
  record(call, legible, key, attempt, number, std::move(streamed));
  return attempt;
}

}  // namespace muster
