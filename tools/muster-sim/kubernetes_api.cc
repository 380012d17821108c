// The API server: routes, lists and single objects.
#include "kubernetes_api.h"

#include <algorithm>
#include <ctime>

#include <fmt/format.h>

#include "accept.h"
#include "access.h"
#include "discovery.h"
#include "json.h"
#include "list_options.h"
#include "pod_json.h"
#include "pod_protobuf.h"
#include "table.h"
#include "watch.h"

namespace muster::sim {
namespace {

// The pieces of "/api/v1/namespaces/ml/pods/x" after "/api/v1/"; empty if it is another path.
std::vector<std::string> resource_path(std::string_view path) {
  constexpr std::string_view kRoot = "/api/v1/";
  std::vector<std::string> pieces;
  if (!path.starts_with(kRoot)) return pieces;
  path.remove_prefix(kRoot.size());
  while (!path.empty()) {
    const auto slash = path.find('/');
    pieces.emplace_back(path.substr(0, slash));
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return pieces;
}

Wish to_wish(const Call& call, std::vector<std::string> pieces) {
  Wish wish;
  if (pieces.size() >= 3 && pieces[0] == "namespaces") {
    wish.name_space = pieces[1];
    pieces.erase(pieces.begin(), pieces.begin() + 2);
  } else if (pieces.size() == 2 && pieces[0] == "namespaces") {
    wish.name_space = pieces[1];  // RBAC sees a namespace object as being inside itself
  }
  if (!pieces.empty()) wish.resource = pieces[0];
  if (pieces.size() > 1) wish.name = pieces[1];
  const auto watch = call.parameter("watch");
  if (call.method == "GET" || call.method == "HEAD") {
    wish.verb = !wish.name.empty() ? "get" : watch == "1" || watch == "true" ? "watch" : "list";
  } else if (call.method == "POST") {
    wish.verb = "create";
  } else if (call.method == "PUT") {
    wish.verb = "update";
  } else if (call.method == "PATCH") {
    wish.verb = "patch";
  } else {
    wish.verb = wish.name.empty() ? "deletecollection" : "delete";
  }
  return wish;
}

Answer not_found(std::string_view resource, std::string_view name) {
  Status status;
  status.code = 404;
  status.reason = "NotFound";
  status.kind = resource;
  status.name = name;
  status.message = fmt::format("{} \"{}\" not found", resource, name);
  return status.answer();
}

IncludeObject include_object(const Call& call) {
  const auto word = call.parameter("includeObject");
  return word == "None"     ? IncludeObject::kNone
         : word == "Object" ? IncludeObject::kObject
                            : IncludeObject::kMetadata;
}

// {"kind":KIND,"apiVersion":VERSION,"metadata":{...},
std::string list_head(std::string_view kind, std::string_view api_version,
                      std::int64_t resource_version, std::string_view next,
                      std::int64_t remaining) {
  JsonWriter metadata;
  metadata.open_object();
  metadata.member("resourceVersion", std::to_string(resource_version));
  metadata.member_unless_empty("continue", next);
  if (remaining > 0) metadata.member("remainingItemCount", remaining);
  metadata.close_object();
  return fmt::format(R"({{"kind":"{}","apiVersion":"{}","metadata":{},)", kind, api_version,
                     metadata.view());
}

// The places a page consists of, and how it goes on.
struct Page {
  std::vector<std::pair<std::size_t, std::size_t>> runs;  // neighbours, [from, to)
  std::string next;                                       // the continue token, or empty
  std::int64_t remaining = 0;  // told only without selectors, as the real server does
};

Page cut_page(const ListOptions& options, const std::string& name_space, std::int64_t page_size) {
  const auto& store = *options.state;
  auto [at, end] = store.range(name_space);
  if (options.token) at = std::clamp(store.lower_bound(options.token->start), at, end);
  std::int64_t most =
      options.limit > 0 ? options.limit : static_cast<std::int64_t>(store.size()) + 1;
  if (page_size > 0) most = std::min(most, page_size);

  Page page;
  std::int64_t taken = 0;
  std::size_t last = at;
  bool more = false;
  if (!options.selects()) {
    const auto count = std::min(most, static_cast<std::int64_t>(end - at));
    if (count > 0) page.runs.emplace_back(at, at + static_cast<std::size_t>(count));
    last = at + static_cast<std::size_t>(count) - 1;
    more = count > 0 && at + static_cast<std::size_t>(count) < end;
    page.remaining = static_cast<std::int64_t>(end - at) - count;
  } else {
    for (; at < end; ++at) {
      // As the real server has it: a full page has a successor where any pod is behind it, selected or not.
      if (taken == most) {
        more = true;
        break;
      }
      if (!selected(options, store.pod(at))) continue;
      if (!page.runs.empty() && page.runs.back().second == at) {
        ++page.runs.back().second;
      } else {
        page.runs.emplace_back(at, at + 1);
      }
      last = at;
      ++taken;
    }
  }
  if (more) {
    ContinueToken token;
    token.version = store.version();
    token.start = storage_key(store.pod(last));
    token.start += '\0';  // the first key after it
    token.page = options.token ? options.token->page + 1 : 2;
    token.issued_ms = now_ms();
    page.next = token.encode();
  } else {
    page.remaining = 0;
  }
  return page;
}

Answer list_as_json(const ListOptions& options, const Page& page) {
  Answer answer;
  answer.owners.push_back(options.state);
  answer.append(list_head("PodList", "v1", options.state->version(), page.next, page.remaining) +
                "\"items\":[");
  bool first = true;
  for (const auto& [from, to] : page.runs) {
    if (!first) answer.append_view(",");
    answer.append_view(options.state->slice(from, to));
    first = false;
  }
  answer.append_view("]}\n");
  return answer;
}

Answer list_as_protobuf(const ListOptions& options, const Page& page) {
  Answer answer;
  answer.content_type = "application/vnd.kubernetes.protobuf";
  answer.owners.push_back(options.state);
  std::size_t size = 0;
  for (const auto& [from, to] : page.runs) size += options.state->protobuf_slice(from, to).size();
  answer.append(protobuf_list_head(options.state->version(), page.next, page.remaining, size));
  for (const auto& [from, to] : page.runs)
    answer.append_view(options.state->protobuf_slice(from, to));
  answer.append(protobuf_list_tail());
  return answer;
}

// Tables and metadata-only lists: one text for each pod, made by write.
template <typename Write>
Answer list_of(const ListOptions& options, const Page& page, std::string text, Write write) {
  bool first = true;
  for (const auto& [from, to] : page.runs) {
    for (std::size_t i = from; i < to; ++i) {
      if (!first) text += ',';
      text += write(i);
      first = false;
    }
  }
  Answer answer;
  answer.append(text + "]}\n");
  answer.owners.push_back(options.state);
  return answer;
}

std::string partial_object(std::string_view metadata) {
  return fmt::format(
      R"({{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{}}})",
      metadata);
}

Answer one_pod(const Call& call, const PodStore& store, std::size_t place, Form form) {
  const auto& pod = store.pod(place);
  const auto version = store.pod_version(place);
  Answer answer;
  if (form == Form::kTable) {
    answer.append(
        list_head("Table", "meta.k8s.io/v1", version, "", 0) +
        "\"columnDefinitions\":" + pod_columns() + ",\"rows\":[" +
        pod_row(pod, version, store.json(place), include_object(call), std::time(nullptr)) +
        "]}\n");
  } else if (form == Form::kMetadataOnly) {
    answer.append(partial_object(pod_metadata_json(pod, version)) + "\n");
  } else {
    answer.append(R"({"kind":"Pod","apiVersion":"v1",)" + std::string(store.json(place).substr(1)) +
                  "\n");
  }
  return answer;
}

std::string namespace_json(const std::string& name) {
  return fmt::format(
      R"({{"metadata":{{"name":"{0}","uid":"{1}","resourceVersion":"1","creationTimestamp":"2026-01-01T00:00:00Z",)"
      R"("labels":{{"kubernetes.io/metadata.name":"{0}"}}}},"spec":{{"finalizers":["kubernetes"]}},)"
      R"("status":{{"phase":"Active"}}}})",
      name, uuid_of("namespace " + name));
}

}  // namespace

KubernetesApi::KubernetesApi(Kubernetes world, std::shared_ptr<const History> pods, bool with_tls,
                             std::string server_address)
    : world_(std::move(world)),
      pods_(std::move(pods)),
      with_tls_(with_tls),
      server_address_(std::move(server_address)) {}

Answer KubernetesApi::handle(const Call& call) const {
  std::string_view path = call.path;
  if (!world_.path_prefix.empty()) {
    if (!path.starts_with(world_.path_prefix + "/")) return plain_status(404, "", std::nullopt, "");
    path.remove_prefix(world_.path_prefix.size());
  }
  const auto user = authenticate(world_, call, with_tls_);
  if (!user) {
    auto answer = plain_status(401, "", std::nullopt, "");
    answer.authorised = false;
    return answer;
  }
  return route(call, path, *user);
}

Answer KubernetesApi::route(const Call& call, std::string_view path,
                            const std::string& user) const {
  if (path == "/healthz" || path == "/readyz" || path == "/livez") {
    Answer answer;
    answer.content_type = "text/plain; charset=utf-8";
    answer.append("ok");
    return answer;
  }
  if (auto document = discovery_document(path, world_.version, server_address_)) {
    if (!choose_form(call.accept, false)) return plain_status(406, "", std::nullopt, "");
    Answer answer;
    answer.append(*document + "\n");
    return answer;
  }
  if (auto answer = objects(call, path, user)) return *std::move(answer);
  const auto pieces = resource_path(path);
  if (pieces.empty()) {
    Answer answer;
    answer.status = 404;
    answer.content_type = "text/plain; charset=utf-8";
    answer.append("404 page not found\n");
    return answer;
  }
  const auto wish = to_wish(call, pieces);
  if (const auto refusal = authorise(world_, user, wish)) {
    auto answer = refusal->answer();
    answer.authorised = false;
    return answer;
  }
  const bool of_pods = wish.resource == "pods" &&
                       (pieces[0] != "namespaces" || pieces.size() <= 4) &&
                       (pieces[0] == "namespaces" || pieces.size() == 1);
  const bool of_namespaces = wish.resource == "namespaces" && pieces.size() <= 2;
  if (!of_pods && !of_namespaces) return plain_status(404, "", std::nullopt, "");
  if (of_pods && wish.verb == "watch") return watch_pods(call, wish.name_space);
  if (wish.verb != "get" && wish.verb != "list") return plain_status(405, "", std::nullopt, "");
  return of_pods ? pods(call, wish.name_space, wish.name) : namespaces(call, wish.name);
}

std::optional<Answer> KubernetesApi::objects(const Call& call, std::string_view path,
                                             const std::string& user) const {
  const auto below = [&](const Object& object) -> std::optional<std::vector<std::string>> {
    const std::string root = object.api + "/namespaces/";
    if (!path.starts_with(root)) return std::nullopt;
    auto pieces = resource_path("/api/v1/" + std::string(path.substr(root.size())));
    if (pieces.size() < 2 || pieces.size() > 3 || pieces[1] != object.resource) return std::nullopt;
    return pieces;
  };
  const auto state = pods_->now();
  const auto& all = state->objects();
  const auto known = std::find_if(all.begin(), all.end(),
                                  [&](const Object& object) { return below(object).has_value(); });
  if (known == all.end()) return std::nullopt;
  const auto pieces = *below(*known);
  const std::string name = pieces.size() > 2 ? pieces[2] : "";
  const auto watch = call.parameter("watch");
  const bool watches = name.empty() && (watch == "1" || watch == "true");
  const std::string verb = !name.empty() ? "get" : watches ? "watch" : "list";
  if (const auto refusal = authorise(world_, user, {verb, known->resource, pieces[0], name})) {
    auto answer = refusal->answer();
    answer.authorised = false;
    return answer;
  }
  if (call.method != "GET") return plain_status(405, "", std::nullopt, "");
  auto checked = read_watch_options(call, *pods_, world_.streaming_lists);
  if (const auto* refusal = std::get_if<Status>(&checked)) return refusal->answer();
  auto& options = std::get<WatchOptions>(checked);
  Answer answer;
  if (watches) {
    Object like = *known;
    like.name_space = pieces[0];
    answer.stream = make_object_watch(std::move(options), std::move(like), pods_,
                                      std::chrono::milliseconds(world_.bookmark_ms));
    return answer;
  }
  std::string items;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Object& object = all[i];
    if (object.api != known->api || object.resource != known->resource ||
        object.name_space != pieces[0])
      continue;
    if (object.name == name) {
      answer.append(object.json(state->object_version(i)) + "\n");
      return answer;
    }
    if (selected(options.select, object))
      items += (items.empty() ? "" : ",") + object.json(state->object_version(i));
  }
  if (!name.empty())
    return not_found(known->group.empty() ? known->resource : known->resource + "." + known->group,
                     name);
  answer.append(list_head(known->kind + "List", known->api_version, state->version(), "", 0) +
                "\"items\":[" + items + "]}\n");
  return answer;
}

Answer KubernetesApi::pods(const Call& call, const std::string& name_space,
                           const std::string& name) const {
  const auto form = choose_form(call.accept, true, world_.protobuf && name.empty());
  if (!form) return plain_status(406, "", std::nullopt, "");
  if (!name.empty()) {
    const auto store = pods_->now();
    const auto place = store->find(name_space, name);
    if (!place) return not_found("pods", name);
    return one_pod(call, *store, *place, *form);
  }
  const auto checked = read_list_options(call, *pods_, world_.page_life_ms);
  if (const auto* refusal = std::get_if<Status>(&checked)) return refusal->answer();
  const auto& options = std::get<ListOptions>(checked);
  const auto& store = *options.state;
  const auto page = cut_page(options, name_space, world_.page_size);
  if (*form == Form::kJson) return list_as_json(options, page);
  if (*form == Form::kProtobuf) return list_as_protobuf(options, page);
  if (*form == Form::kMetadataOnly) {
    auto head = list_head("PartialObjectMetadataList", "meta.k8s.io/v1", store.version(), page.next,
                          page.remaining);
    return list_of(options, page, head + "\"items\":[", [&](std::size_t i) {
      return partial_object(pod_metadata_json(store.pod(i), store.pod_version(i)));
    });
  }
  const auto include = include_object(call);
  const auto now = std::time(nullptr);
  auto head = list_head("Table", "meta.k8s.io/v1", store.version(), page.next, page.remaining);
  return list_of(options, page, head + "\"columnDefinitions\":" + pod_columns() + ",\"rows\":[",
                 [&](std::size_t i) {
                   return pod_row(store.pod(i), store.pod_version(i), store.json(i), include, now);
                 });
}

Answer KubernetesApi::watch_pods(const Call& call, const std::string& name_space) const {
  const auto form = choose_form(call.accept, true);
  if (!form || *form == Form::kMetadataOnly) return plain_status(406, "", std::nullopt, "");
  auto checked = read_watch_options(call, *pods_, world_.streaming_lists);
  if (const auto* refusal = std::get_if<Status>(&checked)) return refusal->answer();
  Answer answer;
  answer.stream =
      make_watch(std::get<WatchOptions>(std::move(checked)), name_space, *form == Form::kTable,
                 include_object(call), pods_, std::chrono::milliseconds(world_.bookmark_ms));
  return answer;
}

Answer KubernetesApi::namespaces(const Call& call, const std::string& name) const {
  const auto form = choose_form(call.accept, true);
  if (!form || *form == Form::kMetadataOnly) return plain_status(406, "", std::nullopt, "");
  std::vector<std::string> names = world_.namespaces;
  if (!name.empty()) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      return not_found("namespaces", name);
    names = {name};
  }
  const bool table = *form == Form::kTable;
  const auto include = include_object(call);
  const auto now = std::time(nullptr);
  std::string items;
  for (const auto& one : names) {
    if (!items.empty()) items += ',';
    items += table ? namespace_row(one, namespace_json(one), include, now) : namespace_json(one);
  }
  Answer answer;
  if (table) {
    answer.append(list_head("Table", "meta.k8s.io/v1", pods_->now()->version(), "", 0) +
                  "\"columnDefinitions\":" + namespace_columns() + ",\"rows\":[" + items + "]}\n");
  } else if (name.empty()) {
    answer.append(list_head("NamespaceList", "v1", pods_->now()->version(), "", 0) + "\"items\":[" +
                  items + "]}\n");
  } else {
    answer.append(R"({"kind":"Namespace","apiVersion":"v1",)" + items.substr(1) + "\n");
  }
  return answer;
}

}  // namespace muster::sim
