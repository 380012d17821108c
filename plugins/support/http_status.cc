#include "plugins/support/http_status.h"

#include <muster/plugin.h>

namespace muster::support {

int32_t code_of_status(int64_t status) {
  switch (status) {
    case 400:
    case 422: return MUSTER_E_INVALID_ARGUMENT;
    case 401: return MUSTER_E_UNAUTHENTICATED;
    case 403: return MUSTER_E_PERMISSION_DENIED;
    case 404:
    case 410: return MUSTER_E_NOT_FOUND;
    case 408:
    case 425: return MUSTER_E_UNAVAILABLE;
    case 429: return MUSTER_E_RESOURCE_EXHAUSTED;
    default: break;
  }
  // What is left of 4xx is of the way there (a proxy, a method, a length, a law), and not of who asks or what for. All else, also a
  // success that is not the one asked for, is a server that does not serve now.
  return status >= 400 && status < 500 ? MUSTER_E_FAILED_PRECONDITION : MUSTER_E_UNAVAILABLE;
}

std::string_view status_in_words(int64_t status) {
  switch (status) {
    case 400:
    case 422: return "the question is not taken";
    case 401: return "the credentials are refused";
    case 402: return "payment is required";
    case 403: return "it is not permitted";
    case 404: return "there is no such thing";
    case 405: return "the method is not allowed";
    case 407: return "a proxy wants a login";
    case 408: return "the request took too long";
    case 410: return "it is gone";
    case 413:
    case 414:
    case 431: return "the request is too long";
    case 429: return "there are too many requests";
    case 451: return "it is withheld for legal reasons";
    default: break;
  }
  if (status >= 500) return "the server fails";
  if (status >= 400) return "the request cannot be served";
  if (status >= 300) return "it leads elsewhere";
  return "that is not the answer to this request";
}

}  // namespace muster::support
