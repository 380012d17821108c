// kubeconfig: what kubectl reads to reach a cluster. Texts in, one chosen entry out; reads no file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/plugin.hpp>

namespace muster::kubernetes {

// Where something stands, for errors: "/home/u/.kube/config:12:5".
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
  std::string to_string() const;
};

struct KubeCluster {
  Place place;
  std::string server;
  std::string ca_file, ca_data;
  bool insecure = false;
  std::string tls_server_name;
  std::string proxy_url;
  bool disable_compression = false;
  std::string exec_config = "null";  // JSON: the extension for credential programs
};

// A program that gives the credentials.
struct KubeExec {
  Place place;
  std::string api_version;
  std::string command;  // a path when it has a slash in it, else a name
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string interactive_mode;  // "" is IfAvailable
  bool provide_cluster_info = false;
  std::string install_hint;
};

struct KubeAuthProvider {
  std::string name;
  std::string id_token;  // of oidc
};

struct KubeUser {
  Place place;
  std::string certificate_file, certificate_data;
  std::string key_file, key_data;
  std::string token, token_file;
  std::string username, password;
  std::optional<KubeExec> exec;
  std::optional<KubeAuthProvider> auth_provider;
  std::string as, as_uid;
  std::vector<std::string> as_groups;
  std::vector<std::pair<std::string, std::string>> as_extra;
};

struct KubeContext {
  Place place;
  std::string cluster, user, name_space;
};

// One file, or several merged.
struct Kubeconfig {
  std::map<std::string, KubeCluster> clusters;
  std::map<std::string, KubeUser> users;
  std::map<std::string, KubeContext> contexts;
  std::string current_context;
  // Every credential in the file, also of users that nobody chose: a recording holds the file, and must not hold these.
  std::vector<std::string> secrets;
};

// Reads one file's text, YAML or JSON. File names in it are relative to the folder of `path`, and get it in front; else they stay as they are written.
// INVALID_ARGUMENT with path:line:column for what is no YAML, a wrong type, a name or a key that stands twice. No value of the file is in it.
sdk::Result<Kubeconfig> parse_kubeconfig(std::string_view text, const std::string& path);

// kubectl's rule for several files: the first that has an entry of a name wins that whole entry, and the
// first that sets current-context wins that.
void merge_kubeconfig(Kubeconfig& into, Kubeconfig from);

// The entries that a context names, and the context's own name.
struct Chosen {
  std::string context;
  KubeCluster cluster;
  KubeUser user;
  std::string name_space;  // "" when the context has none
  std::string cluster_name, user_name;
};

// The entries of `context`, or of the current one, checked as client-go checks them (both file and data, a
// certificate without key, two ways to log in, ...). INVALID_ARGUMENT names the entry and its place.
sdk::Result<Chosen> choose_context(const Kubeconfig& config,
                                   const std::optional<std::string>& context);

}  // namespace muster::kubernetes
