// Cloud TPU: routes and lists.
#include "tpu_api.h"

#include <algorithm>

#include <fmt/format.h>

#include "google_error.h"
#include "google_list.h"
#include "tpu_json.h"

namespace muster::sim {
namespace {

constexpr std::int64_t kPageMaximum = 1000;
constexpr const char* kDiscovery = "/$discovery/rest";

bool known_version(const std::string& version) {
  return version == "v1" || version == "v2" || version == "v2alpha1";
}

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> out;
  while (!path.empty()) {
    const auto slash = path.find('/');
    if (slash != 0) out.emplace_back(path.substr(0, slash));
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return out;
}

Answer not_found(const std::string& what) {
  return api_error(404, fmt::format("Resource '{}' was not found", what));
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// A list of `items`, each with the zone it is in, of which those count that the call's location has.
Answer list(const Call& call, const Google& world, const char* key, const std::string& location,
            const std::vector<std::pair<std::string, std::string>>& items) {
  std::vector<const std::string*> wanted;
  for (const auto& [zone, text] : items)
    if ((location == "-" || zone == location) && !contains(world.unreachable, zone))
      wanted.push_back(&text);
  const auto asked = std::atol(call.parameter("pageSize").c_str());
  if (asked < 0) return api_error(400, "Page size must not be negative");
  const auto page =
      cut_page(call, world, wanted.size(),
               asked > 0 ? std::min<std::int64_t>(asked, kPageMaximum) : kPageMaximum);
  if (!page) return api_error(400, "Page token is invalid");
  std::string json;
  const auto member = [&](const std::string& text) { json += (json.empty() ? "" : ",") + text; };
  if (page->from < page->to) {
    std::string inside;
    for (std::size_t i = page->from; i < page->to; ++i)
      inside += (inside.empty() ? "" : ",") + *wanted[i];
    member(fmt::format(R"("{}":[{}])", key, inside));
  }
  if (!page->next.empty()) member(fmt::format(R"("nextPageToken":"{}")", page->next));
  std::string lost;
  for (const auto& zone : world.unreachable)
    if (location == "-" || location == zone)
      lost += fmt::format(R"({}"projects/{}/locations/{}")", lost.empty() ? "" : ",", world.project,
                          zone);
  if (!lost.empty()) member(fmt::format(R"("unreachable":[{}])", lost));
  return google_answer(call, "{" + json + "}");
}

}  // namespace

bool TpuApi::serves(const std::string& path) {
  if (path == kDiscovery) return true;
  const auto parts = split(path);
  return parts.size() >= 4 && known_version(parts[0]) && parts[1] == "projects" &&
         parts[3] == "locations";
}

std::optional<Answer> TpuApi::discovery(const Call& call) const {
  if (call.path != kDiscovery) return std::nullopt;
  const auto version = call.parameter("version");
  if (!known_version(version)) return not_found("tpu " + version);
  Answer answer;
  answer.append(fmt::format(
      R"({{"kind":"discovery#restDescription","id":"tpu:{0}","name":"tpu","version":"{0}",)"
      R"("rootUrl":"http://{1}/","servicePath":"","baseUrl":"http://{1}/"}})",
      version, address_));
  return answer;
}

Answer TpuApi::handle(const Call& call) const {
  const auto path = split(call.path);
  const std::string& version = path[0];
  if (call.method != "GET") return not_found(call.path);
  if (path[2] != world_.project) {
    const char* permission = path.size() == 7 ? "tpu.nodes.get" : "tpu.nodes.list";
    return api_error(
        403,
        fmt::format("Permission '{}' denied on resource '//tpu.googleapis.com/projects/{}' (or it "
                    "may not exist).",
                    permission, path[2]),
        "IAM_PERMISSION_DENIED", permission);
  }
  if (path.size() == 4) {
    std::vector<std::string> zones;
    for (const auto& node : world_.tpus) zones.push_back(node.zone);
    std::sort(zones.begin(), zones.end());
    zones.erase(std::unique(zones.begin(), zones.end()), zones.end());
    std::vector<std::pair<std::string, std::string>> items;
    items.reserve(zones.size());
    for (const auto& zone : zones)
      items.emplace_back(zone,
                         fmt::format(R"({{"name":"projects/{}/locations/{}","locationId":"{}"}})",
                                     world_.project, zone, zone));
    return list(call, world_, "locations", "-", items);
  }
  if (path.size() == 6 || path.size() == 7) {
    if (path[5] == "nodes") return nodes(call, version, path);
    if (path[5] == "queuedResources" && version != "v1") return queued(call, version, path);
  }
  return not_found(call.path);
}

TpuNode TpuApi::now(std::size_t node) const {
  TpuNode out = world_.tpus[node];
  const std::lock_guard lock(mutex_);
  if (out.becomes_after >= 0 && asked_[node]++ >= out.becomes_after) {
    if (!out.becomes_state.empty()) out.state = out.becomes_state;
    if (!out.becomes_health.empty()) out.health = out.becomes_health;
  }
  if (out.state == "CREATING") out.hosts.clear();
  return out;
}

QueuedResource TpuApi::queued_now(std::size_t queued) const {
  QueuedResource out = world_.queued_resources[queued];
  const std::lock_guard lock(mutex_);
  if (out.becomes_after >= 0 && asked_queued_[queued]++ >= out.becomes_after)
    out.state = out.becomes_state;
  return out;
}

Answer TpuApi::nodes(const Call& call, const std::string& version,
                     const std::vector<std::string>& path) const {
  const std::string& location = path[4];
  const std::string name = path.size() == 7 ? path[6] : "";
  std::vector<std::pair<std::string, std::string>> items;
  for (std::size_t i = 0; i < world_.tpus.size(); ++i) {
    const TpuNode& node = world_.tpus[i];
    if (name.empty() ? location != "-" && location != node.zone
                     : name != node.name || location != node.zone)
      continue;
    if (!name.empty() && contains(world_.unreachable, location))
      return api_error(503, fmt::format("Location {} is unreachable", location));
    items.emplace_back(node.zone, node_json(world_, now(i), version));
    if (!name.empty()) return google_answer(call, items.back().second);
  }
  if (!name.empty())
    return not_found(
        fmt::format("projects/{}/locations/{}/nodes/{}", world_.project, location, name));
  return list(call, world_, "nodes", location, items);
}

Answer TpuApi::queued(const Call& call, const std::string& version,
                      const std::vector<std::string>& path) const {
  const std::string& location = path[4];
  std::vector<std::pair<std::string, std::string>> items;
  for (std::size_t i = 0; i < world_.queued_resources.size(); ++i) {
    const QueuedResource& one = world_.queued_resources[i];
    if (path.size() == 6) {
      items.emplace_back(one.zone, queued_json(world_, queued_now(i), version));
    } else if (one.name == path[6] && one.zone == location) {
      return google_answer(call, queued_json(world_, queued_now(i), version));
    }
  }
  if (path.size() == 7)
    return not_found(fmt::format("projects/{}/locations/{}/queuedResources/{}", world_.project,
                                 location, path[6]));
  return list(call, world_, "queuedResources", location, items);
}

}  // namespace muster::sim
