#include "plugins/support/program.h"

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

}  // namespace muster::support
