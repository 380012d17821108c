#include "plugins/support/program.h"

#include <algorithm>

#include "plugins/support/text.h"

namespace muster::support {
namespace {

constexpr size_t kShown = 1000;

}  // namespace

std::string said_behind(std::string_view error_output) {
  std::string_view said = trimmed(error_output);
  if (said.empty()) return "";
  if (said.size() > kShown) said = said.substr(said.size() - kShown);
  while (!said.empty() && (said[0] & 0xC0) == 0x80) said.remove_prefix(1);
  return ": " + std::string(said);
}

bool names_secret(std::string name) {
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const char* place : {"file", "path", "dir"})
    if (name.ends_with(place)) return false;
  for (const char* word :
       {"token", "secret", "passw", "passphrase", "credential", "key", "authorization", "bearer"})
    if (name.find(word) != std::string::npos) return true;
  return false;
}

std::vector<std::string> secret_arguments(const std::vector<std::string>& arguments) {
  std::vector<std::string> out;
  bool next = false;
  for (const std::string& word : arguments) {
    const size_t equals = word.find('=');
    const bool flag = word.starts_with('-');
    if (next && !flag) out.push_back(word);
    const bool secret = flag && names_secret(word.substr(0, equals));
    if (secret && equals != std::string::npos) out.push_back(word.substr(equals + 1));
    next = secret && equals == std::string::npos;
  }
  return out;
}

void hide_said(std::string_view error_output, const sdk::Call& call) {
  call.mark_secret(error_output);
  // Where the core has put that for a secret that it knows, the recording has the secret, and the pieces around it.
  constexpr std::string_view kRedacted = "REDACTED";
  for (size_t at = 0;
       error_output.find(kRedacted) != std::string_view::npos && at < error_output.size();) {
    const size_t end = std::min(error_output.find(kRedacted, at), error_output.size());
    call.mark_secret(error_output.substr(at, end - at));
    at = end + kRedacted.size();
  }
}

}  // namespace muster::support
