#include "plugins/gce/planned.h"

#include <fmt/format.h>

#include <string>

#include "plugins/support/google/metadata.h"

namespace muster::gce {
namespace {

using support::google::Metadata;

constexpr int64_t kPage = 500;
// What Google has long published as the default of a project; the console shows each project's own.
constexpr const char* kQuota = "read requests of the project";
constexpr int64_t kPerMinute = 1500;

class Planner {
 public:
  Planner(sdk::Call& call, const std::string& api) : call_(call), api_(api) {}

  void compute(const char* method, int64_t least, int64_t most, const std::string& reason) {
    call_.add_planned({api_, method, least, most, reason, kQuota, kPerMinute});
  }
  void metadata(const char* path, int64_t least, const char* reason) {
    call_.add_planned({"metadata server", path, least, 1, reason, "", 0});
  }

 private:
  sdk::Call& call_;
  const std::string& api_;
};

}  // namespace

sdk::Status say_planned(const Options& options, support::google::Credentials& credentials,
                        int64_t members, sdk::Call& call) {
  if (auto found = credentials.find(call, false); !found) return found;
  const std::string api = "compute." + credentials.universe();
  Planner plan(call, api);
  for (const auto& asked : credentials.token_requests(call))
    call.add_planned({asked.server, asked.request, 1, 1, asked.reason, "", 0});
  if (options.project.empty() && credentials.project().empty())
    plan.metadata("project/project-id", 1, "nothing else says the project");
  const bool grouped = !options.group.empty();
  if (grouped && options.zone.empty() && options.region.empty())
    plan.metadata("instance/zone", 1, "no option says the zone");

  const int64_t pages = (members + kPage - 1) / kPage;
  if (!options.port.name.empty())
    plan.compute("instanceGroups.get", 1, 1, "the port is one of the group's named ones");
  if (grouped) {
    plan.compute("instanceGroupManagers.listManagedInstances", 1, pages,
                 "the whole group at once, or 500 a page where it is set to PAGINATED");
    // Groups that are not managed are in one zone.
    if (options.region.empty())
      plan.compute("instanceGroups.listInstances", 0, pages,
                   "500 a page, of a group that is not managed");
    plan.compute(options.region.empty() ? "instances.list" : "instances.aggregatedList", pages,
                 pages,
                 "500 a page of all in its zones, as if there were no others; the last 50 or so "
                 "are asked for by their names");
  } else {
    plan.compute(options.zone.empty() ? "instances.aggregatedList" : "instances.list", pages, pages,
                 options.filter.empty()
                     ? "500 a page of all instances, as if each had the tag"
                     : "500 a page; what the filter looks through counts to another quota, "
                       "filtered_list_cost_overhead");
  }
  if (Metadata::expected(call))
    plan.metadata("instance/id", 1, "which of them this is; a later resolve knows it");
  return {};
}

}  // namespace muster::gce
