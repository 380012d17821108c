#include "plugins/kubernetes/pods_url.h"

#include <fmt/format.h>

#include "plugins/kubernetes/permissions.h"
#include "plugins/kubernetes/pod_list.h"
#include "plugins/kubernetes/pod_list_protobuf.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::percent_encoded;
using support::quote;

ApiStatus status_of(const sdk::Response& response) {
  return response.body().starts_with(kProtobufMagic) ? read_protobuf_status(response.body())
                                                     : read_status(response.body());
}

// What the server said, in one line; the body itself where it is short and no Status.
std::string said(const sdk::Response& response) {
  const ApiStatus status = status_of(response);
  if (!status.message.empty()) return quote(status.message, 500);
  const std::string_view text = support::trimmed(response.body());
  return text.empty() ? "nothing more" : quote(text, 200);
}

}  // namespace

std::string pods_place(const Access& access, const Options& options) {
  return options.all_namespaces ? "in all namespaces" : "in namespace " + quote(access.name_space);
}

std::string pods_url(const Access& access, const Options& options, const Selector& selector) {
  std::string out = access.server + "/api/v1/";
  if (!options.all_namespaces) out += "namespaces/" + percent_encoded(access.name_space) + "/";
  return out + "pods?labelSelector=" + percent_encoded(selector.text);
}

sdk::Failure pods_refusal(const Access& access, const Options& options, const Selector& selector,
                          std::string_view verb, const sdk::Response& response) {
  const int64_t status = response.status();
  const std::string words = said(response);
  const auto failure = [&](int32_t code, const std::string& message) {
    return sdk::Failure{
        code, message, {{"http_status", std::to_string(status)}, {"endpoint", access.server}}};
  };
  switch (status) {
    case 400:
    case 422:
      return failure(MUSTER_E_INVALID_ARGUMENT,
                     fmt::format("the API server does not take the label selector {}: {}",
                                 quote(selector.text), words))
          .with("option", selector.pointer);
    case 401:
      return failure(
                 MUSTER_E_UNAUTHENTICATED,
                 fmt::format("the API server {} refuses the credentials {}({}): {}", access.server,
                             access.user.empty() ? "" : access.user + " ", access.origin, words))
          .with("hint",
                access.anonymous()
                    ? "no credentials were sent: the user entry has none"
                    : "the token or certificate may have expired; does kubectl get pods work?");
    case 403:
      return failure(MUSTER_E_PERMISSION_DENIED,
                     fmt::format("the credentials {}({}) may not {} pods {}: {}",
                                 access.user.empty() ? "" : access.user + " ", access.origin, verb,
                                 pods_place(access, options), words))
          .with("hint", how_to_permit({"", "pods", verb == "list" ? "list" : "list, watch"},
                                      refused_user(status_of(response).message),
                                      options.all_namespaces ? "" : access.name_space));
    case 404:
      return failure(MUSTER_E_NOT_FOUND, fmt::format("there is no Kubernetes API at {} ({}): {}",
                                                     access.server, access.origin, words));
    case 429: {
      auto out =
          failure(MUSTER_E_RESOURCE_EXHAUSTED,
                  fmt::format("the API server {} has too much to do: {}", access.server, words));
      if (const auto after = response.header("Retry-After"))
        if (const auto seconds = support::parse_digits(*after, 86400))
          out.details.emplace_back("retry_after_ms", std::to_string(*seconds * 1000));
      return out;
    }
    case 410:
      return failure(MUSTER_E_UNAVAILABLE,
                     fmt::format("the list of the pods {} {} grew too old before its last page, "
                                 "again and again: {}",
                                 quote(selector.text), pods_place(access, options), words))
          .with("hint", "a larger page_size needs fewer pages");
    default: break;
  }
  if (status >= 500)
    return failure(MUSTER_E_UNAVAILABLE,
                   fmt::format("the API server {} answers {}: {}", access.server, status, words));
  return failure(MUSTER_E_UNKNOWN, fmt::format("the API server {} answers {} to a list of pods: {}",
                                               access.server, status, words));
}

}  // namespace muster::kubernetes
