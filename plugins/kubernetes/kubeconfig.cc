// Merging kubeconfigs, and choosing from them.
#include "plugins/kubernetes/kubeconfig.h"

#include <fmt/format.h>

#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::quote;

sdk::Failure invalid(const Place& place, const std::string& why) {
  return {MUSTER_E_INVALID_ARGUMENT, fmt::format("{}: {}", place.to_string(), why), {}};
}

template <typename Entry>
std::string names_of(const std::map<std::string, Entry>& entries) {
  std::string out;
  for (const auto& [name, entry] : entries) out += (out.empty() ? "" : ", ") + quote(name);
  return out.empty() ? "none" : out;
}

// client-go's ConfirmUsable for a cluster entry; "" when it is fine.
std::string problem_of(const KubeCluster& cluster) {
  if (cluster.server.empty()) return "has no server";
  if (!cluster.ca_file.empty() && !cluster.ca_data.empty())
    return "has both certificate-authority and certificate-authority-data; leave one out";
  if (cluster.insecure && (!cluster.ca_file.empty() || !cluster.ca_data.empty()))
    return "has a certificate authority and insecure-skip-tls-verify; leave one out";
  return "";
}

std::string problem_of(const KubeExec& exec) {
  const bool v1 = exec.api_version == "client.authentication.k8s.io/v1";
  if (exec.command.empty()) return "has an exec without command";
  if (exec.api_version.empty()) return "has an exec without apiVersion";
  if (!v1 && exec.api_version != "client.authentication.k8s.io/v1beta1")
    return fmt::format(
        "has an exec of apiVersion {}; there are client.authentication.k8s.io/v1 and .../v1beta1",
        quote(exec.api_version));
  if (exec.interactive_mode.empty() && v1)
    return "has an exec without interactiveMode, which is Never, IfAvailable or Always";
  if (exec.interactive_mode != "" && exec.interactive_mode != "Never" &&
      exec.interactive_mode != "IfAvailable" && exec.interactive_mode != "Always")
    return fmt::format("has the interactiveMode {}, which is none of Never, IfAvailable and Always",
                       quote(exec.interactive_mode));
  for (const auto& [name, value] : exec.environment)
    if (name.empty() || name.find('=') != std::string::npos)
      return fmt::format("has an exec whose env has the name {}",
                         quote(name.substr(0, name.find('=') + 1)));
  return "";
}

// The same for a user entry.
std::string problem_of(const KubeUser& user) {
  const bool certificate = !user.certificate_file.empty() || !user.certificate_data.empty();
  const bool key = !user.key_file.empty() || !user.key_data.empty();
  const bool basic = !user.username.empty() || !user.password.empty();
  const bool token = !user.token.empty() || !user.token_file.empty();
  if (!user.certificate_file.empty() && !user.certificate_data.empty())
    return "has both client-certificate and client-certificate-data; leave one out";
  if (!user.key_file.empty() && !user.key_data.empty())
    return "has both client-key and client-key-data; leave one out";
  if (certificate && !key) return "has a client certificate without its client-key";
  if (key && !certificate) return "has a client-key without its client certificate";
  if (user.exec && user.auth_provider) return "has both exec and auth-provider; leave one out";
  if (token && basic) return "has both a token and a username; leave one out";
  if (user.exec)
    if (std::string why = problem_of(*user.exec); !why.empty()) return why;
  if (user.as.empty() &&
      (!user.as_uid.empty() || !user.as_groups.empty() || !user.as_extra.empty()))
    return "says as-uid, as-groups or as-user-extra without as";
  return "";
}

// The entry of a name that a context gives, when it is there and fine.
template <typename Entry>
sdk::Result<Entry> named_entry(const std::map<std::string, Entry>& entries,
                               const std::string& context_name, const KubeContext& context,
                               const char* kind, const std::string& name) {
  const auto found = entries.find(name);
  if (found == entries.end())
    return invalid(context.place,
                   fmt::format("context {} names the {} {}, which is not there; there are {}",
                               quote(context_name), kind, quote(name), names_of(entries)));
  if (const std::string why = problem_of(found->second); !why.empty())
    return invalid(found->second.place, fmt::format("{} {} {}", kind, quote(name), why));
  return found->second;
}

}  // namespace

void merge_kubeconfig(Kubeconfig& into, Kubeconfig from) {
  into.clusters.merge(from.clusters);
  into.users.merge(from.users);
  into.contexts.merge(from.contexts);
  if (into.current_context.empty()) into.current_context = std::move(from.current_context);
}

sdk::Result<Chosen> choose_context(const Kubeconfig& config,
                                   const std::optional<std::string>& context) {
  const std::string& name = context ? *context : config.current_context;
  if (name.empty())
    return sdk::Failure{MUSTER_E_INVALID_ARGUMENT,
                        fmt::format("the kubeconfig has no current-context; it has the contexts {}",
                                    names_of(config.contexts)),
                        {{"hint", "kubectl config use-context NAME, or the option 'context'"}}};
  const auto found = config.contexts.find(name);
  if (found == config.contexts.end()) {
    sdk::Failure failure{MUSTER_E_INVALID_ARGUMENT,
                         fmt::format("the kubeconfig has no context {}; it has {}", quote(name),
                                     names_of(config.contexts)),
                         {}};
    if (context) failure.details.emplace_back("option", "/context");
    return failure;
  }
  const KubeContext& entry = found->second;
  Chosen chosen;
  chosen.context = name;
  chosen.cluster_name = entry.cluster;
  chosen.user_name = entry.user;
  chosen.name_space = entry.name_space;
  if (auto cluster = named_entry(config.clusters, name, entry, "cluster", entry.cluster)) {
    chosen.cluster = *std::move(cluster);
  } else {
    return std::move(cluster).failure();
  }
  if (entry.user.empty()) return chosen;
  if (auto user = named_entry(config.users, name, entry, "user", entry.user)) {
    chosen.user = *std::move(user);
  } else {
    return std::move(user).failure();
  }
  return chosen;
}

}  // namespace muster::kubernetes
