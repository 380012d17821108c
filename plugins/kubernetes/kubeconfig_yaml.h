// What the reader of a kubeconfig and of a credential program's output needs of YAML: entries, secrets, and JSON.
#pragma once

#include <yaml-cpp/yaml.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::kubernetes {

// What stands under a key; undefined when nothing does, or this is no map. Looks at scalar keys alone.
YAML::Node find(const YAML::Node& map, const char* key);

// A key that stands twice in one map, wherever that is, and where it does so. Throws what yaml-cpp throws of a text that is no YAML.
struct RepeatedKey {
  std::string name;
  YAML::Mark mark;
};
std::optional<RepeatedKey> repeated_key(std::string_view text);

// The node as JSON, its plain scalars typed as kubectl types them (YAML 1.1). Nothing when it is longer or deeper than any sane one: an
// alias may stand in it a million times.
std::optional<std::string> json_of(const YAML::Node& node);

// A secret, and the pieces of it: a value that stands on several lines of a file is several texts there.
void add_secret(const std::string& value, std::vector<std::string>& secrets);

// Every credential of a user entry of `file`, also of what is not used: what its name says is one, what follows such a flag of a
// program, and each value of 16 bytes or more of a program's environment that stands nowhere else in the file.
void add_user_secrets(const YAML::Node& user, std::string_view file,
                      std::vector<std::string>& secrets);

// What support::secrets_of_url finds in it.
void add_url_secret(const std::string& url, std::vector<std::string>& secrets);

}  // namespace muster::kubernetes
