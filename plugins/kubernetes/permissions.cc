#include "plugins/kubernetes/permissions.h"

#include <fmt/format.h>

namespace muster::kubernetes {
namespace {

constexpr std::string_view kServiceAccount = "system:serviceaccount:";
constexpr std::string_view kNobody = "NAME-OF-THE-USER";

// A text of YAML in double quotes, which a shell's here-document does not end.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + '"';
}

std::string subject(const Principal& who) {
  if (who.kind == "ServiceAccount")
    return fmt::format("{{kind: ServiceAccount, namespace: {}, name: {}}}",
                       in_quotes(who.name_space), in_quotes(who.name));
  return fmt::format("{{kind: {}, apiGroup: rbac.authorization.k8s.io, name: {}}}", who.kind,
                     in_quotes(who.name));
}

// RBAC's names may hold all but these two.
std::string as_name(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c == '/' || c == '%') c = '-';
  return out;
}

// "muster-get-jobs.batch-list-pods"
std::string role_name(const std::vector<Permission>& permissions) {
  std::string out = "muster";
  for (const Permission& one : permissions) {
    out += fmt::format("-{}-{}", fmt::join(one.verbs, "-"), one.resource);
    if (!one.group.empty()) out += "." + one.group;
  }
  return out;
}

std::string rules(const std::vector<Permission>& permissions) {
  std::string out;
  for (const Permission& one : permissions)
    out += fmt::format("- {{apiGroups: [{}], resources: [{}], verbs: [{}]}}\n",
                       in_quotes(one.group), one.resource, fmt::join(one.verbs, ", "));
  return out;
}

}  // namespace

std::vector<Permission> needed_permissions(const Options& options, bool watching) {
  const Finder* finder = options.finder;
  std::vector<Permission> needed;
  if (!options.service.empty()) {
    needed.push_back({"discovery.k8s.io", "endpointslices", {"list"}});
  } else {
    if (finder != nullptr) needed.push_back({finder->group, finder->resource, {"get"}});
    needed.push_back({"", "pods", {"list"}});
  }
  if (watching)
    for (Permission& one : needed) one.verbs.emplace_back("watch");
  if (finder != nullptr && finder->maker != nullptr)
    needed.push_back({finder->maker->group, finder->maker->resource, {"get"}});
  return needed;
}

std::string refused_user(std::string_view words) {
  constexpr std::string_view kBefore = "User \"";
  constexpr std::string_view kBehind = "\" cannot ";
  const size_t before = words.find(kBefore);
  if (before == std::string_view::npos) return {};
  words.remove_prefix(before + kBefore.size());
  const size_t behind = words.find(kBehind);
  if (behind == std::string_view::npos) return {};
  // The server writes the name as Go quotes it.
  std::string name;
  for (size_t at = 0; at < behind; ++at) {
    if (words[at] == '\\' && at + 1 < behind) ++at;
    name += words[at];
  }
  return name;
}

std::vector<std::string> rules_in_words(const std::vector<Permission>& needed) {
  std::vector<std::string> out;
  for (const Permission& one : needed)
    for (const std::string& verb : one.verbs)
      out.push_back(
          fmt::format("{} {}{}{}", verb, one.resource, one.group.empty() ? "" : ".", one.group));
  return out;
}

Principal principal_of_user(const std::string& user) {
  if (user.substr(0, kServiceAccount.size()) == kServiceAccount) {
    const std::string account = user.substr(kServiceAccount.size());
    const size_t colon = account.find(':');
    if (colon != std::string::npos)
      return {"ServiceAccount", account.substr(0, colon), account.substr(colon + 1)};
  }
  return {"User", "", user};
}

std::string role_manifest(const std::vector<Permission>& permissions, const Principal& who,
                          const std::string& name_space) {
  const std::string role = role_name(permissions);
  const std::string binding = fmt::format(
      "{}-{}{}", role,
      who.kind == "ServiceAccount" ? fmt::format("{}{}:", kServiceAccount, as_name(who.name_space))
                                   : std::string(),
      as_name(who.name));
  const std::string_view scope = name_space.empty() ? "Cluster" : "";
  const auto metadata = [&](std::string_view name) {
    return name_space.empty()
               ? fmt::format("{{name: {}}}", in_quotes(name))
               : fmt::format("{{name: {}, namespace: {}}}", in_quotes(name), in_quotes(name_space));
  };
  return fmt::format(
      "apiVersion: rbac.authorization.k8s.io/v1\n"
      "kind: {}Role\n"
      "metadata: {}\n"
      "rules:\n"
      "{}"
      "---\n"
      "apiVersion: rbac.authorization.k8s.io/v1\n"
      "kind: {}RoleBinding\n"
      "metadata: {}\n"
      "roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: {}Role, name: {}}}\n"
      "subjects:\n"
      "- {}\n",
      scope, metadata(role), rules(permissions), scope, metadata(binding), scope, in_quotes(role),
      subject(who));
}

std::string how_to_permit(const std::vector<Permission>& permissions, const std::string& user,
                          const std::string& name_space) {
  const std::string who = user.empty() ? std::string(kNobody) : user;
  return fmt::format(
      "{}an administrator of the cluster allows it with\n"
      "kubectl apply -f - <<'END'\n"
      "{}END",
      user.empty() ? fmt::format("with the user's name for {}, ", kNobody) : "",
      role_manifest(permissions, principal_of_user(who), name_space));
}

}  // namespace muster::kubernetes
