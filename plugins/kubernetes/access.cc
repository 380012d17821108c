#include "plugins/kubernetes/access.h"

#include <fmt/format.h>

#include <utility>

#include "plugins/kubernetes/kubeconfig.h"
#include "plugins/support/quote_answer.h"
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

// Why this is no pod with a service account; "" when it is one.
std::string why_not_within(sdk::Call& call) {
  for (const char* name : {"KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"})
    if (const auto value = call.variable(name); !value || value->empty())
      return fmt::format("{} is not set", name);
  const std::string path = service_account_file("token");
  if (!call.file(path, kFileMaximum, MUSTER_FILE_SECRET, true))
    return fmt::format("the service account's token '{}' cannot be read", path);
  return "";
}

// gzip is for slow ways: a server takes longer to compress a page than a fast network to carry it, as Kubernetes' own
// components and kubectl's disable-compression have it.
void ask_uncompressed(Access& access) {
  access.headers.emplace_back("Accept-Encoding", "identity");
}

bool is_of_this_machine(std::string_view server) {
  const std::string_view host = server.substr(server.find("://") + 3);
  return begins_with(host, "127.") || begins_with(host, "[::1]") || host == "localhost" ||
         begins_with(host, "localhost:") || begins_with(host, "localhost/");
}

sdk::Result<Access> from_within(sdk::Call& call) {
  const std::string host(call.variable("KUBERNETES_SERVICE_HOST").value_or(""));
  const std::string port(call.variable("KUBERNETES_SERVICE_PORT").value_or(""));
  const std::string path = service_account_file("token");
  auto found = token_file_credentials(path, call);
  if (!found) return std::move(found).failure();

  Access access;
  *access.found = *std::move(found);
  access.within_cluster = true;
  access.origin = "inside the cluster";
  access.settings = kServiceAccount;
  access.user = "of the pod's service account";
  const bool bare_ipv6 = host.find(':') != std::string::npos && host.front() != '[';
  access.server = bare_ipv6 ? fmt::format("https://[{}]:{}", host, port)
                            : fmt::format("https://{}:{}", host, port);
  // Without the file the system's authorities count, as client-go does it.
  if (auto ca = call.file(service_account_file("ca.crt"), kFileMaximum, 0, true))
    access.ca_pem = *ca;
  access.name_space = own_namespace(call);
  ask_uncompressed(access);
  return access;
}

// ---- kubeconfig -----------------------------------------------------------------------------

// The files that kubectl would read: the option, else KUBECONFIG's list, else the one at home.
struct Files {
  std::vector<std::string> paths;
  std::string said_by;
  bool must_exist = false;
  bool by_default = false;
};

Files kubeconfig_files(const Options& options, sdk::Call& call) {
  if (options.kubeconfig) return {{*options.kubeconfig}, "option kubeconfig", true, false};
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
  return {{"~/.kube/config"}, "the default", false, true};
}

sdk::Status set_server(Access& access, const Chosen& chosen) {
  const KubeCluster& cluster = chosen.cluster;
  // kubectl's rules: no scheme is http, whatever the TLS settings say, and a query or fragment does not count.
  std::string server = cluster.server.substr(0, cluster.server.find_first_of("?#"));
  if (server.find("://") == std::string::npos) server = "http://" + server;
  while (!server.empty() && server.back() == '/') server.pop_back();
  const auto wrong = [&](const char* why) {
    return sdk::Failure{
        MUSTER_E_INVALID_ARGUMENT,
        fmt::format("{}: server {} of cluster {} {}", cluster.place.to_string(),
                    support::quote_url(cluster.server), quote(chosen.cluster_name), why),
        {}};
  };
  if (!begins_with(server, "https://") && !begins_with(server, "http://"))
    return wrong("is neither https nor http");
  if (server.find_first_of("@ \t\r\n") != std::string::npos)
    return wrong("has a user or a blank in it");
  access.server = std::move(server);
  const std::string& proxy = cluster.proxy_url;
  if (!proxy.empty() && !begins_with(proxy, "http://") && !begins_with(proxy, "https://") &&
      !begins_with(proxy, "socks5://"))
    return sdk::Failure{
        MUSTER_E_INVALID_ARGUMENT,
        fmt::format("{}: the proxy-url of cluster {} is none of http://, https:// and socks5://",
                    cluster.place.to_string(), quote(chosen.cluster_name)),
        {}};
  access.proxy_url = cluster.proxy_url;
  access.tls_server_name = cluster.tls_server_name;
  access.insecure = cluster.insecure;
  return {};
}

// What those files say together.
struct Loaded {
  Kubeconfig config;
  std::string read;    // the files that there are, "" for none
  std::string absent;  // in words

  // An entry to use is named, so kubectl would use it.
  bool chooses(const Options& options) const {
    return !read.empty() && (options.context || !config.current_context.empty());
  }
};

sdk::Result<Loaded> load_kubeconfig(const Files& files, sdk::Call& call) {
  Loaded out;
  std::string absent;
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
    merge_kubeconfig(out.config, *std::move(parsed));
    out.read += fmt::format("{}{}", out.read.empty() ? "" : ":", path);
  }
  out.absent = fmt::format("there is no kubeconfig: {} ({}) does not exist",
                           absent.empty() ? "nothing" : absent, files.said_by);
  return out;
}

// The entries that the options choose of them.
sdk::Result<Chosen> choose(const Options& options, const Loaded& loaded, sdk::Call& call) {
  auto chosen = choose_context(loaded.config, options.context);
  if (!chosen) {
    sdk::Failure failure = std::move(chosen).failure();
    if (failure.message.rfind("the kubeconfig", 0) == 0)
      failure.message = fmt::format("{}: {}", loaded.read, failure.message);
    return failure;
  }
  // In a pod the context of a kubeconfig that names none means the pod's own, to kubectl.
  if (chosen->name_space.empty() && why_not_within(call).empty())
    chosen->name_space = own_namespace(call);
  return chosen;
}

sdk::Result<Access> from_kubeconfig(const Options& options, const Loaded& loaded, ExecCache& cache,
                                    sdk::Call& call) {
  auto chosen = choose(options, loaded, call);
  if (!chosen) return std::move(chosen).failure();
  Access access;
  access.origin = fmt::format("context {} of {}", quote(chosen->context), loaded.read);
  access.name_space = chosen->name_space;
  access.settings = fmt::format("cluster {} ({})", quote(chosen->cluster_name),
                                chosen->cluster.place.to_string());
  if (!chosen->user_name.empty())
    access.settings +=
        fmt::format(" and user {} ({})", quote(chosen->user_name), chosen->user.place.to_string());
  if (auto status = set_server(access, *chosen); !status) return std::move(status).failure();
  auto impersonated = impersonation(*chosen);
  if (!impersonated) return std::move(impersonated).failure();
  access.headers = *std::move(impersonated);
  if (chosen->cluster.disable_compression || is_of_this_machine(access.server))
    ask_uncompressed(access);
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

std::string own_token(sdk::Call& call) {
  const auto token =
      call.file(service_account_file("token"), kFileMaximum, MUSTER_FILE_SECRET, true);
  if (!token) return "";
  call.mark_secret(support::trimmed(*token));
  return std::string(support::trimmed(*token));
}

std::string own_namespace(sdk::Call& call) {
  if (const auto set = call.variable("POD_NAMESPACE"); set && !set->empty())
    return std::string(*set);
  auto file = call.file(service_account_file("namespace"), kFileMaximum, 0, true);
  return file ? std::string(support::trimmed(*file)) : std::string();
}

Get::Get(const std::string& url, std::string_view forms, const std::string& purpose)
    : accept_{"Accept", forms.data(), forms.size()} {
  request.struct_size = sizeof request;
  request.method = "GET";
  request.url = url.data();
  request.url_size = url.size();
  request.headers = &accept_;
  request.header_count = 1;
  request.purpose = purpose.c_str();
}

muster_http_request_v1 Access::fill(muster_http_request_v1 request,
                                    std::vector<muster_http_header_v1>& all) const {
  if (insecure) request.flags |= MUSTER_HTTP_INSECURE;
  if (request.timeout_ns == 0) request.timeout_ns = timeout_ns;
  request.ca_pem = ca_pem.empty() ? nullptr : ca_pem.data();
  request.ca_pem_size = ca_pem.size();
  if (!tls_server_name.empty()) request.tls_server_name = tls_server_name.c_str();
  if (!proxy_url.empty()) request.proxy_url = proxy_url.c_str();
  all.assign(request.headers, request.headers + request.header_count);
  for (const auto& [name, value] : headers)
    all.push_back({name.c_str(), value.data(), value.size()});
  const Credentials& credentials = found->credentials;
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
  return request;
}

sdk::Failure Access::explain(sdk::Failure failure) const {
  if (failure.code != MUSTER_E_FAILED_PRECONDITION && failure.code != MUSTER_E_INVALID_ARGUMENT)
    return failure;
  return std::move(failure).with("hint", fmt::format("TLS and proxy are said in {}", settings));
}

sdk::Result<bool> Access::renew(sdk::Call& call) const {
  if (found->renew == nullptr) return false;
  const Renewal renew = std::exchange(found->renew, nullptr);
  auto others = renew(found->credentials);
  if (others && *others)
    call.host().log(
        MUSTER_LOG_DEBUG,
        "kubernetes: the server refuses the credentials; it is asked again with new ones");
  return others;
}

sdk::Result<sdk::Response> Access::send(muster_http_request_v1 request, sdk::Call& call) const {
  for (std::vector<muster_http_header_v1> all;;) {
    auto response = call.send(fill(request, all));
    if (!response) return explain(std::move(response).failure());
    if (response->status() != 401) return response;
    const auto others = renew(call);
    if (!others) return others.failure();
    if (!*others) return response;
  }
}

sdk::Result<uint64_t> Access::begin(const muster_http_request_v1& request,
                                    const sdk::HttpStreams& streams) const {
  std::vector<muster_http_header_v1> all;
  return streams.begin(fill(request, all));
}

namespace {

// kubectl's choice: a kubeconfig that says where to go, else the pod's service account.
struct Way {
  bool within_cluster = false;
  Loaded loaded;
};

sdk::Result<Way> choose_way(const Options& options, sdk::Call& call) {
  const Files files = kubeconfig_files(options, call);
  if (options.location != Location::kWithinCluster) {
    auto loaded = load_kubeconfig(files, call);
    if (loaded && loaded->chooses(options)) return Way{false, *std::move(loaded)};
    const bool may_be_within =
        options.location == Location::kAuto && !options.kubeconfig && !options.context;
    const std::string why_not = may_be_within ? why_not_within(call) : "";
    // The home of a pod's user may be another user's.
    const bool foreign_home =
        !loaded && files.by_default && loaded.failure().code == MUSTER_E_PERMISSION_DENIED;
    if (!loaded && !(foreign_home && may_be_within && why_not.empty()))
      return std::move(loaded).failure();
    if (may_be_within && why_not.empty()) return Way{true, {}};
    if (!loaded->read.empty()) return Way{false, *std::move(loaded)};
    return sdk::Failure{MUSTER_E_FAILED_PRECONDITION,
                        may_be_within
                            ? fmt::format("not in a pod: {}; and {}", why_not, loaded->absent)
                            : loaded->absent,
                        {{"hint", "name one by the option 'kubeconfig' or by KUBECONFIG"}}};
  }
  if (const std::string why_not = why_not_within(call); !why_not.empty())
    return sdk::Failure{
        MUSTER_E_FAILED_PRECONDITION,
        fmt::format("'executable_location: within_cluster', but this is no pod with a service "
                    "account: {}",
                    why_not),
        {}};
  return Way{true, {}};
}

// What the options say over what was found.
std::string name_space_of(const Options& options, const std::string& found) {
  if (options.all_namespaces) return "";
  if (options.name_space) return *options.name_space;
  return found.empty() ? "default" : found;
}

}  // namespace

sdk::Result<Access> find_access(const Options& options, bool watching, ExecCache& cache,
                                sdk::Call& call) {
  auto way = choose_way(options, call);
  if (!way) return std::move(way).failure();
  auto access =
      way->within_cluster ? from_within(call) : from_kubeconfig(options, way->loaded, cache, call);
  if (!access) return access;
  access->name_space = name_space_of(options, access->name_space);
  access->needed = needed_permissions(options, watching);
  call.host().log(MUSTER_LOG_DEBUG,
                  fmt::format("kubernetes: {}, server {}, {}", access->origin, access->server,
                              options.all_namespaces ? "all namespaces"
                                                     : "namespace " + quote(access->name_space)));
  return access;
}

sdk::Result<Where> find_where(const Options& options, sdk::Call& call) {
  auto way = choose_way(options, call);
  if (!way) return std::move(way).failure();
  if (way->within_cluster) return Where{name_space_of(options, own_namespace(call)), true};
  auto chosen = choose(options, way->loaded, call);
  if (!chosen) return std::move(chosen).failure();
  return Where{name_space_of(options, chosen->name_space), false};
}

}  // namespace muster::kubernetes
