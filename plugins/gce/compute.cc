#include "plugins/gce/compute.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/support/google/place.h"
#include "plugins/support/text.h"

namespace muster::gce {
namespace {

using support::percent_encoded;
using support::quote;
using support::google::last_segment;
using support::google::Question;

constexpr int kPage = 500;  // the most that the API gives
// A page may be empty and still have a successor, but not for ever.
constexpr int kPagesMaximum = 20000;

sdk::Failure endless(const std::string& what) {
  return {
      MUSTER_E_DATA_LOSS,
      fmt::format("Compute Engine's answer for {} does not go on: two pages have one token", what),
      {}};
}

}  // namespace

std::string Compute::group_in_words() const {
  return fmt::format("instance group {} in {} of project {}", quote(options_.group),
                     quote(place_.scope), quote(place_.project));
}

Question Compute::question(const std::string& path, const std::string& query) const {
  Question out;
  out.url = fmt::format("{}/projects/{}/{}?{}prettyPrint=false", place_.base,
                        percent_encoded(place_.project), path, query);
  out.role = "roles/compute.viewer";
  out.service = "compute.googleapis.com";
  out.project = place_.project;
  return out;
}

sdk::Result<Group> Compute::group(int& managed) {
  Group out;
  out.managed = managed != 0;
  const std::string what = group_in_words();
  std::string next;
  for (int page = 1; page <= kPagesMaximum; ++page) {
    const char* kind = out.managed ? "instanceGroupManagers" : "instanceGroups";
    const char* method = out.managed ? "listManagedInstances" : "listInstances";
    std::string query = fmt::format("maxResults={}&fields={}&", kPage,
                                    percent_encoded(out.managed ? kManagedFields : kMemberFields));
    if (!next.empty()) query += fmt::format("pageToken={}&", percent_encoded(next));
    Question ask = question(
        fmt::format("{}/{}/{}/{}", place_.scope, kind, percent_encoded(options_.group), method),
        query);
    ask.method = "POST";
    if (!out.managed) ask.body = R"({"instanceState":"ALL"})";
    ask.what = what;
    ask.purpose = fmt::format("{} of {}{}", out.managed ? "what is planned" : "the members",
                              options_.group, page == 1 ? "" : fmt::format(", page {}", page));
    ask.permission =
        out.managed ? "compute.instanceGroupManagers.list" : "compute.instanceGroups.list";
    ask.option = "/instance_group";
    ask.look = fmt::format("gcloud compute instance-groups list --project {}", place_.project);
    // Not managed, or not there at all: the other question tells.
    const bool either = managed < 0 && out.managed && page == 1;
    auto response = support::google::ask_api(credentials_, ask, call_, either);
    if (!response) return std::move(response).failure();
    if (response->status() == 404) {
      out.managed = false;
      page = 0;
      continue;
    }
    managed = out.managed ? 1 : 0;
    auto read = read_group(response->body(), out.managed);
    if (!read) return std::move(read).failure().with("endpoint", place_.base);
    std::move(read->members.begin(), read->members.end(), std::back_inserter(out.members));
    if (read->next.empty()) return out;
    if (read->next == next) return endless(what);
    next = std::move(read->next);
  }
  return endless(what);
}

sdk::Result<int64_t> Compute::group_port() {
  Question ask =
      question(fmt::format("{}/instanceGroups/{}", place_.scope, percent_encoded(options_.group)),
               "fields=namedPorts&");
  ask.what = group_in_words();
  ask.purpose = fmt::format("the named ports of {}", options_.group);
  ask.permission = "compute.instanceGroups.get";
  ask.option = "/instance_group";
  ask.look = fmt::format("gcloud compute instance-groups get-named-ports {}", options_.group);
  auto response = support::google::ask_api(credentials_, ask, call_);
  if (!response) return std::move(response).failure();
  std::string known;
  const int64_t port = named_port(response->body(), options_.port.name, known);
  if (port != 0) return port;
  return sdk::Failure{
      MUSTER_E_INVALID_ARGUMENT,
      fmt::format("{} has no named port {}; {}", ask.what, quote(options_.port.name),
                  known.empty() ? "it has none at all" : "it has " + known),
      {{"option", "/port"},
       {"hint",
        fmt::format("gcloud compute instance-groups set-named-ports {} --named-ports {}:8470",
                    options_.group, options_.port.name)}}};
}

sdk::Result<std::vector<Instance>> Compute::instances(const std::string& zone,
                                                      const std::vector<std::string>& names,
                                                      const std::vector<std::string>& zones) {
  const std::string fields = instance_fields(options_);
  std::string query = fmt::format("maxResults={}&", kPage);
  query += "fields=" +
           percent_encoded(
               zone.empty()
                   ? fmt::format("nextPageToken,unreachables,warning,items/*/warning/code,items/*/"
                                 "instances({})",
                                 fields)
                   : fmt::format("nextPageToken,warning,items({})", fields)) +
           "&";
  // Else one zone that is down would fail the question for all.
  if (zone.empty()) query += "returnPartialSuccess=true&";
  std::string filter = options_.filter;
  if (!names.empty()) {
    filter = "name eq \"(";
    for (const std::string& name : names) filter += (&name == &names[0] ? "" : "|") + name;
    filter += ")\"";
  }
  if (!filter.empty()) query += fmt::format("filter={}&", percent_encoded(filter));
  const std::string what =
      fmt::format("instances in {} of project {}",
                  zone.empty() ? "all zones" : "zone " + quote(zone), quote(place_.project));
  std::vector<Instance> out;
  std::string next;
  for (int page = 1; page <= kPagesMaximum; ++page) {
    Question ask = question(
        zone.empty() ? "aggregated/instances"
                     : fmt::format("zones/{}/instances", percent_encoded(zone)),
        next.empty() ? query : query + fmt::format("pageToken={}&", percent_encoded(next)));
    ask.what = what;
    ask.purpose =
        fmt::format("addresses of {}{}", what, page == 1 ? "" : fmt::format(", page {}", page));
    ask.permission = "compute.instances.list";
    ask.option = !options_.filter.empty() ? "/filter" : zone.empty() ? "/project" : "/zone";
    ask.look = fmt::format("gcloud compute instances list --project {}", place_.project);
    auto response = support::google::ask_api(credentials_, ask, call_);
    if (!response) return std::move(response).failure();
    auto read = read_instances(response->body(), zone, place_.project, options_);
    if (!read) return std::move(read).failure().with("endpoint", place_.base);
    for (const std::string& scope : read->unreachable) {
      const std::string name(last_segment(scope));
      if (!zones.empty() && scope.rfind("zones/", 0) == 0 &&
          std::find(zones.begin(), zones.end(), name) == zones.end())
        continue;
      return sdk::Failure{
          MUSTER_E_UNAVAILABLE,
          fmt::format("Compute Engine's answer lacks {}, which did not answer: the members there "
                      "cannot be told",
                      scope),
          {{"endpoint", place_.base},
           {"hint", "is there an outage? https://status.cloud.google.com"}}};
    }
    std::move(read->instances.begin(), read->instances.end(), std::back_inserter(out));
    if (static_cast<int64_t>(out.size()) > MUSTER_TASKS_MAXIMUM)
      return sdk::Failure{MUSTER_E_RESOURCE_EXHAUSTED,
                          fmt::format("there are more than {} {}", MUSTER_TASKS_MAXIMUM, what),
                          {{"option", ask.option}}};
    if (read->next.empty()) return out;
    if (read->next == next) return endless(what);
    next = std::move(read->next);
  }
  return endless(what);
}

}  // namespace muster::gce
