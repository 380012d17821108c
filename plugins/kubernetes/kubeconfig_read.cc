// Reads the text of a kubeconfig.
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <set>

#include "plugins/kubernetes/kubeconfig.h"
#include "plugins/kubernetes/kubeconfig_yaml.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::quote;

// What yaml-cpp finds wrong is an exception, and so is what we find while walking: one way out of the depth.
struct Wrong {
  YAML::Mark mark;
  std::string why;
};

class Walker {
 public:
  Walker(const std::string& path, std::string_view text)
      : path_(path), text_(text), folder_(std::filesystem::path(path).parent_path().string()) {}

  Kubeconfig read(const YAML::Node& root) const {
    Kubeconfig config;
    if (!root.IsDefined() || root.IsNull()) return config;  // kubectl takes an empty file
    need_map(root, "a kubeconfig");
    config.current_context = text(root, "current-context");
    entries(root, "clusters", "cluster", [&](const std::string& name, const YAML::Node& node) {
      config.clusters.emplace(name, cluster(node));
      add_url_secret(config.clusters.at(name).proxy_url, config.secrets);
      add_url_secret(config.clusters.at(name).server, config.secrets);
    });
    entries(root, "users", "user", [&](const std::string& name, const YAML::Node& node) {
      config.users.emplace(name, user(node));
      add_user_secrets(node, text_, config.secrets);
    });
    entries(root, "contexts", "context", [&](const std::string& name, const YAML::Node& node) {
      config.contexts.emplace(name, KubeContext{place(node), text(node, "cluster"),
                                                text(node, "user"), text(node, "namespace")});
    });
    return config;
  }

 private:
  Place place(const YAML::Node& node) const {
    const YAML::Mark mark = node.Mark();
    return {path_, mark.line + 1, mark.column + 1};
  }

  static void need_map(const YAML::Node& node, std::string_view what) {
    if (!node.IsMap()) throw Wrong{node.Mark(), fmt::format("{} is a map", what)};
  }

  static std::string text(const YAML::Node& map, const char* key) {
    const YAML::Node node = find(map, key);
    if (!node.IsDefined() || node.IsNull()) return "";
    if (!node.IsScalar()) throw Wrong{node.Mark(), fmt::format("{} is a text", quote(key))};
    if (!support::is_text(node.Scalar()))
      throw Wrong{node.Mark(), fmt::format("{} is UTF-8 text without NUL", quote(key))};
    return node.Scalar();
  }

  static bool truth(const YAML::Node& map, const char* key) {
    const YAML::Node node = find(map, key);
    if (!node.IsDefined() || node.IsNull()) return false;
    bool value = false;
    if (!node.IsScalar() || !YAML::convert<bool>::decode(node, value))
      throw Wrong{node.Mark(), fmt::format("{} is true or false", quote(key))};
    return value;
  }

  std::string file(const YAML::Node& map, const char* key) const {
    std::string name = text(map, key);
    if (name.empty() || name[0] == '/') return name;
    // As the words say it: behind a link, ".." is another folder than in the text, and the system knows which.
    return (std::filesystem::path(folder_) / name).string();
  }

  template <typename Take>
  void entries(const YAML::Node& root, const char* list, const char* inner,
               const Take& take) const {
    const YAML::Node node = find(root, list);
    if (!node.IsDefined() || node.IsNull()) return;
    if (!node.IsSequence()) throw Wrong{node.Mark(), fmt::format("{} is a list", quote(list))};
    std::set<std::string> seen;
    for (const auto& entry : node) {
      need_map(entry, fmt::format("an entry of {}", quote(list)));
      const std::string name = text(entry, "name");
      if (name.empty())
        throw Wrong{entry.Mark(), fmt::format("an entry of {} has no name", quote(list))};
      if (!seen.insert(name).second)
        throw Wrong{entry.Mark(),
                    fmt::format("{} has two entries of the name {}", quote(list), quote(name))};
      YAML::Node body = find(entry, inner);
      if (!body.IsDefined() || body.IsNull()) {
        take(name, YAML::Node(YAML::NodeType::Map));
        continue;
      }
      need_map(body, fmt::format("{} of {}", quote(inner), quote(name)));
      take(name, body);
    }
  }

  KubeCluster cluster(const YAML::Node& node) const {
    KubeCluster out;
    out.place = place(node);
    out.server = text(node, "server");
    out.ca_file = file(node, "certificate-authority");
    out.ca_data = text(node, "certificate-authority-data");
    out.insecure = truth(node, "insecure-skip-tls-verify");
    out.tls_server_name = text(node, "tls-server-name");
    out.proxy_url = text(node, "proxy-url");
    out.disable_compression = truth(node, "disable-compression");
    out.exec_config = exec_config(node);
    return out;
  }

  // What a cluster entry has for the credential programs of its users.
  static std::string exec_config(const YAML::Node& node) {
    const YAML::Node extensions = find(node, "extensions");
    if (!extensions.IsDefined() || !extensions.IsSequence()) return "null";
    for (const auto& entry : extensions) {
      const YAML::Node name = find(entry, "name");
      if (!name.IsDefined() || !name.IsScalar() ||
          name.Scalar() != "client.authentication.k8s.io/exec")
        continue;
      const YAML::Node config = find(entry, "extension");
      if (!config.IsDefined()) return "null";
      std::optional<std::string> json = json_of(config);
      if (!json) throw Wrong{config.Mark(), "this extension is too long or too deep"};
      return *std::move(json);
    }
    return "null";
  }

  KubeExec exec(const YAML::Node& node) const {
    need_map(node, "'exec'");
    KubeExec out;
    out.place = place(node);
    out.api_version = text(node, "apiVersion");
    out.command = text(node, "command");
    // A bare name is looked up in PATH.
    if (out.command.find('/') != std::string::npos) out.command = file(node, "command");
    out.arguments = texts(node, "args");
    const YAML::Node env = find(node, "env");
    if (env.IsDefined() && !env.IsNull()) {
      if (!env.IsSequence()) throw Wrong{env.Mark(), "'env' is a list of name and value"};
      for (const auto& item : env) {
        need_map(item, "an entry of 'env'");
        out.environment.emplace_back(text(item, "name"), text(item, "value"));
      }
    }
    out.interactive_mode = text(node, "interactiveMode");
    out.provide_cluster_info = truth(node, "provideClusterInfo");
    out.install_hint = text(node, "installHint");
    return out;
  }

  KubeUser user(const YAML::Node& node) const {
    KubeUser out;
    out.place = place(node);
    out.certificate_file = file(node, "client-certificate");
    out.certificate_data = text(node, "client-certificate-data");
    out.key_file = file(node, "client-key");
    out.key_data = text(node, "client-key-data");
    out.token = text(node, "token");
    out.token_file = file(node, "tokenFile");
    out.username = text(node, "username");
    out.password = text(node, "password");
    const YAML::Node program = find(node, "exec");
    if (program.IsDefined() && !program.IsNull()) out.exec = exec(program);
    const YAML::Node provider = find(node, "auth-provider");
    if (provider.IsDefined() && !provider.IsNull()) {
      need_map(provider, "'auth-provider'");
      const YAML::Node config = find(provider, "config");
      out.auth_provider = {text(provider, "name"),
                           config.IsDefined() && config.IsMap() ? text(config, "id-token") : ""};
    }
    out.as = text(node, "as");
    out.as_uid = text(node, "as-uid");
    out.as_groups = texts(node, "as-groups");
    const YAML::Node extra = find(node, "as-user-extra");
    if (extra.IsDefined() && !extra.IsNull()) {
      need_map(extra, "'as-user-extra'");
      for (const auto& item : extra) {
        if (!item.first.IsScalar())
          throw Wrong{item.first.Mark(), "a key of 'as-user-extra' is a text"};
        for (const std::string& value : texts(extra, item.first.Scalar().c_str()))
          out.as_extra.emplace_back(item.first.Scalar(), value);
      }
    }
    return out;
  }

  static std::vector<std::string> texts(const YAML::Node& map, const char* key) {
    const YAML::Node node = find(map, key);
    std::vector<std::string> out;
    if (!node.IsDefined() || node.IsNull()) return out;
    if (!node.IsSequence())
      throw Wrong{node.Mark(), fmt::format("{} is a list of texts", quote(key))};
    for (const auto& item : node) {
      if (!item.IsScalar() || !support::is_text(item.Scalar()))
        throw Wrong{item.Mark(), fmt::format("{} is a list of texts", quote(key))};
      out.push_back(item.Scalar());
    }
    return out;
  }

  const std::string& path_;
  std::string_view text_;
  std::string folder_;
};

sdk::Failure invalid(const std::string& path, const YAML::Mark& mark, const std::string& why) {
  const std::string where =
      mark.is_null() ? path : Place{path, mark.line + 1, mark.column + 1}.to_string();
  return {MUSTER_E_INVALID_ARGUMENT, fmt::format("{}: {}", where, why), {}};
}

}  // namespace

std::string Place::to_string() const { return fmt::format("{}:{}:{}", file, line, column); }

sdk::Result<Kubeconfig> parse_kubeconfig(std::string_view text, const std::string& path) {
  if (!support::is_text(text))
    return sdk::Failure{
        MUSTER_E_INVALID_ARGUMENT, fmt::format("{}: this is not UTF-8 text", path), {}};
  try {
    if (const auto key = repeated_key(text))
      return invalid(path, key->mark,
                     fmt::format("the key {} stands there twice", quote(key->name)));
    return Walker(path, text).read(YAML::Load(std::string(text)));
  } catch (const Wrong& wrong) {
    return invalid(path, wrong.mark, wrong.why);
  } catch (const YAML::Exception& wrong) {
    // Behind a colon the library quotes the text, which may be a key.
    return invalid(path, wrong.mark,
                   "this is not YAML: " + wrong.msg.substr(0, wrong.msg.find(':')));
  }
}

}  // namespace muster::kubernetes
