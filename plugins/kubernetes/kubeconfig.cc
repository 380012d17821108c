#include "plugins/kubernetes/kubeconfig.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::quote;

// A shorter piece of a secret is too common a text to be hidden everywhere.
constexpr size_t kShortestPiece = 16;

// What yaml-cpp finds wrong is an exception, and so is what we find while walking: one way out of the depth.
struct Wrong {
  YAML::Mark mark;
  std::string why;
};

class Walker {
 public:
  explicit Walker(const std::string& path)
      : path_(path), folder_(std::filesystem::path(path).parent_path().string()) {}

  Kubeconfig read(const YAML::Node& root) const {
    Kubeconfig config;
    if (!root.IsDefined() || root.IsNull()) return config;  // kubectl takes an empty file
    need_map(root, "a kubeconfig");
    config.current_context = text(root, "current-context");
    entries(root, "clusters", "cluster", [&](const std::string& name, const YAML::Node& node) {
      config.clusters.emplace(name, cluster(node));
      add_password(config.clusters.at(name).proxy_url, config.secrets);
    });
    entries(root, "users", "user", [&](const std::string& name, const YAML::Node& node) {
      config.users.emplace(name, user(node));
      add_secrets(node, config.secrets);
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

  static YAML::Node find(const YAML::Node& map, const char* key) {
    // Looks at scalar keys alone; operator[] converts every key.
    for (const auto& item : map)
      if (item.first.IsScalar() && item.first.Scalar() == key) return item.second;
    return YAML::Node(YAML::NodeType::Undefined);
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
    return (std::filesystem::path(folder_) / name).lexically_normal().string();
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
    const YAML::Node exec = find(node, "exec");
    if (exec.IsDefined() && !exec.IsNull()) {
      need_map(exec, "'exec'");
      out.exec = text(exec, "command");
    }
    const YAML::Node provider = find(node, "auth-provider");
    if (provider.IsDefined() && !provider.IsNull()) {
      need_map(provider, "'auth-provider'");
      out.auth_provider = text(provider, "name");
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

  // A value that stands on several lines of the file is several texts there, so each piece of it is a secret.
  static void add_secret(const std::string& value, std::vector<std::string>& secrets) {
    secrets.push_back(value);
    for (size_t at = 0; (at = value.find_first_not_of(" \n", at)) != std::string::npos;) {
      const size_t end = std::min(value.find_first_of(" \n", at), value.size());
      if (end - at >= kShortestPiece) secrets.push_back(value.substr(at, end - at));
      at = end;
    }
  }

  // Whether what has this name is a credential: id-token, CLIENT_SECRET, --password. Taking every value would hide
  // common words ("default") everywhere.
  static bool names_secret(std::string name) {
    for (char& c : name)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    for (const char* word : {"token", "secret", "password", "key"})
      if (name.find(word) != std::string::npos) return true;
    return false;
  }

  static void add_secrets(const YAML::Node& user, std::vector<std::string>& secrets) {
    for (const char* key : {"token", "password", "client-key-data"})
      if (const std::string value = text(user, key); !value.empty()) add_secret(value, secrets);
    // These are not used, and so not checked either.
    const auto each = [](const YAML::Node& map, const char* key, const auto& take) {
      if (!map.IsDefined() || !map.IsMap()) return;
      const YAML::Node list = find(map, key);
      if (list.IsDefined())
        for (const auto& item : list) take(item);
    };
    each(find(user, "auth-provider"), "config", [&](const auto& item) {
      if (item.first.IsDefined() && item.first.IsScalar() && item.second.IsScalar() &&
          names_secret(item.first.Scalar()))
        add_secret(item.second.Scalar(), secrets);
    });
    const YAML::Node exec = find(user, "exec");
    each(exec, "env", [&](const YAML::Node& item) {
      if (item.IsDefined() && item.IsMap() && names_secret(text(item, "name")))
        add_secret(text(item, "value"), secrets);
    });
    bool next = false;
    each(exec, "args", [&](const YAML::Node& item) {
      if (!item.IsDefined() || !item.IsScalar()) return;
      const std::string& word = item.Scalar();
      const size_t equals = word.find('=');
      const bool flag = word.rfind('-', 0) == 0;
      if (next && !flag) add_secret(word, secrets);
      if (flag && equals != std::string::npos && names_secret(word.substr(0, equals)))
        add_secret(word.substr(equals + 1), secrets);
      next = flag && equals == std::string::npos && names_secret(word);
    });
  }

  // The user and password of http://USER:PASSWORD@HOST.
  static void add_password(const std::string& url, std::vector<std::string>& secrets) {
    const size_t scheme = url.find("://");
    const size_t begin = scheme == std::string::npos ? 0 : scheme + 3;
    const size_t at = url.rfind('@', url.find('/', begin));
    if (at == std::string::npos || at < begin) return;
    const size_t colon = url.find(':', begin);
    if (colon < at) add_secret(url.substr(colon + 1, at - colon - 1), secrets);
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
  std::string folder_;
};

sdk::Failure invalid(const Place& place, const std::string& why) {
  return {MUSTER_E_INVALID_ARGUMENT, fmt::format("{}: {}", place.to_string(), why), {}};
}

sdk::Failure invalid(const std::string& path, const YAML::Mark& mark, const std::string& why) {
  if (mark.is_null()) return {MUSTER_E_INVALID_ARGUMENT, fmt::format("{}: {}", path, why), {}};
  return invalid(Place{path, mark.line + 1, mark.column + 1}, why);
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
  if (user.as.empty() &&
      (!user.as_uid.empty() || !user.as_groups.empty() || !user.as_extra.empty()))
    return "says as-uid, as-groups or as-user-extra without as";
  return "";
}

}  // namespace

std::string Place::to_string() const { return fmt::format("{}:{}:{}", file, line, column); }

sdk::Result<Kubeconfig> parse_kubeconfig(std::string_view text, const std::string& path) {
  if (!support::is_text(text))
    return sdk::Failure{
        MUSTER_E_INVALID_ARGUMENT, fmt::format("{}: this is not UTF-8 text", path), {}};
  try {
    return Walker(path).read(YAML::Load(std::string(text)));
  } catch (const Wrong& wrong) {
    return invalid(path, wrong.mark, wrong.why);
  } catch (const YAML::Exception& wrong) {
    return invalid(path, wrong.mark, "this is not YAML: " + wrong.msg);
  }
}

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
  const auto cluster = config.clusters.find(entry.cluster);
  if (cluster == config.clusters.end())
    return invalid(entry.place,
                   fmt::format("context {} names the cluster {}, which is not there; there are {}",
                               quote(name), quote(entry.cluster), names_of(config.clusters)));
  chosen.cluster = cluster->second;
  if (const std::string why = problem_of(chosen.cluster); !why.empty())
    return invalid(chosen.cluster.place, fmt::format("cluster {} {}", quote(entry.cluster), why));
  if (entry.user.empty()) return chosen;
  const auto user = config.users.find(entry.user);
  if (user == config.users.end())
    return invalid(entry.place,
                   fmt::format("context {} names the user {}, which is not there; there are {}",
                               quote(name), quote(entry.user), names_of(config.users)));
  chosen.user = user->second;
  if (const std::string why = problem_of(chosen.user); !why.empty())
    return invalid(chosen.user.place, fmt::format("user {} {}", quote(entry.user), why));
  return chosen;
}

}  // namespace muster::kubernetes
