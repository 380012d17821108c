#include "plugins/kubernetes/permissions.h"

#include <fmt/format.h>

namespace muster::kubernetes {
namespace {

constexpr std::string_view kServiceAccount = "system:serviceaccount:";
constexpr std::string_view kNobody = "NAME-OF-THE-USER";

// A text of YAML in double quotes, which a shell's here-document does not end.
std::string quoted(std::string_view text) {
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

std::string subject(std::string_view user) {
  if (user.substr(0, kServiceAccount.size()) == kServiceAccount) {
    const std::string_view account = user.substr(kServiceAccount.size());
    const size_t colon = account.find(':');
    if (colon != std::string_view::npos)
      return fmt::format("{{kind: ServiceAccount, namespace: {}, name: {}}}",
                         quoted(account.substr(0, colon)), quoted(account.substr(colon + 1)));
  }
  return fmt::format("{{kind: User, apiGroup: rbac.authorization.k8s.io, name: {}}}", quoted(user));
}

// RBAC's names may hold all but these two.
std::string as_name(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c == '/' || c == '%') c = '-';
  return out;
}

}  // namespace

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

std::string how_to_permit(const Permission& permission, const std::string& user,
                          const std::string& name_space) {
  const std::string_view who = user.empty() ? kNobody : std::string_view(user);
  std::string verbs = permission.verb;
  for (size_t at; (at = verbs.find(", ")) != std::string::npos;) verbs.replace(at, 2, "-");
  const std::string role = fmt::format("muster-{}-{}", verbs, permission.resource);
  const std::string_view scope = name_space.empty() ? "Cluster" : "";
  const auto metadata = [&](std::string_view name) {
    return name_space.empty()
               ? fmt::format("{{name: {}}}", quoted(name))
               : fmt::format("{{name: {}, namespace: {}}}", quoted(name), quoted(name_space));
  };
  return fmt::format(
      "{}an administrator of the cluster allows it with\n"
      "kubectl apply -f - <<'END'\n"
      "apiVersion: rbac.authorization.k8s.io/v1\n"
      "kind: {}Role\n"
      "metadata: {}\n"
      "rules:\n"
      "- {{apiGroups: [{}], resources: [{}], verbs: [{}]}}\n"
      "---\n"
      "apiVersion: rbac.authorization.k8s.io/v1\n"
      "kind: {}RoleBinding\n"
      "metadata: {}\n"
      "roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: {}Role, name: {}}}\n"
      "subjects:\n"
      "- {}\n"
      "END",
      user.empty() ? fmt::format("with the user's name for {}, ", kNobody) : "", scope,
      metadata(role), quoted(permission.group), permission.resource, permission.verb, scope,
      metadata(fmt::format("{}-{}", role, as_name(who))), scope, quoted(role), subject(who));
}

}  // namespace muster::kubernetes
