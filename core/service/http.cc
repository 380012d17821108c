// muster.http/1: the edge between plugins and the requests of the core.
#include <muster/http.h>

#include <cstring>

#include "core/service/http_request.h"
#include "core/service/http_send.h"
#include "core/service/services.h"
#include "core/service/text.h"

namespace muster {
namespace {

// What a response that was handed out keeps alive. Owned by the call.
struct Handed {
  std::shared_ptr<void> owner;
};

int32_t send(const muster_call_v1* call, const muster_http_request_v1* request,
             muster_http_response_v1* response, muster_error* error) {
  return guarded(error, [&]() -> int32_t {
    Call* known = Call::check(call);
    if (known == nullptr)
      return fail(error, {Code::kInvalidArgument, "send was called without a call", {}});
    if (response == nullptr || response->struct_size < sizeof(muster_http_response_v1)) {
      return fail(
          error,
          {Code::kInvalidArgument, "the response is NULL or its struct_size is not set", {}});
    }
    Result<HttpRequest> read = HttpRequest::read(request);
    if (!read) {
      Error reason = std::move(read).error();
      reason.message = known->session().secrets().redact(reason.message);
      return fail(error, std::move(reason));
    }

    Result<Sent> sent = send_request(*known, call, std::move(read).value());
    if (!sent) return fail(error, std::move(sent).error());
    // The plugin ended it, and has said why where it wanted to.
    if (sent->stopped != MUSTER_OK) return sent->stopped;

    const auto handed = std::make_shared<Handed>();
    const Attempt& attempt = sent->attempt;
    handed->owner = attempt.owner;
    response->status = attempt.status;
    response->body = attempt.body.data();
    response->body_size = attempt.body.size();
    response->headers = attempt.headers;
    response->header_count = attempt.header_count;
    response->ctx = handed.get();
    known->own(handed);
    return MUSTER_OK;
  });
}

int32_t get_header(const muster_http_response_v1* response, const char* name, const char** value,
                   uint64_t* value_size) {
  if (response == nullptr || name == nullptr || value == nullptr ||
      response->struct_size < sizeof(muster_http_response_v1)) {
    return MUSTER_E_INVALID_ARGUMENT;
  }
  for (uint64_t i = 0; response->headers != nullptr && i < response->header_count; ++i) {
    const muster_http_header_v1& header = response->headers[i];
    if (!equal_without_case(header.name, name)) continue;
    *value = header.value;
    if (value_size != nullptr) *value_size = header.value_size;
    return MUSTER_OK;
  }
  return MUSTER_E_NOT_FOUND;
}

void release(const muster_call_v1* call, muster_http_response_v1* response) {
  guarded(nullptr, [&]() -> int32_t {
    Call* known = Call::check(call);
    if (known == nullptr || response == nullptr ||
        response->struct_size < sizeof(muster_http_response_v1)) {
      return MUSTER_E_INVALID_ARGUMENT;
    }
    // Of a response that is none of this call's nothing is freed.
    known->disown(response->ctx);
    const uint64_t size = response->struct_size;
    *response = {};
    response->struct_size = size;
    return MUSTER_OK;
  });
}

}  // namespace

const muster_http_v1* http_table() {
  static const muster_http_v1 table = {sizeof(muster_http_v1), send, get_header, release};
  return &table;
}

}  // namespace muster
