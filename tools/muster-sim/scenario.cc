// Reading a scenario file.
#include "scenario.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "yaml_reader.h"

namespace muster::sim {
namespace {

TlsOptions read_tls(MapReader& top) {
  TlsOptions tls;
  const auto node = top.get("tls");
  if (!node) return tls;
  if (node->IsScalar()) {
    tls.on = top.boolean("tls").value_or(false);
    return tls;
  }
  MapReader reader(*node, "'tls'", top.problems());
  tls.on = true;
  if (auto names = reader.text_list("names"); !names.empty()) tls.names = std::move(names);
  tls.expired = reader.boolean("expired").value_or(false);
  reader.finish();
  return tls;
}

void read_auth(MapReader& parent, Kubernetes& out) {
  User first;
  const auto node = parent.get("auth");
  MapReader reader(node.value_or(YAML::Node(YAML::NodeType::Map)), "'auth'", parent.problems());
  first.name = reader.text("user").value_or("");
  first.token = reader.text("token").value_or("");
  out.certificate_user = reader.text("certificate_user").value_or(out.certificate_user);
  if (const auto word = reader.word("anonymous", {"deny", "forbid", "allow"})) {
    out.anonymous = *word == "deny"     ? Anonymous::kDeny
                    : *word == "forbid" ? Anonymous::kForbid
                                        : Anonymous::kAllow;
  }
  out.users.push_back(std::move(first));
  for (const auto& entry : reader.maps("users")) {
    MapReader user_reader(entry, "a user", parent.problems());
    User user;
    user.name = user_reader.text("name").value_or("");
    user.token = user_reader.text("token").value_or("");
    user_reader.finish();
    if (user.name.empty()) user_reader.problem("a user needs a 'name'");
    out.users.push_back(std::move(user));
  }
  reader.finish();
}

ForbidRule read_forbid(const YAML::Node& node, Problems& problems) {
  MapReader reader(node, "an entry of 'forbid'", problems);
  ForbidRule rule;
  rule.verbs = reader.text_list("verb");
  rule.resources = reader.text_list("resource");
  rule.namespaces = reader.text_list("namespace");
  rule.users = reader.text_list("user");
  rule.scope = reader.word("scope", {"cluster", "namespace"}).value_or("");
  reader.finish();
  return rule;
}

// Every namespace a pod is in must be known: a misspelt one would look like an empty answer.
void check_namespaces(MapReader& reader, Kubernetes& out) {
  std::set<std::string> known(out.namespaces.begin(), out.namespaces.end());
  const bool given = !known.empty();
  known.insert("default");
  for (const auto& pod : out.pods) {
    if (known.contains(pod.name_space)) continue;
    if (given) {
      reader.problem(fmt::format("pod '{}' is in namespace '{}', which 'namespaces' does not list",
                                 pod.name, pod.name_space));
    }
    known.insert(pod.name_space);
  }
  out.namespaces.assign(known.begin(), known.end());
}

void check_names(MapReader& reader, const Kubernetes& out) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const auto& pod : out.pods) {
    if (!seen.emplace(pod.name_space, pod.name).second) {
      reader.problem(
          fmt::format("pod '{}' is there twice in namespace '{}'", pod.name, pod.name_space));
    }
    if (pod.name.find('/') != std::string::npos) {
      reader.problem(fmt::format("the pod name '{}' has a slash in it", pod.name));
    }
  }
}

Kubernetes read_kubernetes(const YAML::Node& node, Problems& problems) {
  Kubernetes out;
  MapReader reader(node, "'kubernetes'", problems);
  out.version = reader.text("version").value_or(out.version);
  out.path_prefix = reader.text("path_prefix").value_or("");
  if (!out.path_prefix.empty() &&
      (!out.path_prefix.starts_with('/') || out.path_prefix.ends_with('/'))) {
    reader.problem(
        fmt::format("'path_prefix' must begin with a slash and not end with one, unlike '{}'",
                    out.path_prefix));
  }
  out.namespaces = reader.text_list("namespaces");
  out.page_size = reader.number("page_size", 1, 1000000).value_or(0);
  out.page_life_ms = reader.duration_ms("page_life").value_or(out.page_life_ms);
  out.gzip = reader.boolean("gzip").value_or(true);
  out.protobuf = reader.boolean("protobuf").value_or(true);
  out.streaming_lists = reader.boolean("streaming_lists").value_or(true);
  out.bookmark_ms = reader.duration_ms("bookmark_every").value_or(out.bookmark_ms);
  read_auth(reader, out);
  for (const auto& entry : reader.maps("forbid"))
    out.forbid.push_back(read_forbid(entry, problems));
  for (const auto& entry : reader.maps("faults")) {
    MapReader fault(entry, "a fault", problems);
    out.faults.push_back(read_fault(fault));
  }
  for (const auto& entry : reader.maps("pods")) {
    MapReader pod(entry, "a pod", problems);
    read_pods(pod, false, out.pods);
  }
  for (const auto& entry : reader.maps("generate")) {
    MapReader pod(entry, "an entry of 'generate'", problems);
    read_pods(pod, true, out.pods);
  }
  for (const auto& entry : reader.maps("objects")) read_object(entry, problems, out.objects);
  reader.finish();
  check_names(reader, out);
  check_namespaces(reader, out);
  if (out.users.front().name.empty()) {
    const auto other = std::find_if(out.namespaces.begin(), out.namespaces.end(),
                                    [](const auto& name) { return name != "default"; });
    out.users.front().name = fmt::format("system:serviceaccount:{}:muster",
                                         other == out.namespaces.end() ? "default" : *other);
  }
  return out;
}

}  // namespace

Result<Scenario> read_scenario(const std::string& text, const std::string& file) {
  Problems problems(file);
  Scenario scenario;
  try {
    MapReader top(YAML::Load(text), "a scenario", problems);
    scenario.tls = read_tls(top);
    scenario.kubernetes =
        read_kubernetes(top.get("kubernetes").value_or(YAML::Node(YAML::NodeType::Map)), problems);
    if (const auto google = top.get("google")) scenario.google = read_google(*google, problems);
    top.finish();
  } catch (const YAML::Exception& error) {
    problems.add(error.mark, error.msg);
  }
  if (!problems.empty()) return Failure{problems.text()};
  return scenario;
}

}  // namespace muster::sim
