#include "plugins/kubernetes/question.h"

#include <fmt/format.h>

#include "plugins/kubernetes/pod_list.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::quote;

constexpr uint64_t kMaximum = uint64_t{64} << 20;

sdk::Failure failure_of(const Access& access, const Question& question,
                        const sdk::Response& response) {
  const int64_t status = response.status();
  const ApiStatus said = read_status(response.body());
  const std::string_view body = support::trimmed(response.body());
  const std::string words = !said.message.empty() ? quote(said.message, 500)
                            : body.empty()        ? "nothing more"
                                                  : quote(body, 200);
  const std::string user = access.user.empty() ? "" : access.user + " ";
  const auto failure = [&](int32_t code, const std::string& message) {
    return sdk::Failure{
        code, message, {{"http_status", std::to_string(status)}, {"endpoint", access.server}}};
  };
  switch (status) {
    case 400:
    case 422:
      return failure(MUSTER_E_INVALID_ARGUMENT,
                     fmt::format("the API server does not take the name of {}: {}", question.what,
                                 words))
          .with("option", question.pointer);
    case 401:
      return failure(MUSTER_E_UNAUTHENTICATED,
                     fmt::format("the API server {} refuses the credentials {}({}): {}",
                                 access.server, user, access.origin, words))
          .with("hint", "the token or certificate may have expired; does kubectl get pods work?");
    case 403:
      return failure(
                 MUSTER_E_PERMISSION_DENIED,
                 fmt::format("the credentials {}({}) may not {} {}.{} in namespace {}: {}", user,
                             access.origin, question.needed.verb, question.needed.resource,
                             question.needed.group, quote(access.name_space), words))
          .with("hint",
                how_to_permit(question.needed, refused_user(said.message), access.name_space));
    case 404:
      // Without such a resource the server says nothing of a name.
      if (said.message.empty() ||
          said.message.find("could not find the requested resource") != std::string::npos)
        return failure(
                   MUSTER_E_NOT_FOUND,
                   fmt::format(
                       "there is no {}: this cluster does not know such objects ({}, server {})",
                       question.what, access.origin, access.server))
            .with("hint", question.look);
      return failure(MUSTER_E_NOT_FOUND,
                     fmt::format("there is no {} in namespace {} ({}, server {})", question.what,
                                 quote(access.name_space), access.origin, access.server))
          .with("hint", question.look);
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
  return failure(status >= 500 ? MUSTER_E_UNAVAILABLE : MUSTER_E_UNKNOWN,
                 fmt::format("the API server {} answers {} when asked for {}: {}", access.server,
                             status, question.what, words));
}

}  // namespace

sdk::Result<sdk::Response> ask_server(const Access& access, const Question& question,
                                      sdk::Call& call) {
  if (call.cancelled())
    return sdk::Failure{
        MUSTER_E_CANCELLED, fmt::format("asking for {} was cancelled", question.what), {}};
  call.progress(question.what);
  constexpr std::string_view kJson = "application/json";
  const muster_http_header_v1 accept = {"Accept", kJson.data(), kJson.size()};
  const std::string url = access.server + question.path;
  const std::string purpose = fmt::format("read {}", question.what);
  muster_http_request_v1 request = {};
  request.struct_size = sizeof request;
  request.method = "GET";
  request.url = url.data();
  request.url_size = url.size();
  request.headers = &accept;
  request.header_count = 1;
  request.maximum_body_size = kMaximum;
  request.purpose = purpose.c_str();
  auto response = access.send(request, call);
  if (!response) return std::move(response).failure().with("endpoint", access.server);
  if (response->status() != 200) return failure_of(access, question, *response);
  return response;
}

}  // namespace muster::kubernetes
