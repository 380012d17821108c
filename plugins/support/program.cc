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
