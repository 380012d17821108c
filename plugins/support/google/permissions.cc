#include "plugins/support/google/permissions.h"

#include <fmt/format.h>

#include <string_view>

#include "plugins/support/text.h"

namespace muster::support::google {
namespace {

constexpr std::string_view kNobody = ":EMAIL";  // ends a member that is not known

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// As IAM writes it: "serviceAccount:x@p.iam.gserviceaccount.com". An address alone is told by its end.
std::string member_of(std::string_view principal) {
  if (principal.find(':') != std::string_view::npos) return std::string(principal);
  return fmt::format(
      "{}:{}", ends_with(principal, ".gserviceaccount.com") ? "serviceAccount" : "user", principal);
}

// One word for a shell, whatever is in it.
std::string shell_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

sdk::Status say_permissions(const std::vector<std::string>& permissions, const char* role,
                            const std::string& given, Credentials& credentials,
                            const sdk::PermissionsRequest& request, sdk::Call& call) {
  const std::string_view wanted = request.principal;
  if (!wanted.empty() && (wanted.find_first_of("@:") == std::string_view::npos ||
                          wanted.find_first_of(" \t\n") != std::string_view::npos))
    return sdk::Failure{MUSTER_E_INVALID_ARGUMENT,
                        fmt::format("{} is nobody whom Google Cloud can allow something: it is no "
                                    "serviceAccount:EMAIL, user:EMAIL, group:EMAIL or EMAIL",
                                    quote(wanted)),
                        {}};
  if (auto found = credentials.find(call, false); !found && wanted.empty()) return found;
  const std::string member = wanted.empty() ? credentials.member() : member_of(wanted);
  const std::string project = !given.empty() ? given : credentials.project();
  if (project.empty())
    return sdk::Failure{MUSTER_E_INVALID_ARGUMENT,
                        "nothing says the project: not the option, not the environment, not the "
                        "credentials",
                        {{"option", ""}, {"hint", "-O project=..."}}};
  // Nobody knows who it is: the text has a free place then.
  const bool known = !ends_with(member, kNobody);
  const size_t colon = member.find(':');
  const std::string scope = "project " + project;
  for (const std::string& rule : permissions)
    call.add_permission({known ? std::string_view(member).substr(0, colon) : "",
                         known ? std::string_view(member).substr(colon + 1) : "", scope, rule});
  call.set_grant("sh", fmt::format("gcloud projects add-iam-policy-binding {} --member={} "
                                   "--role={}\n",
                                   shell_word(project), shell_word(member), role));
  return {};
}

}  // namespace muster::support::google
