// What the reader of a kubeconfig and of a credential program's output needs of YAML: entries, secrets, and JSON.
#pragma once

#include <yaml-cpp/yaml.h>

#include <optional>
#include <string>
#include <vector>

namespace muster::kubernetes {

// What stands under a key; undefined when nothing does, or this is no map. Looks at scalar keys alone.
YAML::Node find(const YAML::Node& map, const char* key);

// The node as JSON, its plain scalars typed as kubectl types them (YAML 1.1). Nothing when it is longer or deeper than any sane one: an
// alias may stand in it a million times.
std::optional<std::string> json_of(const YAML::Node& node);

// A secret, and the pieces of it: a value that stands on several lines of a file is several texts there.
void add_secret(const std::string& value, std::vector<std::string>& secrets);

// Every credential of a user entry, also of what is not used: what it says is a secret by its name.
void add_user_secrets(const YAML::Node& user, std::vector<std::string>& secrets);

// The password of http://USER:PASSWORD@HOST.
void add_url_secret(const std::string& url, std::vector<std::string>& secrets);

}  // namespace muster::kubernetes
