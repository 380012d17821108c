// What a credential program prints: any bytes give a whole credential, or an error without a word of them.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "plugins/kubernetes/exec_credential.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace muster::kubernetes;
  std::string text(reinterpret_cast<const char*>(data), size);
  text.append(64, '\0');
  const std::string version = "client.authentication.k8s.io/v1";
  const auto credential = read_exec_credential(std::string_view(text).substr(0, size), version);
  if (!credential) {
    if (credential.failure().message.empty()) std::abort();
    return 0;
  }
  if (credential->token.empty() && credential->certificate_pem.empty()) std::abort();
  if (credential->certificate_pem.empty() != credential->key_pem.empty()) std::abort();
  return 0;
}
