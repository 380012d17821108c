// A whole request: its attempts, its redirects, its error in words.
#pragma once

#include "core/result.h"
#include "core/service/call.h"
#include "core/service/http_exchange.h"
#include "core/service/http_request.h"

namespace muster {

// What send gives back: an answer, or what the plugin's on_body said, which is the plugin's own affair.
struct Sent {
  Attempt attempt;
  int32_t stopped = MUSTER_OK;
};

// Sends until there is an answer to give back. Ends by the call's deadline or cancel. Errors are complete: they name the request and
// the endpoint, have a hint, and no secret.
Result<Sent> send_request(Call& call, const muster_call_v1* raw_call, HttpRequest request);

// The error of a request that got no answer, made from what its last attempt said; `earlier` tells what the attempts before it came to.
Error word_failure(const HttpRequest& request, const Proxy& proxy, const Attempt& last,
                   int attempts, const std::string& earlier, const Secrets& secrets);

}  // namespace muster
