// muster.http.streams/1: the edge between plugins and the exchanges that go on beside one another.
#include <muster/http_streams.h>

#include "core/service/http_request.h"
#include "core/service/http_streams.h"
#include "core/service/services.h"

namespace muster {
namespace {

int32_t begin(const muster_call_v1* call, const muster_http_request_v1* request, uint64_t* number,
              muster_error* error) {
  return guarded(error, [&]() -> int32_t {
    Call* known = Call::check(call);
    if (known == nullptr || number == nullptr)
      return fail(error,
                  {Code::kInvalidArgument, "begin was called without a call or a number", {}});
    Result<HttpRequest> read = HttpRequest::read(request);
    if (!read) {
      Error reason = std::move(read).error();
      reason.message = known->session().secrets().redact(reason.message);
      return fail(error, std::move(reason));
    }
    Result<uint64_t> begun = known->streams().begin(*read);
    if (!begun) return fail(error, std::move(begun).error());
    *number = *begun;
    return MUSTER_OK;
  });
}

int32_t next(const muster_call_v1* call, int64_t timeout_ns, uint64_t* number,
             muster_http_response_v1* response, const char** words, muster_error* error) {
  return guarded(error, [&]() -> int32_t {
    Call* known = Call::check(call);
    if (known == nullptr || number == nullptr || response == nullptr ||
        response->struct_size < sizeof(muster_http_response_v1))
      return fail(error, {Code::kInvalidArgument,
                          "next was called without a call, a number or a sized response",
                          {}});
    *number = 0;
    if (words != nullptr) *words = "";
    HttpStreams::Told told = known->streams().next(timeout_ns);
    if (told.ended == 0) return told.code;
    *number = told.ended;
    Result<Sent>& sent = *told.sent;
    if (!sent) {
      if (words != nullptr) *words = known->streams().keep(sent.error().message);
      return fail(error, std::move(sent).error());
    }
    // The plugin ended it, and has said why where it wanted to.
    if (sent->stopped != MUSTER_OK) return sent->stopped;
    const auto owner = std::make_shared<std::shared_ptr<void>>(sent->attempt.owner);
    response->status = sent->attempt.status;
    response->body = sent->attempt.body.data();
    response->body_size = sent->attempt.body.size();
    response->headers = sent->attempt.headers;
    response->header_count = sent->attempt.header_count;
    response->ctx = owner.get();
    known->own(owner);
    return MUSTER_OK;
  });
}

void end(const muster_call_v1* call, uint64_t number) {
  guarded(nullptr, [&]() -> int32_t {
    if (Call* known = Call::check(call)) known->streams().end(number);
    return MUSTER_OK;
  });
}

}  // namespace

const muster_http_streams_v1* http_streams_table() {
  static const muster_http_streams_v1 table = {sizeof(muster_http_streams_v1), begin, next, end};
  return &table;
}

}  // namespace muster
