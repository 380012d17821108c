// Kubeconfig, certificates and tokens on disk.
#include "run_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include "core/file/replace.h"
#include "json.h"

namespace muster::sim {
namespace {

namespace fs = std::filesystem;

Failure system_failure(std::string_view what, const fs::path& path) {
  return Failure{fmt::format("cannot {} '{}': {}", what, path.string(), std::strerror(errno))};
}

Result<fs::path> private_directory(const fs::path& wanted) {
  std::error_code error;
  const auto path = fs::absolute(wanted, error);
  if (error) return Failure{fmt::format("cannot find '{}': {}", wanted.string(), error.message())};
  if (mkdir(path.c_str(), 0700) == 0) return path;
  if (errno != EEXIST) return system_failure("make the directory", path);
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return system_failure("look at", path);
  if (!S_ISDIR(info.st_mode)) return Failure{fmt::format("'{}' is not a directory", path.string())};
  if (info.st_uid != geteuid() || (info.st_mode & 077) != 0) {
    return Failure{fmt::format(
        "'{}' would hold keys, so it must be yours and closed to others: chmod 700 '{}'",
        path.string(), path.string())};
  }
  return path;
}

Result<fs::path> temporary_directory() {
  const char* base = std::getenv("TMPDIR");
  std::string pattern =
      fmt::format("{}/muster-sim.XXXXXX", base != nullptr && *base != '\0' ? base : "/tmp");
  if (mkdtemp(pattern.data()) == nullptr) return system_failure("make the directory", pattern);
  std::error_code error;
  return fs::absolute(pattern, error);
}

std::string main_namespace(const Kubernetes& world) {
  const auto other = std::find_if(world.namespaces.begin(), world.namespaces.end(),
                                  [](const auto& name) { return name != "default"; });
  return other == world.namespaces.end() ? "default" : *other;
}

// A kubeconfig is YAML, and JSON strings are YAML: quoting is left to the JSON writer.
std::string quoted(const std::string& text) {
  JsonWriter out;
  out.open_array();
  out.value(text);
  out.close_array();
  const auto json = out.str();
  return json.substr(1, json.size() - 2);
}

// One cluster, and a context for each way to sign in:
//   sim            the first user's token
//   sim-NAME       a further user's token
//   sim-cert       the client certificate
//   sim-wrong      a token the server does not know
//   sim-anonymous  nothing
std::string kubeconfig_text(const std::string& url, const Scenario& scenario,
                            const TlsMaterial* material) {
  const auto& world = scenario.kubernetes;
  std::string clusters = fmt::format("  server: {}\n", quoted(url + world.path_prefix));
  if (material != nullptr) {
    clusters += fmt::format("    certificate-authority-data: {}\n",
                            to_base64(to_pem(material->authority.certificate.get())));
    const auto& names = scenario.tls.names;
    if (std::find(names.begin(), names.end(), "127.0.0.1") == names.end()) {
      clusters += fmt::format("    tls-server-name: {}\n", quoted(names.front()));
    }
  }
  std::string users;
  std::string contexts;
  const auto add = [&](const std::string& context, const std::string& fields) {
    users += fmt::format("- name: {}\n  user: {}\n", quoted(context), fields);
    contexts += fmt::format("- name: {0}\n  context: {{cluster: sim, user: {0}, namespace: {1}}}\n",
                            quoted(context), quoted(main_namespace(world)));
  };
  bool first = true;
  for (const auto& user : world.users) {
    add(first ? "sim" : "sim-" + user.name, fmt::format("{{token: {}}}", quoted(user.token)));
    first = false;
  }
  if (material != nullptr) {
    add("sim-cert", fmt::format("\n    client-certificate-data: {}\n    client-key-data: {}",
                                to_base64(to_pem(material->client.certificate.get())),
                                to_base64(to_pem(material->client.key.get()))));
  }
  add("sim-wrong", "{token: \"not-a-token-of-this-server\"}");
  add("sim-anonymous", "{}");
  return fmt::format(
      "apiVersion: v1\nkind: Config\ncurrent-context: sim\nclusters:\n- name: sim\n  cluster:\n  "
      "{}users:\n{}contexts:\n{}",
      clusters, users, contexts);
}

// Where a workload has its certificate, as Google's client libraries read it.
std::string certificate_config(const fs::path& directory) {
  JsonWriter out;
  out.open_object();
  out.key("cert_configs");
  out.open_object();
  out.key("workload");
  out.open_object();
  out.member("cert_path", (directory / "client.crt").string());
  out.member("key_path", (directory / "client.key").string());
  out.close_object();
  out.close_object();
  out.close_object();
  return out.str();
}

}  // namespace

Result<fs::path> write_private_file(const fs::path& path, const std::string& text) {
  if (auto failure = replace_file(path.string(), text, FileAccess::kOwner))
    return Failure{std::move(failure->text)};
  return path;
}

Result<RunFiles> write_run_files(const fs::path& directory, const fs::path& kubeconfig_out,
                                 const std::string& url, const Scenario& scenario,
                                 const TlsMaterial* material, const GoogleKey* key) {
  const auto place = directory.empty() ? temporary_directory() : private_directory(directory);
  if (!place) return Failure{place.error()};
  RunFiles out;
  out.temporary = directory.empty();
  out.directory = *place;
  out.kubeconfig = out.directory / "kubeconfig";
  out.token = out.directory / "token";

  std::vector<std::pair<fs::path, std::string>> files;
  const auto kubeconfig = kubeconfig_text(url, scenario, material);
  const auto& token = scenario.kubernetes.users.front().token;
  files.emplace_back(out.kubeconfig, kubeconfig);
  files.emplace_back(out.token, token);
  if (material != nullptr) {
    out.authority = out.directory / "ca.crt";
    out.in_cluster = out.directory / "serviceaccount";
    const auto made = private_directory(out.in_cluster);
    if (!made) return Failure{made.error()};
    const auto authority = to_pem(material->authority.certificate.get());
    files.emplace_back(out.authority, authority);
    files.emplace_back(out.directory / "client.crt", to_pem(material->client.certificate.get()));
    files.emplace_back(out.directory / "client.key", to_pem(material->client.key.get()));
    files.emplace_back(out.in_cluster / "token", token);
    files.emplace_back(out.in_cluster / "ca.crt", authority);
    files.emplace_back(out.in_cluster / "namespace", main_namespace(scenario.kubernetes));
  }
  if (key != nullptr) {
    out.google = out.directory / "google";
    const auto made = private_directory(out.google);
    if (!made) return Failure{made.error()};
    const fs::path subject = out.google / "oidc_token";
    files.emplace_back(subject, key->subject_token);
    fs::path config;
    if (material != nullptr) {
      config = out.google / "certificate_config.json";
      files.emplace_back(config, certificate_config(out.directory));
    }
    for (auto& [name, text] : credential_files(*key, url, subject.string(), config.string()))
      files.emplace_back(out.google / name, std::move(text));
  }
  if (!kubeconfig_out.empty()) files.emplace_back(kubeconfig_out, kubeconfig);
  for (const auto& [path, text] : files) {
    const auto written = write_private_file(path, text);
    if (!written) {
      out.remove();
      return Failure{written.error()};
    }
  }
  return out;
}

void RunFiles::remove() const {
  std::error_code ignored;
  if (temporary) fs::remove_all(directory, ignored);
}

}  // namespace muster::sim
