#include "plugins/tpu/api.h"

#include <fmt/format.h>
#include <simdjson.h>

#include "plugins/support/google/pages.h"
#include "plugins/support/http_status.h"
#include "plugins/support/json_at.h"
#include "plugins/support/text.h"

namespace muster::tpu {
namespace {

using support::percent_encoded;
using support::quote;
using support::google::Question;

constexpr int kPage = 500;
constexpr size_t kItemsMaximum = 1 << 20;
constexpr uint64_t kDiscoveryMaximum = uint64_t{16} << 20;

void replace(std::string& text, std::string_view from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// v1 has no queued resources.
const std::string& queued_version(const std::string& version) {
  static const std::string kV2 = "v2";
  return version == "v1" ? kV2 : version;
}

// What is looked at of a node: its metadata may have long startup scripts. The versions refuse each other's fields.
std::string node_fields(const std::string& version) {
  return fmt::format(
      "name,acceleratorType,state,health,healthDescription,schedulingConfig,networkEndpoints,"
      "symptoms,{}",
      version == "v1" ? "tensorflowVersion,ipAddress,port"
                      : "id,runtimeVersion,acceleratorConfig/topology");
}

std::string queued_fields(const std::string& version) {
  return fmt::format("name,state,tpu/nodeSpec(parent,nodeId,node/acceleratorType,{})",
                     version == "v2alpha1" ? "multiNodeParams" : "multisliceParams");
}

std::string list_query(const char* key, const std::string& fields) {
  return fmt::format("?prettyPrint=false&pageSize={}&fields={}", kPage,
                     percent_encoded(fmt::format("nextPageToken,unreachable,{}({})", key, fields)));
}

std::string query(const std::string& fields) {
  return "?prettyPrint=false&fields=" + percent_encoded(fields);
}

}  // namespace

sdk::Result<Place> discover(std::string url, const std::string& version, const sdk::Call& call) {
  replace(url, "{api}", "tpu");
  replace(url, "{apiVersion}", version);
  muster_http_request_v1 request = {};
  request.struct_size = sizeof request;
  request.flags = MUSTER_HTTP_IDEMPOTENT;
  request.method = "GET";
  request.url = url.data();
  request.url_size = url.size();
  request.maximum_body_size = kDiscoveryMaximum;
  request.purpose = "where the API is: its discovery document";
  auto response = call.send(request);
  if (!response) return std::move(response).failure();
  const auto wrong = [&](int32_t code, const std::string& why) {
    return sdk::Failure{code,
                        fmt::format("the discovery document {} {}", quote(url, 500), why),
                        {{"option", "/discovery_url"}}};
  };
  if (const int64_t status = response->status(); status != 200)
    return wrong(support::code_of_status(status),
                 fmt::format("is answered by {} ({})", status, support::status_in_words(status)));
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(response->body().data(), response->body().size()).get(root))
    return wrong(MUSTER_E_DATA_LOSS, "is no JSON");
  Place out;
  out.base = fmt::format("{}{}", support::text_at(root, "/rootUrl"),
                         support::text_at(root, "/servicePath"));
  out.version = support::text_at(root, "/version");
  while (!out.base.empty() && out.base.back() == '/') out.base.pop_back();
  if (out.base.empty()) return wrong(MUSTER_E_DATA_LOSS, "has no rootUrl");
  if (out.version != "v1" && out.version != "v2" && out.version != "v2alpha1")
    return wrong(
        MUSTER_E_UNIMPLEMENTED,
        fmt::format("is of version {}; there are v1, v2 and v2alpha1", quote(out.version)));
  return out;
}

Question Api::question(const std::string& version, const std::string& zone,
                       const std::string& collection, const std::string& rest,
                       const std::string& what) const {
  Question out;
  out.url = fmt::format("{}/{}/projects/{}/locations/{}/{}{}", place_.base, version,
                        percent_encoded(place_.project), percent_encoded(zone), collection, rest);
  out.what =
      fmt::format("{} in {} of project {}", what,
                  zone == kAllZones ? "all zones" : "zone " + quote(zone), quote(place_.project));
  out.purpose = out.what;
  out.role = "roles/tpu.viewer";
  out.service = "tpu.googleapis.com";
  out.project = place_.project;
  out.look =
      fmt::format("gcloud compute tpus tpu-vm list --zone={} --project={}", zone, place_.project);
  return out;
}

sdk::Result<std::optional<Node>> Api::node(const std::string& zone, const std::string& name) {
  Question ask =
      question(place_.version, zone, "nodes/",
               percent_encoded(name) + query(node_fields(place_.version)), "TPU " + quote(name));
  ask.permission = "tpu.nodes.get";
  ask.option = "/tpu";
  auto response = support::google::ask_api(credentials_, ask, call_, true);
  if (!response) return std::move(response).failure();
  if (response->status() == 404) return std::optional<Node>();
  auto read = read_node(response->body());
  if (!read) return std::move(read).failure().with("endpoint", place_.base);
  return std::optional<Node>(*std::move(read));
}

sdk::Result<std::optional<Queued>> Api::queued(const std::string& zone, const std::string& name) {
  Question ask = question(queued_version(place_.version), zone, "queuedResources/",
                          percent_encoded(name) + query(queued_fields(place_.version)),
                          "queued resource " + quote(name));
  ask.permission = "tpu.queuedResources.get";
  ask.option = "/queued_resource";
  auto response = support::google::ask_api(credentials_, ask, call_, true);
  if (!response) return std::move(response).failure();
  if (response->status() == 404) return std::optional<Queued>();
  auto read = read_queued(response->body());
  if (!read) return std::move(read).failure().with("endpoint", place_.base);
  return std::optional<Queued>(*std::move(read));
}

template <typename T, typename Read>
sdk::Result<Listed<T>> Api::list(Question ask, const Read& read) {
  const std::string first = ask.url, purpose = ask.purpose;
  ask.option = "/zone";
  Listed<T> out;
  support::google::Pages pages;
  while (!pages.done()) {
    if (auto paused = pages.pause(call_); !paused) return std::move(paused).failure();
    ask.url = pages.token().empty()
                  ? first
                  : fmt::format("{}&pageToken={}", first, percent_encoded(pages.token()));
    ask.of_a_page = !pages.token().empty();
    ask.purpose =
        pages.number() == 1 ? purpose : fmt::format("{}, page {}", purpose, pages.number());
    auto response = support::google::ask_api(credentials_, ask, call_);
    if (!response) return std::move(response).failure();
    const size_t before = out.items.size();
    auto next = read(response->body(), out);
    if (!next) return std::move(next).failure().with("endpoint", place_.base);
    if (out.items.size() > kItemsMaximum)
      return sdk::Failure{MUSTER_E_RESOURCE_EXHAUSTED,
                          fmt::format("there are more than {} of {}", kItemsMaximum, ask.what),
                          {{"option", ask.option}}};
    if (auto taken = pages.take(out.items.size() - before, *std::move(next),
                                "Cloud TPU's answer for " + ask.what);
        !taken)
      return std::move(taken).failure();
  }
  return out;
}

sdk::Result<Listed<Node>> Api::nodes(const std::string& zone) {
  Question ask = question(place_.version, zone, "nodes",
                          list_query("nodes", node_fields(place_.version)), "TPUs");
  ask.permission = "tpu.nodes.list";
  return list<Node>(
      std::move(ask), [](std::string_view body, Listed<Node>& out) -> sdk::Result<std::string> {
        auto page = read_nodes(body);
        if (!page) return std::move(page).failure();
        std::move(page->nodes.begin(), page->nodes.end(), std::back_inserter(out.items));
        std::move(page->unreachable.begin(), page->unreachable.end(),
                  std::back_inserter(out.unreachable));
        return std::move(page->next);
      });
}

sdk::Result<Listed<Queued>> Api::all_queued(const std::string& zone) {
  Question ask =
      question(queued_version(place_.version), zone, "queuedResources",
               list_query("queuedResources", queued_fields(place_.version)), "queued resources");
  ask.permission = "tpu.queuedResources.list";
  return list<Queued>(
      std::move(ask), [](std::string_view body, Listed<Queued>& out) -> sdk::Result<std::string> {
        auto page = read_queued_list(body);
        if (!page) return std::move(page).failure();
        std::move(page->queued.begin(), page->queued.end(), std::back_inserter(out.items));
        std::move(page->unreachable.begin(), page->unreachable.end(),
                  std::back_inserter(out.unreachable));
        return std::move(page->next);
      });
}

}  // namespace muster::tpu
