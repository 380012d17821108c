// {"error": {"code", "message", "errors": [{"message", "domain", "reason"}], "status"}}, or with "details" in place of "errors".
#include "google_error.h"

#include "json.h"

namespace muster::sim {
namespace {

const char* status_of(int code) {
  switch (code) {
    case 400: return "INVALID_ARGUMENT";
    case 401: return "UNAUTHENTICATED";
    case 403: return "PERMISSION_DENIED";
    case 404: return "NOT_FOUND";
    case 429: return "RESOURCE_EXHAUSTED";
    case 503: return "UNAVAILABLE";
    default: return "INTERNAL";
  }
}

}  // namespace

Answer google_error(int code, const std::string& reason, const std::string& message) {
  JsonWriter out;
  out.open_object();
  out.key("error");
  out.open_object();
  out.member("code", code);
  out.member("message", message);
  out.key("errors");
  out.open_array();
  out.open_object();
  out.member("message", message);
  out.member("domain", reason.find("imitExceeded") != std::string::npos ? "usageLimits" : "global");
  out.member("reason", reason);
  out.close_object();
  out.close_array();
  out.member("status", status_of(code));
  out.close_object();
  out.close_object();
  Answer answer;
  answer.status = code;
  answer.authorised = code != 401 && code != 403;
  answer.append(out.str());
  return answer;
}

Answer api_error(int code, const std::string& message, const std::string& reason,
                 const std::string& permission) {
  JsonWriter out;
  out.open_object();
  out.key("error");
  out.open_object();
  out.member("code", code);
  out.member("message", message);
  out.member("status", status_of(code));
  if (!reason.empty()) {
    out.key("details");
    out.open_array();
    out.open_object();
    out.member("@type", "type.googleapis.com/google.rpc.ErrorInfo");
    out.member("reason", reason);
    out.member("domain", "googleapis.com");
    if (!permission.empty()) {
      out.key("metadata");
      out.open_object();
      out.member("permission", permission);
      out.close_object();
    }
    out.close_object();
    out.close_array();
  }
  out.close_object();
  out.close_object();
  Answer answer;
  answer.status = code;
  answer.authorised = code != 401 && code != 403;
  answer.append(out.str());
  return answer;
}

Answer plain_api_error(int code, const std::string& message) {
  const auto words = [&](const char* otherwise) {
    return message.empty() ? std::string(otherwise) : message;
  };
  switch (code) {
    case 400: return api_error(code, words("Request contains an invalid argument."));
    case 401: return api_error(code, words("Request had invalid authentication credentials."));
    case 403:
      return api_error(code, words("The caller does not have permission"), "IAM_PERMISSION_DENIED");
    case 404: return api_error(code, words("Requested entity was not found."));
    case 429:
      return api_error(code, words("Quota exceeded for quota metric 'Read requests'"),
                       "RATE_LIMIT_EXCEEDED");
    default: return api_error(code, words("The service is currently unavailable."));
  }
}

Answer plain_google_error(int code, const std::string& message) {
  const bool given = !message.empty();
  switch (code) {
    case 400: return google_error(code, "invalid", given ? message : "Invalid value.");
    case 401: return google_error(code, "authError", given ? message : "Invalid Credentials");
    // The front end's own refusal is what tests want to see waited out.
    case 403:
      return google_error(code, given ? "forbidden" : "rateLimitExceeded",
                          given ? message
                                : "Quota exceeded for quota group 'ReadGroup' and limit 'Read "
                                  "requests per minute'");
    case 404: return google_error(code, "notFound", given ? message : "The resource was not found");
    case 429:
      return google_error(code, "rateLimitExceeded", given ? message : "Rate Limit Exceeded");
    default: break;
  }
  Answer answer;
  answer.status = code;
  answer.content_type = "text/html; charset=UTF-8";
  answer.append("<html><title>Error</title>The server encountered a temporary error.</html>");
  return answer;
}

}  // namespace muster::sim
