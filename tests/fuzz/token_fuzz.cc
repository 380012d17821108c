// A service account's token: any bytes name a pod and a user, or nobody, in texts that may be shown.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "plugins/kubernetes/token.h"
#include "plugins/support/base64.h"
#include "plugins/support/text.h"

namespace {

void look_at(const std::string& token) {
  using namespace muster::kubernetes;
  const OwnPod pod = pod_of_token(token);
  for (const std::string& text : {pod.name_space, pod.name, pod.uid, user_of_token(token)})
    if (!text.empty() && !muster::support::is_text(text)) std::abort();
}

}  // namespace

// Once as the token, once as its claims, for the fuzzer does not guess base64.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  look_at(text);
  std::string claims = muster::support::base64_encode(text);
  for (char& c : claims) c = c == '+' ? '-' : c == '/' ? '_' : c;
  while (!claims.empty() && claims.back() == '=') claims.pop_back();
  look_at("e30." + claims + ".c2ln");
  return 0;
}
