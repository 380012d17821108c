// Credential files, token endpoints' answers, API errors and command lines: any bytes give a whole value, or an error without a
// word of them.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "plugins/support/google/api.h"
#include "plugins/support/google/aws_signature.h"
#include "plugins/support/google/subject_token.h"
#include "plugins/support/google/token_host.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace muster::support::google;
  std::string text(reinterpret_cast<const char*>(data), size);
  text.append(64, '\0');
  const std::string_view whole = std::string_view(text).substr(0, size);

  if (const auto file = read_credential_file(whole, "/f")) {
    using Type = CredentialFile::Type;
    if (file->universe.empty()) std::abort();
    if (file->secrets.empty() && file->type != Type::kExternalAccount) std::abort();
    if (file->type == Type::kServiceAccount && file->private_key.empty()) std::abort();
    if (file->type == Type::kImpersonated && (!file->source || file->impersonation_url.empty()))
      std::abort();
  } else if (file.failure().message.empty()) {
    std::abort();
  }
  if (const auto token = read_token(whole, 1000)) {
    if (token->text.empty() || token->text.find_first_of("\r\n ") != std::string::npos)
      std::abort();
    if (token->text != "REDACTED" && token->expires == 0) std::abort();
  }
  read_api_error(whole);
  if (!https_host(whole).empty())
    for (const auto& [name, value] :
         sign_for_aws({"POST", std::string(whole), {}}, {"id", "key", "session"}, "r", "s", 0))
      if (name.empty() || value.empty()) std::abort();
  for (const std::string& word : split_command(whole))
    if (word.size() > size) std::abort();
  // What is sent over plain http never leaves the loopback.
  if (may_have_token("http://" + std::string(whole), "googleapis.com")) {
    const std::string_view host = whole.substr(0, 4);
    if (host != "127." && host != "[::1" && (host.empty() || (host[0] | 0x20) != 'l')) std::abort();
  }
  return 0;
}
