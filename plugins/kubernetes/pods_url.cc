#include "plugins/kubernetes/pods_url.h"

#include <fmt/format.h>

#include "plugins/kubernetes/refusal.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {

using support::percent_encoded;
using support::quote;

std::string pods_url(const Access& access, const Selector& selector) {
  std::string out = access.server + "/api/v1/";
  if (!access.name_space.empty()) out += "namespaces/" + percent_encoded(access.name_space) + "/";
  return out + "pods?labelSelector=" + percent_encoded(selector.text);
}

sdk::Failure pods_refusal(const Access& access, const Selector& selector, std::string_view verb,
                          const sdk::Response& response) {
  const auto failure = [&](int32_t code, const std::string& message) {
    return sdk::Failure{
        code,
        message,
        {{"http_status", std::to_string(response.status())}, {"endpoint", access.server}}};
  };
  if (response.status() == 404)
    return failure(MUSTER_E_NOT_FOUND,
                   fmt::format("there is no Kubernetes API at {} ({}): {}", access.server,
                               access.origin, server_words(response)));
  if (response.status() == 410)
    return failure(MUSTER_E_UNAVAILABLE,
                   fmt::format("the list of the pods {} {} grew too old before its last page, "
                               "again and again: {}",
                               quote(selector.text), place_of(access), server_words(response)))
        .with("hint", "a larger page_size needs fewer pages");
  return refusal(access,
                 {"a list of pods", "the label selector " + quote(selector.text), selector.pointer,
                  std::string(verb), "pods"},
                 response);
}

}  // namespace muster::kubernetes
