#include "plugins/support/google/place.h"

#include <fmt/format.h>

#include "plugins/support/google/metadata.h"

namespace muster::support::google {
namespace {

// What the metadata server knows. `not_said_by`: who else was looked at.
sdk::Result<std::string> own(const char* path, const char* option, const char* not_said_by,
                             const sdk::Call& call) {
  const std::string hint = fmt::format("-O {}=...", option);
  if (!Metadata::expected(call))
    return sdk::Failure{
        MUSTER_E_INVALID_ARGUMENT,
        fmt::format("nothing says the {}: not the option, not the {}, and this is no machine of "
                    "Google Cloud",
                    option, not_said_by),
        {{"option", ""}, {"hint", hint}}};
  auto said = Metadata::get(path, fmt::format("this machine's {}", option).c_str(), call);
  if (!said) return std::move(said).failure().with("hint", hint);
  if (!*said || (*said)->empty())
    return sdk::Failure{MUSTER_E_INVALID_ARGUMENT,
                        fmt::format("the metadata server does not know the {}", option),
                        {{"option", ""}, {"hint", hint}}};
  return std::string(last_segment(**said));
}

}  // namespace

sdk::Result<std::string> find_project(const std::string& given, const Credentials& credentials,
                                      const sdk::Call& call) {
  if (!given.empty()) return given;
  if (!credentials.project().empty()) return credentials.project();
  return own("project/project-id", "project", "environment, not the credentials", call);
}

sdk::Result<std::string> own_zone(const char* other, const sdk::Call& call) {
  return own("instance/zone", "zone", other, call);
}

std::string_view last_segment(std::string_view url) {
  const size_t slash = url.rfind('/');
  return slash == std::string_view::npos ? url : url.substr(slash + 1);
}

}  // namespace muster::support::google
