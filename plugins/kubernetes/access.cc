#include "plugins/kubernetes/access.h"

#include <fmt/format.h>

#include <utility>

#include "plugins/kubernetes/kubeconfig.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::quote;

constexpr const char* kServiceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";
constexpr uint64_t kKubeconfigMaximum = uint64_t{8} << 20;
constexpr uint64_t kFileMaximum = uint64_t{1} << 20;

bool begins_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

std::string service_account_file(const char* name) {
  return fmt::format("{}/{}", kServiceAccount, name);
}

// ---- Inside a pod ---------------------------------------------------------------------------

// FAILED_PRECONDITION with the reason when this process does not run in a pod with a service account.
sdk::Result<Access> from_within(sdk::Call& call) {
  const auto host = call.variable("KUBERNETES_SERVICE_HOST");
  const auto port = call.variable("KUBERNETES_SERVICE_PORT");
  const auto none = [](std::string why) {
    return sdk::Failure{MUSTER_E_FAILED_PRECONDITION, std::move(why), {}};
  };
  if (!host || host->empty()) return none("KUBERNETES_SERVICE_HOST is not set");
  if (!port || port->empty()) return none("KUBERNETES_SERVICE_PORT is not set");
  const std::string path = service_account_file("token");
  if (!call.file(path, kFileMaximum, MUSTER_FILE_SECRET, true))
    return none(fmt::format("the service account's token '{}' cannot be read", path));
  auto found = token_file_credentials(path, call);
  if (!found) return std::move(found).failure();

  Access access;
  *access.found = *std::move(found);
  access.within_cluster = true;
  access.origin = "inside the cluster";
  access.user = "of the pod's service account";
  const bool bare_ipv6 = host->find(':') != std::string_view::npos && host->front() != '[';
  access.server = bare_ipv6 ? fmt::format("https://[{}]:{}", *host, *port)
                            : fmt::format("https://{}:{}", *host, *port);
  // Without the file the system's authorities count, as client-go does it.
  if (auto ca = call.file(service_account_file("ca.crt"), kFileMaximum, 0, true))
    access.ca_pem = *ca;
  access.name_space = own_namespace(call);
  return access;
}

// ---- kubeconfig -----------------------------------------------------------------------------

// The files that kubectl would read: the option, else KUBECONFIG's list, else the one at home.
struct Files {
  std::vector<std::string> paths;
  std::string said_by;
  bool must_exist = false;
};

Files kubeconfig_files(const Options& options, sdk::Call& call) {
  if (options.kubeconfig) return {{*options.kubeconfig}, "option kubeconfig", true};
  Files files;
  if (const auto list = call.variable("KUBECONFIG"); list && !list->empty()) {
    files.said_by = "KUBECONFIG";
    size_t at = 0;
    while (at <= list->size()) {
      const size_t end = std::min(list->find(':', at), list->size());
      if (end > at) files.paths.emplace_back(list->substr(at, end - at));
      at = end + 1;
    }
    return files;
  }
  return {{"~/.kube/config"}, "the default", false};
}

sdk::Status set_server(Access& access, const Chosen& chosen) {
  const KubeCluster& cluster = chosen.cluster;
  // kubectl's rules: no scheme is http, whatever the TLS settings say, and a query or fragment does not count.
  std::string server = cluster.server.substr(0, cluster.server.find_first_of("?#"));
  if (server.find("://") == std::string::npos) server = "http://" + server;
  while (!server.empty() && server.back() == '/') server.pop_back();
  const auto wrong = [&](const char* why) {
    return sdk::Failure{MUSTER_E_INVALID_ARGUMENT,
                        fmt::format("{}: server {} of cluster {} {}", cluster.place.to_string(),
                                    quote(cluster.server, 200), quote(chosen.cluster_name), why),
                        {}};
  };
  if (!begins_with(server, "https://") && !begins_with(server, "http://"))
    return wrong("is neither https nor http");
  if (server.find_first_of("@ \t\r\n") != std::string::npos)
    return wrong("has a user or a blank in it");
  access.server = std::move(server);
  if (!cluster.proxy_url.empty() && !begins_with(cluster.proxy_url, "http://"))
    return sdk::Failure{MUSTER_E_UNIMPLEMENTED,
                        fmt::format("{}: cluster {} wants a proxy-url that is not http; this "
                                    "version has http proxies alone",
                                    cluster.place.to_string(), quote(chosen.cluster_name)),
                        {}};
  access.proxy_url = cluster.proxy_url;
  access.tls_server_name = cluster.tls_server_name;
  access.insecure = cluster.insecure;
  return {};
}

sdk::Result<Access> from_kubeconfig(const Options& options, ExecCache& cache, sdk::Call& call,
                                    const std::string& why_not_within) {
  const Files files = kubeconfig_files(options, call);
  Kubeconfig config;
  std::string read, absent;
  for (const std::string& path : files.paths) {
    auto content = call.file(path, kKubeconfigMaximum, 0, !files.must_exist);
    if (!content) {
      if (files.must_exist) return std::move(content).failure().with("option", "/kubeconfig");
      if (content.failure().code == MUSTER_E_NOT_FOUND) {
        absent += fmt::format("{}'{}'", absent.empty() ? "" : ", ", path);
        continue;
      }
      return sdk::Failure{content.failure().code,
                          fmt::format("the kubeconfig '{}' is there, but cannot be read", path),
                          {}};
    }
    auto parsed = parse_kubeconfig(*content, path);
    if (!parsed) {
      call.mark_secret(*content);  // nobody knows where in it the secrets are
      return std::move(parsed).failure();
    }
    for (const std::string& secret : parsed->secrets) call.mark_secret(secret);
    merge_kubeconfig(config, *std::move(parsed));
    read += fmt::format("{}{}", read.empty() ? "" : ":", path);
  }
  if (read.empty()) {
    std::string message = fmt::format("there is no kubeconfig: {} ({}) does not exist",
                                      absent.empty() ? "nothing" : absent, files.said_by);
    if (!why_not_within.empty())
      message = fmt::format("not in a pod: {}; and {}", why_not_within, message);
    return sdk::Failure{MUSTER_E_FAILED_PRECONDITION,
                        std::move(message),
                        {{"hint", "name one by the option 'kubeconfig' or by KUBECONFIG"}}};
  }
  auto chosen = choose_context(config, options.context);
  if (!chosen) {
    sdk::Failure failure = std::move(chosen).failure();
    if (failure.message.rfind("the kubeconfig", 0) == 0)
      failure.message = fmt::format("{}: {}", read, failure.message);
    return failure;
  }
  Access access;
  access.origin = fmt::format("context {} of {}", quote(chosen->context), read);
  access.name_space = chosen->name_space;
  if (auto status = set_server(access, *chosen); !status) return std::move(status).failure();
  auto impersonated = impersonation(*chosen);
  if (!impersonated) return std::move(impersonated).failure();
  access.headers = *std::move(impersonated);
  if (!begins_with(access.server, "https://")) {
    call.host().log(MUSTER_LOG_DEBUG,
                    fmt::format("kubernetes: {} is plain http, so no credentials are sent there",
                                access.server));
    return access;
  }
  auto ca = pem_of(call, chosen->cluster.place, "certificate-authority", chosen->cluster.ca_data,
                   chosen->cluster.ca_file, false);
  if (!ca) return std::move(ca).failure();
  access.ca_pem = *std::move(ca);
  auto found = user_credentials(*chosen, access.ca_pem, cache, call);
  if (!found) return std::move(found).failure();
  *access.found = *std::move(found);
  if (!chosen->user_name.empty()) access.user = fmt::format("of user {}", quote(chosen->user_name));
  return access;
}

}  // namespace

std::string own_namespace(sdk::Call& call) {
  if (const auto set = call.variable("POD_NAMESPACE"); set && !set->empty())
    return std::string(*set);
  auto file = call.file(service_account_file("namespace"), kFileMaximum, 0, true);
  return file ? std::string(support::trimmed(*file)) : std::string();
}

sdk::Result<sdk::Response> Access::send(muster_http_request_v1 request, sdk::Call& call) const {
  if (insecure) request.flags |= MUSTER_HTTP_INSECURE;
  request.ca_pem = ca_pem.empty() ? nullptr : ca_pem.data();
  request.ca_pem_size = ca_pem.size();
  if (!tls_server_name.empty()) request.tls_server_name = tls_server_name.c_str();
  if (!proxy_url.empty()) request.proxy_url = proxy_url.c_str();
  std::vector<muster_http_header_v1> all(request.headers, request.headers + request.header_count);
  for (const auto& [name, value] : headers)
    all.push_back({name.c_str(), value.data(), value.size()});
  const size_t without_authorization = all.size();
  for (;;) {
    const Credentials& credentials = found->credentials;
    all.resize(without_authorization);
    if (!credentials.authorization.empty())
      all.push_back(
          {"Authorization", credentials.authorization.data(), credentials.authorization.size()});
    request.headers = all.data();
    request.header_count = all.size();
    const std::string& certificate = credentials.certificate_pem;
    const std::string& key = credentials.key_pem;
    request.client_certificate_pem = certificate.empty() ? nullptr : certificate.data();
    request.client_certificate_pem_size = certificate.size();
    request.client_key_pem = key.empty() ? nullptr : key.data();
    request.client_key_pem_size = key.size();
    auto response = call.send(request);
    if (!response || response->status() != 401 || found->renew == nullptr) return response;
    const Renewal renew = std::exchange(found->renew, nullptr);
    const auto others = renew(found->credentials);
    if (!others) return others.failure();
    if (!*others) return response;
    call.host().log(
        MUSTER_LOG_DEBUG,
        "kubernetes: the server refuses the credentials; it is asked again with new ones");
  }
}

sdk::Result<Access> find_access(const Options& options, ExecCache& cache, sdk::Call& call) {
  std::string why_not_within;
  const bool named = options.kubeconfig || options.context;
  const bool within = options.location == Location::kWithinCluster ||
                      (options.location == Location::kAuto && !named);
  sdk::Result<Access> access = sdk::Failure{};
  if (within) {
    access = from_within(call);
    if (!access) {
      sdk::Failure failure = access.failure();
      if (failure.code != MUSTER_E_FAILED_PRECONDITION) return failure;
      if (options.location == Location::kWithinCluster) {
        failure.message = fmt::format(
            "'executable_location: within_cluster', but this is no pod with a service account: {}",
            failure.message);
        return failure;
      }
      why_not_within = failure.message;
    }
  }
  if (!access) access = from_kubeconfig(options, cache, call, why_not_within);
  if (!access) return access;
  if (options.name_space) access->name_space = *options.name_space;
  if (options.all_namespaces) access->name_space.clear();
  if (!options.all_namespaces && access->name_space.empty()) access->name_space = "default";
  call.host().log(MUSTER_LOG_DEBUG,
                  fmt::format("kubernetes: {}, server {}, {}", access->origin, access->server,
                              options.all_namespaces ? "all namespaces"
                                                     : "namespace " + quote(access->name_space)));
  return access;
}

}  // namespace muster::kubernetes
