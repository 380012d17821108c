// Compute Engine: routes, lists, pages.
#include "compute_api.h"

#include <algorithm>

#include <fmt/format.h>
#include <rapidjson/document.h>

#include "compute_filter.h"
#include "compute_json.h"
#include "google_error.h"
#include "google_list.h"
#include "metadata_api.h"

namespace muster::sim {
namespace {

constexpr std::string_view kRoot = "/compute/v1/projects/";
constexpr std::string_view kMetadata = "/computeMetadata/v1/";
constexpr std::int64_t kPageMaximum = 500;

Answer not_found(const std::string& what) {
  return google_error(404, "notFound", fmt::format("The resource '{}' was not found", what));
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

}  // namespace

ComputeApi::ComputeApi(Google world, std::shared_ptr<GoogleTokens> tokens, std::string address)
    : world_(std::move(world)), tokens_(std::move(tokens)), tpu_(world_, std::move(address)) {
  for (const auto& instance : world_.instances) {
    JsonWriter out;
    write_instance(out, instance, world_);
    texts_.push_back(out.str());
  }
}

bool ComputeApi::serves(const std::string& path) {
  return path.starts_with(kRoot) || path.starts_with("/computeMetadata/") || path == "/token" ||
         path == "/v1/token" || serves_aws(path) ||
         path.starts_with("/v1/projects/-/serviceAccounts/") || TpuApi::serves(path);
}

Answer ComputeApi::handle(const Call& call) const {
  if (call.path.starts_with("/computeMetadata/")) {
    if (!world_.machine || !call.path.starts_with(kMetadata)) return not_found(call.path);
    return answer_metadata(call, world_, *tokens_);
  }
  if (auto answer = tokens_->handle(call, world_)) return *std::move(answer);
  if (auto answer = tpu_.discovery(call)) return *std::move(answer);
  const bool tpu = TpuApi::serves(call.path);
  if (const auto why = tokens_->refusal(call.authorization, world_); !why.empty())
    return tpu ? api_error(401, why) : google_error(401, "authError", why);
  if (tpu) return tpu_.handle(call);
  // The world never changes: what was worked out once is the answer each time.
  const std::string asked =
      fmt::format("{} {}?{} {}", call.method, call.path, call.query, call.body);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = answered_.find(asked); known != answered_.end()) return known->second;
  }
  Answer answer = route(call);
  const std::lock_guard lock(mutex_);
  return answered_.emplace(asked, std::move(answer)).first->second;
}

Answer ComputeApi::route(const Call& call) const {
  Path path;
  std::string_view rest = std::string_view(call.path).substr(kRoot.size());
  while (!rest.empty()) {
    const auto slash = rest.find('/');
    path.emplace_back(rest.substr(0, slash));
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  }
  if (path.empty() || path[0] != world_.project)
    return not_found("projects/" + (path.empty() ? "" : path[0]));
  const bool get = call.method == "GET";
  if (path.size() == 3 && path[1] == "aggregated" && path[2] == "instances")
    return get ? aggregated(call) : not_found(call.path);
  if (path.size() == 4 && path[1] == "zones" && path[3] == "instances")
    return get ? instances(call, path[2]) : not_found(call.path);
  if (path.size() == 5 && path[1] == "zones" && path[3] == "instances" && get) {
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      const auto& instance = world_.instances[i];
      if (instance.zone == path[2] && (instance.name == path[4] || instance.id == path[4]) &&
          !contains(world_.unlisted, instance.name))
        return google_answer(call, texts_[i]);
    }
    return not_found(call.path.substr(kRoot.size()));
  }
  if (path.size() >= 5 && (path[3] == "instanceGroups" || path[3] == "instanceGroupManagers"))
    return group_call(call, path);
  return not_found(call.path);
}

Answer ComputeApi::group_call(const Call& call, const Path& path) const {
  const bool of_managers = path[3] == "instanceGroupManagers";
  const auto group =
      std::find_if(world_.groups.begin(), world_.groups.end(), [&](const Group& one) {
        return one.name == path[4] && one.place == path[1] + "/" + path[2] &&
               (one.managed || !of_managers);
      });
  if (group == world_.groups.end())
    return not_found(
        fmt::format("projects/{}/{}/{}/{}/{}", path[0], path[1], path[2], path[3], path[4]));
  if (path.size() == 5 && call.method == "GET") {
    JsonWriter out;
    out.open_object();
    out.member("name", group->name);
    const bool zonal = path[1] == "zones";
    out.member(zonal ? "zone" : "region", resource_url(world_, group->place));
    const auto size = static_cast<std::int64_t>(group->members.size());
    out.member(of_managers ? "targetSize" : "size", size);
    if (!group->named_ports.empty()) {
      out.key("namedPorts");
      out.open_array();
      for (const auto& [name, port] : group->named_ports) {
        out.open_object();
        out.member("name", name);
        out.member("port", port);
        out.close_object();
      }
      out.close_array();
    }
    out.close_object();
    return google_answer(call, out.str());
  }
  if (path.size() != 6 || call.method != "POST") return not_found(call.path);
  const std::string action = of_managers ? "listManagedInstances" : "listInstances";
  if (path[5] != action) return not_found(call.path);
  std::string wanted = "ALL";
  if (!of_managers) {
    rapidjson::Document body;
    body.Parse(call.body.c_str());
    if (!body.IsObject())
      return google_error(400, "required", "Required field 'resource' not specified");
    if (body.HasMember("instanceState")) wanted = body["instanceState"].GetString();
    if (wanted != "ALL" && wanted != "RUNNING")
      return google_error(400, "invalid", "Invalid value for field 'resource.instanceState'");
  }
  std::vector<std::string> items;
  for (const auto& member : group->members) {
    const Instance* instance = find(member.zone, member.name);
    if (wanted == "RUNNING" && (instance == nullptr || instance->status != "RUNNING")) continue;
    JsonWriter out;
    if (of_managers) {
      write_managed(out, member, instance, world_);
    } else {
      write_member(out, *group, member, instance, world_);
    }
    items.push_back(out.str());
  }
  return list(call,
              of_managers ? "compute#listManagedInstances" : "compute#instanceGroupsListInstances",
              of_managers ? "managedInstances" : "items", items, !of_managers || group->paginated);
}

Answer ComputeApi::instances(const Call& call, const std::string& zone) const {
  const auto filter = parse_compute_filter(call.parameter("filter"));
  if (!filter) return google_error(400, "invalid", filter.error());
  if (contains(world_.unreachable, zone))
    return google_error(503, "backendError", fmt::format("Zone '{}' is unreachable", zone));
  std::vector<std::string> items;
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const auto& instance = world_.instances[i];
    if (instance.zone == zone && !contains(world_.unlisted, instance.name) && (*filter)(instance))
      items.push_back(texts_[i]);
  }
  return list(call, "compute#instanceList", "items", items, true);
}

Answer ComputeApi::aggregated(const Call& call) const {
  const auto filter = parse_compute_filter(call.parameter("filter"));
  if (!filter) return google_error(400, "invalid", filter.error());
  if (!world_.unreachable.empty() && call.parameter("returnPartialSuccess") != "true")
    return google_error(503, "backendError",
                        fmt::format("Zone '{}' is unreachable", world_.unreachable.front()));
  const auto token = PageToken::of(call);
  if (!token) return google_error(400, "invalid", token.error());
  std::int64_t most = kPageMaximum;
  const auto asked = std::atol(call.parameter("maxResults").c_str());
  if (asked > 0) most = std::min<std::int64_t>(most, asked);
  if (world_.page_size > 0) most = std::min(most, world_.page_size);

  std::map<std::string, std::string> scopes;  // zone -> its instances on this page
  std::size_t at = 0;
  std::int64_t taken = 0;
  bool more = false;
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const auto& instance = world_.instances[i];
    if (contains(world_.unreachable, instance.zone)) continue;
    auto& scope = scopes[instance.zone];
    if (contains(world_.unlisted, instance.name) || !(*filter)(instance)) continue;
    if (at++ < token->start) continue;
    if (taken == most) {
      more = true;
      continue;
    }
    scope += (scope.empty() ? "" : ",") + texts_[i];
    ++taken;
  }
  std::string items;
  for (const auto& [zone, inside] : scopes) {
    items += items.empty() ? "" : ",";
    items += inside.empty()
                 ? fmt::format(R"("zones/{0}":{{"warning":{{"code":"NO_RESULTS_ON_PAGE",)"
                               R"("message":"There are no results for scope 'zones/{0}' on this )"
                               R"(page.","data":[{{"key":"scope","value":"zones/{0}"}}]}}}})",
                               zone)
                 : fmt::format(R"("zones/{}":{{"instances":[{}]}})", zone, inside);
  }
  std::string json =
      fmt::format(R"({{"kind":"compute#instanceAggregatedList","items":{{{}}})", items);
  if (more)
    json += fmt::format(R"(,"nextPageToken":"{}")",
                        token->next(token->start + static_cast<std::size_t>(taken)));
  if (!world_.unreachable.empty()) {
    std::string list;
    for (const auto& zone : world_.unreachable)
      list += fmt::format(R"({}"zones/{}")", list.empty() ? "" : ",", zone);
    json += fmt::format(R"(,"unreachables":[{}])", list);
  }
  return google_answer(call, json + "}");
}

Answer ComputeApi::list(const Call& call, const std::string& kind, const std::string& key,
                        const std::vector<std::string>& items, bool pages) const {
  Page page{0, items.size(), ""};
  if (pages) {
    const auto asked = std::atol(call.parameter("maxResults").c_str());
    if (asked > kPageMaximum || asked < 0)
      return google_error(400, "invalidParameter", "Invalid value for field 'maxResults'");
    auto cut = cut_page(call, world_, items.size(), asked > 0 ? asked : kPageMaximum);
    if (!cut) return google_error(400, "invalid", cut.error());
    page = std::move(*cut);
  }
  std::string json = fmt::format(R"({{"kind":"{}")", kind);
  // An empty list is absent.
  if (page.from < page.to) {
    json += fmt::format(R"(,"{}":[)", key);
    for (std::size_t i = page.from; i < page.to; ++i) json += (i > page.from ? "," : "") + items[i];
    json += "]";
  }
  if (!page.next.empty()) json += fmt::format(R"(,"nextPageToken":"{}")", page.next);
  return google_answer(call, json + "}");
}

const Instance* ComputeApi::find(const std::string& zone, const std::string& name) const {
  const auto found =
      std::lower_bound(world_.instances.begin(), world_.instances.end(), std::tie(zone, name),
                       [](const Instance& one, const auto& wanted) {
                         return std::tie(one.zone, one.name) < wanted;
                       });
  return found != world_.instances.end() && found->zone == zone && found->name == name ? &*found
                                                                                       : nullptr;
}

}  // namespace muster::sim
