#include "plugins/kubernetes/token.h"

#include <simdjson.h>

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

#include "plugins/support/base64.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

// The texts of the claims by their JSON pointers; "" for what is not there.
std::vector<std::string> claims_of_token(std::string_view token,
                                         std::initializer_list<const char*> pointers) {
  std::vector<std::string> out(pointers.size());
  const size_t first = token.find('.');
  if (first == std::string_view::npos) return out;
  const size_t second = token.find('.', first + 1);
  if (second == std::string_view::npos) return out;
  std::string claims(token.substr(first + 1, second - first - 1));
  std::replace(claims.begin(), claims.end(), '-', '+');  // the alphabet of URLs
  std::replace(claims.begin(), claims.end(), '_', '/');
  const auto json = support::base64_decode(claims);
  if (!json) return out;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(*json).get(root)) return out;
  for (size_t n = 0; n < out.size(); ++n) {
    std::string_view value;
    if (!root.at_pointer(pointers.begin()[n]).get_string().get(value) && support::is_text(value))
      out[n] = value;
  }
  return out;
}

}  // namespace

OwnPod pod_of_token(std::string_view token) {
  auto claims = claims_of_token(
      token, {"/kubernetes.io/namespace", "/kubernetes.io/pod/name", "/kubernetes.io/pod/uid"});
  return {std::move(claims[0]), std::move(claims[1]), std::move(claims[2])};
}

std::string user_of_token(std::string_view token) { return claims_of_token(token, {"/sub"})[0]; }

}  // namespace muster::kubernetes
