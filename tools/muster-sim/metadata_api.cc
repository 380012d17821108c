// What a VM's metadata server tells: leaves as text, folders as lists, either as JSON with recursive=true.
#include "metadata_api.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "json.h"
#include "tpu_json.h"

namespace muster::sim {
namespace {

// Leaves by path; what has no leaf below it is not there.
using Tree = std::map<std::string, std::string>;

const Instance* own_instance(const Google& world) {
  for (const auto& instance : world.instances)
    if (instance.name == world.machine->instance &&
        (world.machine->zone.empty() || world.machine->zone == instance.zone))
      return &instance;
  return nullptr;
}

Tree make_tree(const Google& world) {
  const OwnMachine& machine = *world.machine;
  const std::string number = "projects/" + world.project_number;
  Tree tree;
  tree["project/project-id"] = world.project;
  tree["project/numeric-project-id"] = world.project_number;
  if (world.universe != "googleapis.com") tree["universe/universe-domain"] = world.universe;
  if (!machine.zone.empty()) tree["instance/zone"] = number + "/zones/" + machine.zone;
  if (const TpuNode* node = world.machine_node()) {
    tree["instance/zone"] = number + "/zones/" + node->zone;
    for (const auto& [key, value] : tpu_attributes(world, *node))
      tree["instance/attributes/" + key] = value;
    if (static_cast<std::size_t>(machine.worker) < node->hosts.size())
      tree["instance/network-interfaces/0/ip"] =
          node->hosts[static_cast<std::size_t>(machine.worker)].ip;
  }
  for (const auto& [key, value] : machine.attributes) tree["instance/attributes/" + key] = value;
  if (!machine.service_account.empty()) {
    const std::string account = "instance/service-accounts/default/";
    tree[account + "email"] = machine.service_account;
    tree[account + "aliases"] = "default";
    tree[account + "scopes"] = "https://www.googleapis.com/auth/cloud-platform";
  }
  if (own_instance(world) != nullptr || world.machine_node() != nullptr) {
    tree["instance/preempted"] = machine.preempted ? "TRUE" : "FALSE";
    tree["instance/maintenance-event"] = machine.maintenance_event;
  }
  if (const Instance* instance = own_instance(world)) {
    tree["instance/id"] = instance->id;
    tree["instance/name"] = instance->name;
    tree["instance/zone"] = number + "/zones/" + instance->zone;
    tree["instance/machine-type"] = number + "/machineTypes/" + instance->machine_type;
    tree["instance/hostname"] =
        instance->hostname.empty()
            ? fmt::format("{}.{}.c.{}.internal", instance->name, instance->zone, world.project)
            : instance->hostname;
    const std::string nic = "instance/network-interfaces/0/";
    tree[nic + "ip"] = instance->ip;
    tree[nic + "network"] = number + "/networks/" + instance->network;
    if (!instance->ipv6.empty()) tree[nic + "ipv6s"] = instance->ipv6;
    for (const auto& [key, value] : instance->metadata) tree["instance/attributes/" + key] = value;
  }
  return tree;
}

std::string camel_case(const std::string& key) {
  std::string out;
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (key[i] == '-' && i + 1 < key.size()) {
      out += static_cast<char>(std::toupper(static_cast<unsigned char>(key[++i])));
    } else {
      out += key[i];
    }
  }
  return out;
}

// The folder as JSON. Keys lose their dashes but for those of attributes, which users named.
void write_folder(JsonWriter& out, const Tree& tree, const std::string& folder) {
  const bool own_names = folder.ends_with("attributes/");
  out.open_object();
  for (auto at = tree.lower_bound(folder); at != tree.end() && at->first.starts_with(folder);) {
    const std::string rest = at->first.substr(folder.size());
    const auto slash = rest.find('/');
    const std::string key = rest.substr(0, slash);
    out.key(own_names ? key : camel_case(key));
    if (slash != std::string::npos) {
      const std::string below = folder + key + "/";
      write_folder(out, tree, below);
      while (at != tree.end() && at->first.starts_with(below)) ++at;
      continue;
    }
    if (key == "id") {
      out.raw(at->second);  // a number beyond 2^53
    } else if (key == "scopes" || key == "aliases") {
      out.open_array();
      out.value(at->second);
      out.close_array();
    } else {
      out.value(at->second);
    }
    ++at;
  }
  out.close_object();
}

Answer plain(int status, std::string text) {
  Answer answer;
  answer.status = status;
  answer.content_type = "application/text";
  answer.append(std::move(text));
  return answer;
}

Answer answer_path(const Call& call, const Google& world, GoogleTokens& tokens) {
  if (call.metadata_flavor != "Google" || call.forwarded)
    return plain(403, "Missing required header \"Metadata-Flavor\": \"Google\"");
  if (call.method != "GET") return plain(405, "Method not allowed");
  std::string path = call.path.substr(std::string_view("/computeMetadata/v1/").size());
  const Tree tree = make_tree(world);
  // An account goes by "default" and by its address.
  const std::string accounts = "instance/service-accounts/";
  const std::string named = accounts + world.machine->service_account + "/";
  if (!world.machine->service_account.empty() && path.starts_with(named))
    path = accounts + "default/" + path.substr(named.size());
  if (path == accounts + "default/token" && !world.machine->service_account.empty()) {
    JsonWriter out;
    out.open_object();
    out.member("access_token", tokens.give(world));
    out.member("expires_in", world.token_life_s);
    out.member("token_type", "Bearer");
    out.close_object();
    Answer answer;
    answer.append(out.str());
    return answer;
  }
  const auto leaf = tree.find(path);
  const bool recursive = call.parameter("recursive") == "true";
  if (leaf != tree.end() && !recursive) return plain(200, leaf->second);
  if (!path.empty() && !path.ends_with('/')) path += '/';
  const auto first = tree.lower_bound(path);
  if (first == tree.end() || !first->first.starts_with(path)) return plain(404, "Not found");
  if (recursive) {
    JsonWriter out;
    write_folder(out, tree, path);
    Answer answer;
    answer.append(out.str());
    return answer;
  }
  std::string list;
  for (auto at = first; at != tree.end() && at->first.starts_with(path); ++at) {
    const std::string rest = at->first.substr(path.size());
    const std::string line =
        rest.substr(0, rest.find('/') + 1).empty() ? rest : rest.substr(0, rest.find('/') + 1);
    if (!list.ends_with(line + "\n")) list += line + "\n";
  }
  return plain(200, list);
}

}  // namespace

Answer answer_metadata(const Call& call, const Google& world, GoogleTokens& tokens) {
  Answer answer = answer_path(call, world, tokens);
  answer.headers.emplace_back("Server", "Metadata Server for VM");
  if (answer.status == 200) {
    std::string body;
    for (const auto& slice : answer.slices) body += slice;
    answer.headers.emplace_back("ETag", fmt::format("{:016x}", std::hash<std::string>{}(body)));
  }
  if (world.machine->flavor) answer.headers.emplace_back("Metadata-Flavor", "Google");
  return answer;
}

std::string etag_of(const Answer& answer) {
  for (const auto& [name, value] : answer.headers)
    if (name == "ETag") return value;
  return {};
}

AwaitedChange awaited_change(const Call& call, const Answer& answer) {
  const std::string now = etag_of(answer);
  if (now.empty() || call.parameter("wait_for_change") != "true") return {};
  AwaitedChange out;
  // Who knows nothing waits for the next change.
  out.known = call.parameters.count("last_etag") == 0 ? now : call.parameter("last_etag");
  const std::string seconds = call.parameter("timeout_sec");
  const bool number =
      !seconds.empty() && seconds.size() < 6 &&
      std::all_of(seconds.begin(), seconds.end(), [](unsigned char c) { return std::isdigit(c); });
  out.most = std::chrono::seconds(number ? std::stoi(seconds) : 3600);
  return out;
}

}  // namespace muster::sim
