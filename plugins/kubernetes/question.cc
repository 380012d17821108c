#include "plugins/kubernetes/question.h"

#include <fmt/format.h>

#include "plugins/kubernetes/pod_list.h"
#include "plugins/kubernetes/refusal.h"

namespace muster::kubernetes {
namespace {

constexpr uint64_t kMaximum = uint64_t{64} << 20;

}  // namespace

sdk::Failure question_refusal(const Access& access, const Question& question,
                              const sdk::Response& response) {
  if (response.status() != 404)
    return refusal(access,
                   {question.what, "the name of " + question.what, question.pointer, question.verb,
                    question.resource},
                   response);
  // Without such a resource the server says nothing of a name.
  const std::string message = read_status(response.body()).message;
  const bool unknown =
      message.empty() || message.find("could not find the requested resource") != std::string::npos;
  return sdk::Failure{
      MUSTER_E_NOT_FOUND,
      unknown
          ? fmt::format("there is no {}: this cluster does not know such objects ({}, server {})",
                        question.what, access.origin, access.server)
          : fmt::format("there is no {} {} ({}, server {})", question.what, place_of(access),
                        access.origin, access.server),
      {{"http_status", "404"}, {"endpoint", access.server}, {"hint", question.look}}};
}

sdk::Result<sdk::Response> ask_server(const Access& access, const Question& question,
                                      sdk::Call& call) {
  if (call.cancelled())
    return sdk::Failure{
        MUSTER_E_CANCELLED, fmt::format("asking for {} was cancelled", question.what), {}};
  call.progress(question.what);
  const std::string url = access.server + question.path;
  const std::string purpose = fmt::format("read {}", question.what);
  Get get(url, "application/json", purpose);
  get.request.maximum_body_size = kMaximum;
  auto response = access.send(get.request, call);
  if (!response) return std::move(response).failure().with("endpoint", access.server);
  if (response->status() != 200) return question_refusal(access, question, *response);
  return response;
}

}  // namespace muster::kubernetes
