// libmuster-http.so: the table of <muster/transport.h>, and its edge: what comes in is copied by its size,
// no exception goes out.
#include <muster/transport.h>

#include <cstring>
#include <exception>
#include <new>

#include "plugins/http/exchange.h"
#include "plugins/http/name_servers.h"
#include "plugins/http/pool.h"
#include "plugins/http/words.h"

namespace {

using namespace muster::http;

// What a response points at until it is released.
struct Held {
  Head head;
  Buffer body;
  std::vector<muster_http_header_v1> headers;
};

// The part of a sized struct that the other side knows; zero elsewhere.
template <typename T>
T known_part(const T *given) {
  T result{};
  std::memcpy(&result, given, std::min<uint64_t>(given->struct_size, sizeof result));
  return result;
}

template <typename T>
void give_known_part(T *place, const T &value) {
  const uint64_t size = place->struct_size;
  std::memcpy(place, &value, std::min<uint64_t>(size, sizeof value));
  place->struct_size = size;
}

int32_t tell(const muster_host_v1 *host, muster_error *error, const Failure &failed,
             const std::string &endpoint, bool sent) {
  host->set_error(error, failed.code, failed.message.data(), failed.message.size());
  if (failed.phase != Phase::none)
    host->add_detail(error, "phase", phase_name(failed.phase), MUSTER_NUL_TERMINATED);
  if (!endpoint.empty()) host->add_detail(error, "endpoint", endpoint.data(), endpoint.size());
  if (!failed.hint.empty()) host->add_detail(error, "hint", failed.hint.data(), failed.hint.size());
  host->add_detail(error, "sent", sent ? "1" : "0", 1);
  return failed.code;
}

// What was undone is not said any more: a body that is not gzip with a header that says so misleads.
void forget_gzip(Head &head) {
  if (!head.gzip || head.framing == Framing::none) return;
  std::erase_if(head.headers, [](const auto &header) {
    return equal_ignoring_case(header.first, "Content-Encoding") ||
           equal_ignoring_case(header.first, "Content-Length");
  });
}

void fill(muster_http_response_v1 *response, Head head, Buffer body) {
  auto held = std::make_unique<Held>();
  held->head = std::move(head);
  held->body = std::move(body);
  forget_gzip(held->head);
  held->headers.reserve(held->head.headers.size());
  for (const auto &[name, value] : held->head.headers)
    held->headers.push_back({name.c_str(), value.c_str(), value.size()});

  muster_http_response_v1 filled{};
  filled.status = held->head.status;
  filled.body = held->body.data();
  filled.body_size = held->body.size();
  filled.headers = held->headers.data();
  filled.header_count = held->headers.size();
  filled.ctx = held.release();
  give_known_part(response, filled);
}

int32_t run(const muster_host_v1 *host, const muster_call_v1 *call,
            const muster_http_request_v1 *given, muster_http_response_v1 *response,
            muster_error *error) {
  Request request;
  if (Failed failed = read_request(known_part(given), request))
    return tell(host, error, *failed, "", false);
  request.name_servers = given_name_servers(host);
  Body body;
  Outcome outcome = exchange(request, call, body);
  if (outcome.failed) return tell(host, error, *outcome.failed, outcome.endpoint, outcome.sent);
  fill(response, std::move(outcome.head), std::move(body.buffer()));
  return MUSTER_OK;
}

int32_t do_exchange(const muster_host_v1 *host, const muster_call_v1 *call,
                    const muster_http_request_v1 *request, muster_http_response_v1 *response,
                    muster_error *error) {
  try {
    return run(host, call, request, response, error);
  } catch (const std::bad_alloc &) {
    return host->set_error(error, MUSTER_E_RESOURCE_EXHAUSTED,
                           "out of memory in the HTTP transport", MUSTER_NUL_TERMINATED);
  } catch (const std::exception &) {
    // Its text may quote the request.
    return host->set_error(error, MUSTER_E_INTERNAL, "a library of the HTTP transport failed",
                           MUSTER_NUL_TERMINATED);
  } catch (...) {
    return host->set_error(error, MUSTER_E_INTERNAL, "a library of the HTTP transport failed",
                           MUSTER_NUL_TERMINATED);
  }
}

void release(muster_http_response_v1 *response) {
  if (!response) return;
  delete static_cast<Held *>(response->ctx);
  give_known_part(response, muster_http_response_v1{});
}

void close_idle() {
  try {
    close_kept();
  } catch (...) {  // a mutex that cannot be locked; nothing to be done about it
  }
}

constexpr muster_transport_v1 kTransport{
    .struct_size = sizeof(muster_transport_v1),
    .abi_major = MUSTER_PLUGIN_ABI_MAJOR,
    .abi_minor = MUSTER_PLUGIN_ABI_MINOR,
    .exchange = do_exchange,
    .release = release,
    .close_idle = close_idle,
};

}  // namespace

const muster_transport_v1 *muster_service_entry_v1(const muster_host_v1 *host) {
  if (!host) return nullptr;
  if (host->abi_major != MUSTER_PLUGIN_ABI_MAJOR) {
    static constexpr char kWhy[] =
        "libmuster-http.so speaks ABI 1, this core another: install the two of one release";
    host->log(host, MUSTER_LOG_ERROR, kWhy, sizeof kWhy - 1);
    return nullptr;
  }
  return &kTransport;
}
