#include "plugins/kubernetes/grant.h"

#include <fmt/format.h>

#include "plugins/kubernetes/access.h"
#include "plugins/kubernetes/permissions.h"
#include "plugins/kubernetes/token.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::quote;

constexpr const char* kAnyAccount = "NAME-OF-THE-SERVICE-ACCOUNT";
constexpr const char* kAnyNamespace = "ITS-NAMESPACE";

sdk::Failure wrong_principal(std::string_view text, std::string_view why) {
  return {MUSTER_E_INVALID_ARGUMENT,
          fmt::format("{} {}: a service account is NAME or NAMESPACE:NAME, of lower-case letters, "
                      "digits, '-' and '.'; others are user:NAME and group:NAME",
                      quote(text, 300), why),
          {}};
}

// A name of Kubernetes: RFC 1123.
bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 253 &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string_view::npos;
}

// As kubectl writes them. The namespace of an account that says none is "".
sdk::Result<Principal> parse_principal(std::string_view text) {
  if (text.starts_with("user:") && text.size() > 5)
    return Principal{"User", "", std::string(text.substr(5))};
  if (text.starts_with("group:") && text.size() > 6)
    return Principal{"Group", "", std::string(text.substr(6))};
  const size_t colon = text.find(':');
  const bool alone = colon == std::string_view::npos;
  Principal who = principal_of_user(std::string(text));
  if (who.kind != "ServiceAccount")
    who = {"ServiceAccount", std::string(alone ? "" : text.substr(0, colon)),
           std::string(alone ? text : text.substr(colon + 1))};
  if (is_name(who.name) && (alone || is_name(who.name_space))) return who;
  return wrong_principal(text, "is nobody whom Kubernetes can allow something");
}

sdk::Result<Where> where_for(const Options& options, const Principal& who, sdk::Call& call) {
  const bool said = options.name_space || options.all_namespaces;
  // Whoever runs as this account is in its namespace, and looks there unless something says another.
  if (!said && !who.name_space.empty() && options.location != Location::kOffCluster &&
      !options.kubeconfig && !options.context)
    return Where{who.name_space, false};
  auto found = find_where(options, call);
  if (found) return found;
  if (said) return Where{options.name_space.value_or(""), false};
  return std::move(found).failure().with(
      "hint", "the option 'namespace' says where, and so does a principal NAMESPACE:NAME");
}

}  // namespace

sdk::Status say_permissions(const Options& options, const sdk::PermissionsRequest& request,
                            sdk::Call& call) {
  Principal who;
  if (!request.principal.empty()) {
    auto parsed = parse_principal(request.principal);
    if (!parsed) return std::move(parsed).failure();
    who = *std::move(parsed);
  }
  const auto where = where_for(options, who, call);
  if (!where) return where.failure();
  if (who.name.empty() && where->within_cluster)
    if (const std::string user = user_of_token(own_token(call)); !user.empty())
      who = principal_of_user(user);
  if (who.kind == "ServiceAccount" && who.name_space.empty()) {
    if (where->name_space.empty())
      return wrong_principal(request.principal, "says no namespace, and the options mean all");
    who.name_space = where->name_space;
  }

  const std::vector<Permission> needed = needed_permissions(options, request.watch);
  const std::string principal =
      who.kind == "ServiceAccount" ? fmt::format("{}:{}", who.name_space, who.name) : who.name;
  const std::string scope =
      where->name_space.empty() ? "all namespaces" : "namespace " + where->name_space;
  for (const std::string& rule : rules_in_words(needed))
    call.add_permission({who.kind, principal, scope, rule});

  std::string text = "---\n";
  if (who.name.empty()) {
    who = {"ServiceAccount", where->name_space.empty() ? kAnyNamespace : where->name_space,
           kAnyAccount};
    text =
        fmt::format("# Nobody said who is to be allowed: put {}in place of {} below.\n---\n",
                    where->name_space.empty() ? "a service account " : "a name ",
                    where->name_space.empty() ? fmt::format("{} and {}", kAnyAccount, kAnyNamespace)
                                              : kAnyAccount);
  }
  call.set_grant("kubectl apply -f -", text + role_manifest(needed, who, where->name_space));
  return {};
}

}  // namespace muster::kubernetes
