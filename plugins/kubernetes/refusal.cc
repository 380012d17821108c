#include "plugins/kubernetes/refusal.h"

#include <fmt/format.h>

#include "plugins/kubernetes/permissions.h"
#include "plugins/kubernetes/pod_list.h"
#include "plugins/kubernetes/pod_list_protobuf.h"
#include "plugins/support/http_status.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::quote;

ApiStatus status_of(const sdk::Response& response) {
  return response.body().starts_with(kProtobufMagic) ? read_protobuf_status(response.body())
                                                     : read_status(response.body());
}

}  // namespace

std::string server_words(const sdk::Response& response) {
  const ApiStatus status = status_of(response);
  if (!status.message.empty()) return quote(status.message, 500);
  const std::string_view text = support::trimmed(response.body());
  return text.empty() ? "nothing more" : quote(text, 200);
}

std::string place_of(const Access& access) {
  return access.name_space.empty() ? "in all namespaces"
                                   : "in namespace " + quote(access.name_space);
}

sdk::Failure refusal(const Access& access, const Asked& asked, const sdk::Response& response) {
  const int64_t status = response.status();
  const std::string words = server_words(response);
  const std::string user = access.user.empty() ? "" : access.user + " ";
  const auto failure = [&](int32_t code, const std::string& message) {
    return sdk::Failure{
        code, message, {{"http_status", std::to_string(status)}, {"endpoint", access.server}}};
  };
  switch (status) {
    case 400:
    case 422:
      return failure(MUSTER_E_INVALID_ARGUMENT,
                     fmt::format("the API server does not take {}: {}", asked.doubtful, words))
          .with("option", asked.pointer);
    case 401:
      return failure(MUSTER_E_UNAUTHENTICATED,
                     fmt::format("the API server {} refuses the credentials {}({}): {}",
                                 access.server, user, access.origin, words))
          .with("hint",
                access.anonymous()
                    ? "no credentials were sent: the user entry has none"
                    : "the token or certificate may have expired; does kubectl get pods work?");
    case 403:
      return failure(MUSTER_E_PERMISSION_DENIED,
                     fmt::format("the credentials {}({}) may not {} {} {}: {}", user, access.origin,
                                 asked.verb, asked.resource, place_of(access), words))
          .with("hint", how_to_permit(access.needed, refused_user(status_of(response).message),
                                      access.name_space));
    case 429: {
      auto out =
          failure(MUSTER_E_RESOURCE_EXHAUSTED,
                  fmt::format("the API server {} has too much to do: {}", access.server, words));
      if (const auto after = response.header("Retry-After"))
        if (const auto seconds = support::parse_digits(*after, 86400))
          out.details.emplace_back("retry_after_ms", std::to_string(*seconds * 1000));
      return out;
    }
    default: break;
  }
  return failure(support::code_of_status(status),
                 fmt::format("the API server {} answers {} when asked for {}: {}", access.server,
                             status, asked.what, words));
}

}  // namespace muster::kubernetes
