// muster.http/1 and muster.http.streams/1 over the frames.
#include <muster/http_streams.h>

#include "core/isolate/child/remote_host.h"
#include "core/service/http_request.h"
#include "core/service/services.h"
#include "core/service/text.h"

namespace muster::isolate {
namespace {

using frames::v1::Answer;
using frames::v1::Frame;

// A text that ends with NUL, or an absent one. False when it is no UTF-8.
bool put_text(const char* text, std::string* out) {
  const std::string_view view = view_of(text, MUSTER_NUL_TERMINATED);
  out->assign(view);
  return is_utf8(view);
}

// The request as a frame has it, once it was found to be right by the core's own rules.
Status put_request(const muster_http_request_v1* request, frames::v1::HttpRequest& out) {
  const Result<HttpRequest> read = HttpRequest::read(request);
  if (!read) return read.error();
  const muster_http_request_v1& raw = read->raw;
  out.set_flags(raw.flags);
  out.set_method(read->method);
  bool texts = put_text(raw.tls_server_name, out.mutable_tls_server_name()) &&
               put_text(raw.proxy_url, out.mutable_proxy_url());
  const std::string_view url = view_of(raw.url, raw.url_size);
  out.mutable_url()->assign(url);
  texts = texts && is_utf8(url);
  for (const muster_http_header_v1& header : read->headers) {
    frames::v1::Header& added = *out.add_headers();
    added.set_name(header.name);
    added.set_value(header.value, header.value_size);
  }
  if (!texts) return Error{Code::kInvalidArgument, "a text of the request is not valid UTF-8", {}};
  out.mutable_body()->assign(read->body);
  out.set_maximum_body_size(raw.maximum_body_size);
  out.set_purpose(read->purpose);
  out.mutable_ca_pem()->assign(view_of(raw.ca_pem, raw.ca_pem_size));
  out.mutable_client_certificate_pem()->assign(
      view_of(raw.client_certificate_pem, raw.client_certificate_pem_size));
  out.mutable_client_key_pem()->assign(view_of(raw.client_key_pem, raw.client_key_pem_size));
  out.set_timeout_ns(raw.timeout_ns);
  out.set_idle_timeout_ns(raw.idle_timeout_ns);
  out.set_streamed(raw.on_body != nullptr);
  return {};
}

bool sized(const muster_http_response_v1* response) {
  return response != nullptr && response->struct_size >= sizeof(muster_http_response_v1);
}

// An exception of the plugin's must not leave through the frames that are under way.
int32_t take_piece(const RemoteHost::Stream& stream, const frames::v1::Piece& piece) {
  if (stream.on_body == nullptr) return MUSTER_E_INTERNAL;
  return stream.on_body(stream.ctx, piece.data().data(), piece.data().size());
}

int32_t send(const muster_call_v1* call, const muster_http_request_v1* request,
             muster_http_response_v1* response, muster_error* error) {
  return guarded(error, [&]() -> int32_t {
    if (call == nullptr)
      return fail(error, {Code::kInvalidArgument, "send was called without a call", {}});
    if (!sized(response))
      return fail(
          error,
          {Code::kInvalidArgument, "the response is NULL or its struct_size is not set", {}});
    Frame frame;
    if (Status put = put_request(request, *frame.mutable_send_http()->mutable_request()); !put)
      return fail(error, std::move(put).error());
    RemoteHost::Stream stream;
    if (frame.send_http().request().streamed()) stream = {request->on_body, request->on_body_ctx};
    Answer answer = RemoteHost::the().link().ask(
        frame, [&](const frames::v1::Piece& piece) { return take_piece(stream, piece); });
    if (answer.code() != MUSTER_OK) return give_answer(answer, error);
    RemoteHost::the().hand(answer, response);
    return MUSTER_OK;
  });
}

void release(const muster_call_v1* call, muster_http_response_v1* response) {
  if (call == nullptr || !sized(response)) return;
  RemoteHost::the().release(response->ctx);
  const uint64_t size = response->struct_size;
  *response = {};
  response->struct_size = size;
}

int32_t begin(const muster_call_v1* call, const muster_http_request_v1* request, uint64_t* number,
              muster_error* error) {
  return guarded(error, [&]() -> int32_t {
    if (call == nullptr || number == nullptr)
      return fail(error,
                  {Code::kInvalidArgument, "begin was called without a call or a number", {}});
    Frame frame;
    if (Status put = put_request(request, *frame.mutable_begin_http()->mutable_request()); !put)
      return fail(error, std::move(put).error());
    const bool streamed = frame.begin_http().request().streamed();
    const Answer answer = RemoteHost::the().link().ask(frame);
    if (answer.code() != MUSTER_OK) return give_answer(answer, error);
    *number = static_cast<uint64_t>(answer.number());
    if (streamed) RemoteHost::the().streams()[*number] = {request->on_body, request->on_body_ctx};
    return MUSTER_OK;
  });
}

int32_t next(const muster_call_v1* call, int64_t timeout_ns, uint64_t* number,
             muster_http_response_v1* response, const char** words, muster_error* error) {
  return guarded(error, [&]() -> int32_t {
    if (call == nullptr || number == nullptr || !sized(response))
      return fail(error, {Code::kInvalidArgument,
                          "next was called without a call, a number or a sized response",
                          {}});
    RemoteHost& remote = RemoteHost::the();
    *number = 0;
    if (words != nullptr) *words = "";
    Frame frame;
    frame.mutable_next_http()->set_timeout_ns(timeout_ns);
    Answer answer = remote.link().ask(frame, [&](const frames::v1::Piece& piece) {
      return take_piece(remote.streams()[piece.stream()], piece);
    });
    *number = static_cast<uint64_t>(answer.number());
    if (*number == 0) return answer.code();
    remote.streams().erase(*number);
    if (answer.code() != MUSTER_OK) {
      remote.words() = answer.message();
      if (words != nullptr) *words = remote.words().c_str();
      return give_answer(answer, error);
    }
    remote.hand(answer, response);
    return MUSTER_OK;
  });
}

void end(const muster_call_v1* call, uint64_t number) {
  if (call == nullptr) return;
  guarded(nullptr, [&]() -> int32_t {
    RemoteHost::the().streams().erase(number);
    Frame frame;
    frame.mutable_end_http()->set_number(number);
    RemoteHost::the().link().gather(frame);
    return MUSTER_OK;
  });
}

}  // namespace

const muster_http_v1* remote_http_table() {
  static const muster_http_v1 table = {sizeof table, send, http_table()->get_header, release};
  return &table;
}

const muster_http_streams_v1* remote_http_streams_table() {
  static const muster_http_streams_v1 table = {sizeof table, begin, next, end};
  return &table;
}

}  // namespace muster::isolate
