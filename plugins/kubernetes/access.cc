#include "plugins/kubernetes/access.h"

#include <fmt/format.h>

#include "plugins/kubernetes/kubeconfig.h"
#include "plugins/support/base64.h"
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

// A header's value must not end the header.
bool fits_header(std::string_view value) {
  for (const char c : value)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return false;
  return true;
}

sdk::Status set_token(Access& access, sdk::Call& call, std::string_view token,
                      const std::string& where) {
  token = support::trimmed(token);
  call.mark_secret(token);
  if (token.empty())
    return sdk::Failure{
        MUSTER_E_UNAUTHENTICATED, fmt::format("the token in {} is empty", where), {}};
  if (!fits_header(token))
    return sdk::Failure{
        MUSTER_E_INVALID_ARGUMENT,
        fmt::format("the token in {} has a line end or a control character in it", where),
        {}};
  access.headers.emplace_back("Authorization", fmt::format("Bearer {}", token));
  return {};
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
  auto token = call.file(path, kFileMaximum, MUSTER_FILE_SECRET, true);
  if (!token) return none(fmt::format("the service account's token '{}' cannot be read", path));

  Access access;
  access.within_cluster = true;
  access.origin = "inside the cluster";
  access.user = "of the pod's service account";
  const bool bare_ipv6 = host->find(':') != std::string_view::npos && host->front() != '[';
  access.server = bare_ipv6 ? fmt::format("https://[{}]:{}", *host, *port)
                            : fmt::format("https://{}:{}", *host, *port);
  if (auto status = set_token(access, call, *token, path); !status)
    return std::move(status).failure();
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

// PEM out of a -data entry or out of the file beside it; "" when neither is there.
sdk::Result<std::string> material(sdk::Call& call, const Place& place, const char* what,
                                  const std::string& data, const std::string& file, bool secret) {
  if (!data.empty()) {
    if (secret) call.mark_secret(data);
    auto decoded = support::base64_decode(data);
    if (!decoded)
      return sdk::Failure{MUSTER_E_INVALID_ARGUMENT,
                          fmt::format("{}: {}-data is not base64", place.to_string(), what),
                          {}};
    if (secret) call.mark_secret(*decoded);
    return *std::move(decoded);
  }
  if (file.empty()) return std::string();
  auto content = call.file(file, kFileMaximum, secret ? MUSTER_FILE_SECRET : 0);
  if (!content)
    return std::move(content).failure().with(
        "hint", fmt::format("{} names it as {}", place.to_string(), what));
  if (secret) call.mark_secret(*content);
  return std::string(*content);
}

// A key of Impersonate-Extra-KEY: what may not stand in a header's name is percent-encoded.
std::string header_key(std::string_view key) {
  std::string out;
  for (const char c : key) {
    const bool token = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("!#$&'*+-.^_`|~").find(c) != std::string_view::npos;
    out += token ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

sdk::Status set_credentials(Access& access, const Chosen& chosen, sdk::Call& call) {
  const KubeUser& user = chosen.user;
  const auto program = [&](const char* entry, const std::string& name) {
    return sdk::Failure{
        MUSTER_E_UNIMPLEMENTED,
        fmt::format("{}: user {} gets its credentials from the {} {}; this version cannot run "
                    "credential programs",
                    user.place.to_string(), quote(chosen.user_name), entry, quote(name)),
        {{"hint",
          "a user with a token works: kubectl create token NAME, then kubectl config "
          "set-credentials"}}};
  };
  if (user.exec) return program("program", *user.exec);
  if (user.auth_provider) return program("auth-provider", *user.auth_provider);

  auto certificate = material(call, user.place, "client-certificate", user.certificate_data,
                              user.certificate_file, false);
  if (!certificate) return std::move(certificate).failure();
  auto key = material(call, user.place, "client-key", user.key_data, user.key_file, true);
  if (!key) return std::move(key).failure();
  access.certificate_pem = *std::move(certificate);
  access.key_pem = *std::move(key);
  if (!chosen.user_name.empty()) access.user = fmt::format("of user {}", quote(chosen.user_name));

  call.mark_secret(user.token);
  call.mark_secret(user.password);
  if (!user.token_file.empty()) {
    // The file takes over when it can be read; else the token beside it counts.
    auto token = call.file(user.token_file, kFileMaximum, MUSTER_FILE_SECRET, !user.token.empty());
    if (!token && user.token.empty()) return std::move(token).failure();
    if (auto status = set_token(access, call, token ? *token : std::string_view(user.token),
                                token ? quote(user.token_file, 4096) : user.place.to_string());
        !status)
      return status;
  } else if (!user.token.empty()) {
    if (auto status = set_token(access, call, user.token, user.place.to_string()); !status)
      return status;
  } else if (!user.username.empty() || !user.password.empty()) {
    const std::string basic = support::base64_encode(user.username + ":" + user.password);
    call.mark_secret(basic);
    access.headers.emplace_back("Authorization", "Basic " + basic);
  }

  const auto impersonate = [&](std::string name, const std::string& value) -> sdk::Status {
    if (!fits_header(value))
      return sdk::Failure{MUSTER_E_INVALID_ARGUMENT,
                          fmt::format("{}: user {} has a control character in what 'as' says",
                                      user.place.to_string(), quote(chosen.user_name)),
                          {}};
    access.headers.emplace_back(std::move(name), value);
    return {};
  };
  std::vector<std::pair<std::string, std::string>> wanted;
  if (!user.as.empty()) wanted.emplace_back("Impersonate-User", user.as);
  if (!user.as_uid.empty()) wanted.emplace_back("Impersonate-Uid", user.as_uid);
  for (const std::string& group : user.as_groups) wanted.emplace_back("Impersonate-Group", group);
  for (const auto& [extra, value] : user.as_extra)
    wanted.emplace_back("Impersonate-Extra-" + header_key(extra), value);
  for (auto& [name, value] : wanted)
    if (auto status = impersonate(name, value); !status) return status;
  return {};
}

sdk::Status set_server(Access& access, const Chosen& chosen) {
  const KubeCluster& cluster = chosen.cluster;
  std::string server = cluster.server;
  if (server.find("://") == std::string::npos) {
    const bool tls = cluster.insecure || !cluster.ca_file.empty() || !cluster.ca_data.empty() ||
                     !chosen.user.certificate_file.empty() || !chosen.user.certificate_data.empty();
    server = (tls ? "https://" : "http://") + server;
  }
  while (!server.empty() && server.back() == '/') server.pop_back();
  const auto wrong = [&](const char* why) {
    return sdk::Failure{MUSTER_E_INVALID_ARGUMENT,
                        fmt::format("{}: server {} of cluster {} {}", cluster.place.to_string(),
                                    quote(cluster.server, 200), quote(chosen.cluster_name), why),
                        {}};
  };
  if (!begins_with(server, "https://") && !begins_with(server, "http://"))
    return wrong("is neither https nor http");
  if (server.find_first_of("?#@ ") != std::string::npos || !fits_header(server))
    return wrong("has a user, a query, a fragment or a blank in it");
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

sdk::Result<Access> from_kubeconfig(const Options& options, sdk::Call& call,
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
  auto ca = material(call, chosen->cluster.place, "certificate-authority", chosen->cluster.ca_data,
                     chosen->cluster.ca_file, false);
  if (!ca) return std::move(ca).failure();
  access.ca_pem = *std::move(ca);
  if (begins_with(access.server, "https://")) {
    if (auto status = set_credentials(access, *chosen, call); !status)
      return std::move(status).failure();
  } else {
    call.host().log(MUSTER_LOG_DEBUG,
                    fmt::format("kubernetes: {} is plain http, so no credentials are sent there",
                                access.server));
  }
  return access;
}

}  // namespace

std::string own_namespace(sdk::Call& call) {
  if (const auto set = call.variable("POD_NAMESPACE"); set && !set->empty())
    return std::string(*set);
  auto file = call.file(service_account_file("namespace"), kFileMaximum, 0, true);
  return file ? std::string(support::trimmed(*file)) : std::string();
}

void Access::apply(muster_http_request_v1& request) const {
  if (insecure) request.flags |= MUSTER_HTTP_INSECURE;
  request.ca_pem = ca_pem.empty() ? nullptr : ca_pem.data();
  request.ca_pem_size = ca_pem.size();
  request.client_certificate_pem = certificate_pem.empty() ? nullptr : certificate_pem.data();
  request.client_certificate_pem_size = certificate_pem.size();
  request.client_key_pem = key_pem.empty() ? nullptr : key_pem.data();
  request.client_key_pem_size = key_pem.size();
  if (!tls_server_name.empty()) request.tls_server_name = tls_server_name.c_str();
  if (!proxy_url.empty()) request.proxy_url = proxy_url.c_str();
}

sdk::Result<Access> find_access(const Options& options, sdk::Call& call) {
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
  if (!access) access = from_kubeconfig(options, call, why_not_within);
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
