// One attempt: over the network, or out of a recording.
#pragma once

#include <muster/transport.h>

#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/service/call.h"
#include "core/service/http_request.h"
#include "core/service/proxy.h"

namespace muster {

// What came of one attempt.
struct Attempt {
  // The answer. Its texts live as long as `owner`.
  int64_t status = 0;  // 0: none
  std::string_view body;
  const muster_http_header_v1* headers = nullptr;
  uint64_t header_count = 0;
  std::shared_ptr<void> owner;

  Error error;  // when there is no answer: code, message, and the details of <muster/transport.h>
  int64_t milliseconds = 0;
  uint64_t bytes = 0;           // of the body, streamed or not
  bool handed_over = false;     // a piece of the body has reached the plugin
  int32_t stopped = MUSTER_OK;  // what the plugin's on_body ended the exchange with

  bool answered() const { return status != 0; }
  std::string_view header(std::string_view name) const;
};

// Makes attempt number `number` of this request, by `deadline_ns`. In a replay nothing but the recording is asked; when recording, it is added.
Attempt attempt_exchange(Call& call, const muster_call_v1* raw_call, const HttpRequest& request,
                         const Proxy& proxy, int64_t deadline_ns, int number);

// The key under which a request stands in a recording.
struct ExchangeKey {
  std::string url;
  std::string body;
};
ExchangeKey exchange_key(const HttpRequest& request, const Secrets& secrets);

}  // namespace muster
