// Status objects: how the API server says that something failed.
#include "status.h"

#include <fmt/format.h>

#include "json.h"

namespace muster::sim {

Answer Status::answer() const {
  JsonWriter out;
  out.open_object();
  out.member("kind", "Status");
  out.member("apiVersion", "v1");
  out.key("metadata");
  out.open_object();
  out.member_unless_empty("continue", fresh_continue);
  out.close_object();
  out.member("status", "Failure");
  out.member("message", message);
  out.member_unless_empty("reason", reason);
  if (!name.empty() || !group.empty() || !kind.empty() || !causes.empty() || retry_after) {
    out.key("details");
    out.open_object();
    out.member_unless_empty("name", name);
    out.member_unless_empty("group", group);
    out.member_unless_empty("kind", kind);
    if (!causes.empty()) {
      out.key("causes");
      out.open_array();
      for (const auto& [cause, text] : causes) {
        out.open_object();
        out.member("reason", cause);
        out.member("message", text);
        out.close_object();
      }
      out.close_array();
    }
    if (retry_after) out.member("retryAfterSeconds", *retry_after);
    out.close_object();
  }
  out.member("code", code);
  out.close_object();

  Answer answer;
  answer.status = code;
  if (retry_after) answer.headers.emplace_back("Retry-After", std::to_string(*retry_after));
  answer.append(out.str() + "\n");
  return answer;
}

Answer plain_status(int code, std::string_view message, std::optional<std::int64_t> retry_after,
                    std::string_view fresh_continue) {
  struct Known {
    int code;
    const char* reason;
    const char* message;
  };
  static constexpr Known kKnown[] = {
      {400, "BadRequest", "the server rejected our request for an unknown reason"},
      {401, "Unauthorized", "Unauthorized"},
      {403, "Forbidden", "forbidden"},
      {404, "NotFound", "the server could not find the requested resource"},
      {405, "MethodNotAllowed", "the server does not allow this method on the requested resource"},
      {406, "NotAcceptable", "only the following media types are accepted: application/json"},
      {409, "Conflict", "the server reported a conflict"},
      {410, "Expired",
       "The provided continue parameter is too old to display a consistent list result. You can "
       "start a new list "
       "without the continue parameter, or use the continue token in this response to retrieve the "
       "remainder of the "
       "results. Continuing with the provided token results in an inconsistent list - objects that "
       "were created, "
       "modified, or deleted between the time the first chunk was returned and now may show up in "
       "the list."},
      {422, "Invalid", "the server rejected our request due to an error in our request"},
      {500, "InternalError", "Internal error occurred: the scenario says so"},
      {503, "ServiceUnavailable", "the server is currently unable to handle the request"},
      {504, "Timeout", "the server was unable to return a response in the time allotted"},
  };
  if (code == 429 && message.empty()) {
    Answer answer;
    answer.status = code;
    answer.content_type = "text/plain; charset=utf-8";
    answer.headers.emplace_back("Retry-After", std::to_string(retry_after.value_or(1)));
    answer.append("Too many requests, please try again later.\n");
    return answer;
  }
  Status status;
  status.code = code;
  status.message = fmt::format("the scenario answers {}", code);
  for (const auto& known : kKnown) {
    if (known.code != code) continue;
    status.reason = known.reason;
    status.message = known.message;
  }
  if (code == 429) status.reason = "TooManyRequests";
  if (!message.empty()) status.message = message;
  status.retry_after = retry_after;
  status.fresh_continue = fresh_continue;
  return status.answer();
}

}  // namespace muster::sim
