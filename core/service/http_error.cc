// The words for a request that got no answer.
#include <fmt/format.h>

#include "core/service/http_secret.h"
#include "core/service/http_send.h"
#include "core/service/retry.h"

namespace muster {
namespace {

// What an exchange was doing in a phase of <muster/transport.h>.
std::string doing(const std::string& phase, const std::string& endpoint) {
  if (phase == "resolve") return fmt::format("looking up the name of '{}'", endpoint);
  if (phase == "connect") return fmt::format("connecting to '{}'", endpoint);
  if (phase == "proxy") return fmt::format("asking the proxy for '{}'", endpoint);
  if (phase == "tls") return fmt::format("agreeing on TLS with '{}'", endpoint);
  if (phase == "send") return fmt::format("sending the request to '{}'", endpoint);
  if (phase == "wait") return fmt::format("waiting for '{}' to answer", endpoint);
  if (phase == "receive") return fmt::format("receiving the answer of '{}'", endpoint);
  return fmt::format("exchanging with '{}'", endpoint);
}

std::string hint_for(Code code, const std::string& phase, const HttpRequest& request,
                     const Proxy& proxy) {
  const std::string host(request.url.address().host());
  const bool timed_out = code == Code::kDeadlineExceeded;
  if (code == Code::kResourceExhausted)
    return "the limit is the backend's own, and no option raises it: ask for less, by a filter, a "
           "selector or a namespace of the backend's options";
  if (code == Code::kCancelled || code == Code::kInternal || code == Code::kInvalidArgument)
    return "";
  if (phase == "proxy" || !proxy.url.empty()) {
    return fmt::format("check the proxy {} of {}, or name '{}' in NO_PROXY", proxy.shown,
                       proxy.source, host);
  }
  if (phase == "resolve")
    return fmt::format(
        "check the name '{}', and that this machine can look it up (getent hosts {})", host, host);
  if (phase == "connect" && timed_out) {
    return "check that the server is up and no firewall is between; if there is a proxy, set "
           "HTTPS_PROXY or HTTP_PROXY";
  }
  if (phase == "connect")
    return "check that the server is up, and that the host and port are right";
  if (phase == "tls" && code == Code::kFailedPrecondition) {
    return "give the certificate authority that signed the server's certificate (a CA file), or "
           "the name that the certificate is for";
  }
  if (phase == "tls") return "check that this port speaks https";
  if (timed_out) return "check that the server is well, or allow more time (--timeout)";
  return "check that the server is well; its log may say more";
}

}  // namespace

Error word_failure(const HttpRequest& request, const Proxy& proxy, const Attempt& last,
                   int attempts, const std::string& earlier, const Secrets& secrets) {
  const std::string phase = last.error.detail("phase");
  const std::string told_endpoint = last.error.detail("endpoint");
  const std::string endpoint = told_endpoint.empty() ? request.url.endpoint() : told_endpoint;

  std::string reason = last.error.message;
  if (last.error.code == Code::kDeadlineExceeded) {
    const std::string waited = duration_text(last.milliseconds * 1'000'000);
    reason = reason.empty() ? fmt::format("the time was over after {}, while {}", waited,
                                          doing(phase, endpoint))
                            : fmt::format("the time was over: {}", reason);
  } else if (last.error.code == Code::kCancelled) {
    if (reason.empty()) reason = fmt::format("cancelled while {}", doing(phase, endpoint));
  } else if (reason.empty()) {
    reason = fmt::format("{} failed", doing(phase, endpoint));
  } else if (!endpoint.empty() && reason.find(endpoint) == std::string::npos && !phase.empty()) {
    reason = fmt::format("{}: {}", doing(phase, endpoint), reason);
  }

  const std::string shown = shown_url(request, secrets);
  std::string message = fmt::format("{} {}: {}", request.method, shown, reason);
  if (!proxy.url.empty())
    message += fmt::format(" (through the proxy {} of {})", proxy.shown, proxy.source);
  if (attempts > 1) message += fmt::format("; tried {} times", attempts);
  if (!earlier.empty() && earlier != last.error.message)
    message += fmt::format("; before that: {}", earlier);

  Error error{last.error.code, secrets.redact(message), {}};
  std::string hint = last.error.detail("hint");
  if (hint.empty()) hint = hint_for(error.code, phase, request, proxy);
  error.details.push_back({"endpoint", endpoint});
  if (!phase.empty()) error.details.push_back({"phase", phase});
  if (attempts > 1) error.details.push_back({"attempts", std::to_string(attempts)});
  for (const Detail& detail : last.error.details) {
    if (detail.key != "phase" && detail.key != "endpoint" && detail.key != "hint" &&
        detail.key != "sent") {
      error.details.push_back({detail.key, secrets.redact(detail.value)});
    }
  }
  if (!hint.empty()) error.details.push_back({"hint", secrets.redact(hint)});
  return error;
}

}  // namespace muster
