#include "plugins/gce/lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "plugins/support/google/place.h"
#include "plugins/support/text.h"

namespace muster::gce {
namespace {

using support::percent_encoded;
using support::quote;
using support::google::last_segment;
using support::google::Question;

constexpr int kPage = 500;  // the most that the API gives

std::string page_in_words(int number) {
  return number == 1 ? std::string() : fmt::format(", page {}", number);
}

std::string answer_for(const std::string& what) { return "Compute Engine's answer for " + what; }

}  // namespace

Question compute_question(const Place& place, const std::string& path, const std::string& query) {
  Question out;
  out.url = fmt::format("{}/projects/{}/{}?{}prettyPrint=false", place.base,
                        percent_encoded(place.project), path, query);
  out.role = "roles/compute.viewer";
  out.service = "compute.googleapis.com";
  out.project = place.project;
  return out;
}

std::string group_in_words(const Place& place, const Options& options) {
  return fmt::format("instance group {} in {} of project {}", quote(options.group),
                     quote(place.scope), quote(place.project));
}

Question GroupList::question() const {
  std::string query = fmt::format("maxResults={}&fields={}&", kPage,
                                  percent_encoded(managed_ ? kManagedFields : kMemberFields));
  if (!pages_.token().empty())
    query += fmt::format("pageToken={}&", percent_encoded(pages_.token()));
  Question ask = compute_question(place_,
                                  fmt::format("{}/{}/{}/{}", place_.scope,
                                              managed_ ? "instanceGroupManagers" : "instanceGroups",
                                              percent_encoded(options_.group),
                                              managed_ ? "listManagedInstances" : "listInstances"),
                                  query);
  ask.of_a_page = !pages_.token().empty();
  ask.method = "POST";
  if (!managed_) ask.body = R"({"instanceState":"ALL"})";
  ask.what = what_;
  ask.purpose = fmt::format("{} of {}{}", managed_ ? "what is planned" : "the members",
                            options_.group, page_in_words(pages_.number()));
  ask.permission = managed_ ? "compute.instanceGroupManagers.list" : "compute.instanceGroups.list";
  ask.option = "/instance_group";
  ask.look = fmt::format("gcloud compute instance-groups list --project {}", place_.project);
  return ask;
}

sdk::Status GroupList::take(const sdk::Response& response) {
  if (response.status() == 404) {
    managed_ = false;
    pages_ = {};
    return {};
  }
  known_ = true;
  auto read = read_group(response.body(), managed_);
  if (!read) return std::move(read).failure().with("endpoint", place_.base);
  const size_t entries = read->members.size();
  std::move(read->members.begin(), read->members.end(), std::back_inserter(members_));
  if (static_cast<int64_t>(members_.size()) > MUSTER_TASKS_MAXIMUM)
    return sdk::Failure{
        MUSTER_E_RESOURCE_EXHAUSTED,
        fmt::format("there are more than {} members of {}", MUSTER_TASKS_MAXIMUM, what_),
        {{"option", "/instance_group"}}};
  return pages_.take(entries, std::move(read->next), answer_for(what_));
}

InstanceList::InstanceList(const Place& place, const Options& options, std::string zone,
                           const std::vector<std::string>& names)
    : place_(place),
      options_(options),
      zone_(std::move(zone)),
      what_(fmt::format("instances in {} of project {}",
                        zone_.empty() ? "all zones" : "zone " + quote(zone_),
                        quote(place.project))) {
  const std::string fields = instance_fields(options);
  query_ = fmt::format(
      "maxResults={}&fields={}&", kPage,
      percent_encoded(zone_.empty() ? fmt::format("nextPageToken,unreachables,warning,items/"
                                                  "*/warning/code,items/*/instances({})",
                                                  fields)
                                    : fmt::format("nextPageToken,warning,items({})", fields)));
  // Else one zone that is down would fail the question for all.
  if (zone_.empty()) query_ += "returnPartialSuccess=true&";
  std::string filter = options.filter;
  if (!names.empty()) {
    filter = "name eq \"(";
    for (const std::string& name : names) filter += (&name == &names[0] ? "" : "|") + name;
    filter += ")\"";
  }
  if (!filter.empty()) query_ += fmt::format("filter={}&", percent_encoded(filter));
}

Question InstanceList::question() const {
  Question ask = compute_question(
      place_,
      zone_.empty() ? "aggregated/instances"
                    : fmt::format("zones/{}/instances", percent_encoded(zone_)),
      pages_.token().empty()
          ? query_
          : query_ + fmt::format("pageToken={}&", percent_encoded(pages_.token())));
  // The metadata of one instance may have 512 KB.
  if (query_.find("metadata%2Fitems") != std::string::npos) ask.maximum_size = uint64_t{320} << 20;
  ask.what = what_;
  ask.of_a_page = !pages_.token().empty();
  ask.purpose = fmt::format("addresses of {}{}", what_, page_in_words(pages_.number()));
  ask.permission = "compute.instances.list";
  ask.option = !options_.filter.empty() ? "/filter" : zone_.empty() ? "/project" : "/zone";
  ask.look = fmt::format("gcloud compute instances list --project {}", place_.project);
  return ask;
}

sdk::Status InstanceList::take(const sdk::Response& response) {
  auto read = read_instances(response.body(), zone_, place_.project, options_);
  if (!read) return std::move(read).failure().with("endpoint", place_.base);
  const size_t entries = read->instances.size();
  std::move(read->instances.begin(), read->instances.end(), std::back_inserter(instances_));
  std::move(read->unreachable.begin(), read->unreachable.end(), std::back_inserter(unreachable_));
  if (static_cast<int64_t>(instances_.size()) > MUSTER_TASKS_MAXIMUM)
    return sdk::Failure{MUSTER_E_RESOURCE_EXHAUSTED,
                        fmt::format("there are more than {} {}", MUSTER_TASKS_MAXIMUM, what_),
                        {{"option", question().option}}};
  return pages_.take(entries, std::move(read->next), answer_for(what_));
}

sdk::Status InstanceList::check_reached(const std::vector<std::string>& zones) const {
  for (const std::string& scope : unreachable_) {
    if (!zones.empty() && scope.rfind("zones/", 0) == 0 &&
        std::find(zones.begin(), zones.end(), std::string(last_segment(scope))) == zones.end())
      continue;
    return sdk::Failure{
        MUSTER_E_UNAVAILABLE,
        fmt::format("Compute Engine's answer lacks {}, which did not answer: the members there "
                    "cannot be told",
                    scope),
        {{"endpoint", place_.base},
         {"hint", "is there an outage? https://status.cloud.google.com"}}};
  }
  return {};
}

}  // namespace muster::gce
