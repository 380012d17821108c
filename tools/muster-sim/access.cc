// Who asks, and what they may do.
#include "access.h"

#include <algorithm>

#include <fmt/format.h>

namespace muster::sim {
namespace {

constexpr std::string_view kAnonymous = "system:anonymous";

bool covers(const std::vector<std::string>& list, const std::string& word) {
  return list.empty() || std::find(list.begin(), list.end(), word) != list.end();
}

bool forbids(const ForbidRule& rule, const std::string& user, const Wish& wish) {
  const bool cluster_wide = wish.name_space.empty();
  if (rule.scope == "cluster" && !cluster_wide) return false;
  if (rule.scope == "namespace" && cluster_wide) return false;
  if (!rule.namespaces.empty() && cluster_wide) return false;
  return covers(rule.verbs, wish.verb) && covers(rule.resources, wish.resource) &&
         covers(rule.users, user) && covers(rule.namespaces, wish.name_space);
}

}  // namespace

std::optional<std::string> authenticate(const Kubernetes& world, const Call& call, bool with_tls) {
  constexpr std::string_view kBearer = "Bearer ";
  if (!call.authorization.empty()) {
    // A bad token is refused even beside a good certificate.
    std::string_view token = call.authorization;
    if (!token.starts_with(kBearer)) return std::nullopt;
    token.remove_prefix(kBearer.size());
    for (const auto& user : world.users) {
      if (!user.token.empty() && user.token == token) return user.name;
    }
    return std::nullopt;
  }
  if (!call.certificate_user.empty()) return call.certificate_user;
  const auto anonymous = world.anonymous.value_or(with_tls ? Anonymous::kDeny : Anonymous::kAllow);
  if (anonymous == Anonymous::kDeny) return std::nullopt;
  return std::string(kAnonymous);
}

std::optional<Status> authorise(const Kubernetes& world, const std::string& user,
                                const Wish& wish) {
  const bool nobody = user == kAnonymous && world.anonymous == Anonymous::kForbid;
  const bool refused =
      nobody || std::any_of(world.forbid.begin(), world.forbid.end(),
                            [&](const ForbidRule& rule) { return forbids(rule, user, wish); });
  if (!refused) return std::nullopt;
  Status status;
  status.code = 403;
  status.reason = "Forbidden";
  status.name = wish.name;
  status.kind = wish.resource;
  const auto what =
      wish.name.empty() ? wish.resource : fmt::format("{} \"{}\"", wish.resource, wish.name);
  const auto where = wish.name_space.empty()
                         ? std::string("at the cluster scope")
                         : fmt::format("in the namespace \"{}\"", wish.name_space);
  status.message =
      fmt::format("{} is forbidden: User \"{}\" cannot {} resource \"{}\" in API group \"\" {}",
                  what, user, wish.verb, wish.resource, where);
  return status;
}

}  // namespace muster::sim
