#include "plugins/kubernetes/selectors.h"

#include <fmt/format.h>

#include <unordered_map>

#include "plugins/kubernetes/refusal.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::quote;

// A process is one task: a pod in two jobs means that the selectors overlap, and no answer would be right.
sdk::Status check_one_job_each(const std::vector<JobMembers>& jobs) {
  if (jobs.size() < 2) return {};
  size_t all = 0;
  for (const JobMembers& job : jobs) all += job.found.members.size();
  std::unordered_map<const Pod*, const std::string*, ByFullName, ByFullName> seen(all);
  for (const JobMembers& job : jobs) {
    for (const Member& member : job.found.members) {
      const auto [at, added] = seen.emplace(member.pod, &job.job);
      if (!added)
        return sdk::Failure{
            MUSTER_E_INVALID_ARGUMENT,
            fmt::format("pod {} matches the selectors of both job {} and job {}, "
                        "and can be a task of one alone",
                        quote(full_name(*member.pod)), quote(*at->second), quote(job.job)),
            {{"option", "/job_to_label_mapping/" + job.job}}};
    }
  }
  return {};
}

// NOT_FOUND when nothing at all matches, so that a chain goes on.
sdk::Status check_found(const std::vector<JobMembers>& jobs, const PodsBySelector& lists,
                        const Access& access) {
  bool any = lists.empty();
  std::string selectors;
  size_t ended = 0;
  for (const JobMembers& job : jobs) any = any || !job.found.members.empty();
  if (any) return {};
  for (const auto& [selector, pods] : lists) {
    selectors += fmt::format("{}{}", selectors.empty() ? "" : ", ", quote(selector, 200));
    ended += pods->size();
  }
  const std::string& first = lists.begin()->first;
  return sdk::Failure{
      MUSTER_E_NOT_FOUND,
      fmt::format(
          "no pod {} matches {} ({}, server {}){}", place_of(access), selectors, access.origin,
          access.server,
          ended == 0 ? std::string() : fmt::format("; {} that do have ended already", ended)),
      {{"hint", fmt::format("kubectl get pods {} -l '{}'",
                            access.name_space.empty() ? "-A" : "-n " + access.name_space, first)},
       {"endpoint", access.server}}};
}

}  // namespace

sdk::Result<std::vector<JobMembers>> find_selected_members(const Access& access,
                                                           const Options& options,
                                                           const PodsBySelector& lists,
                                                           const Judge& judge) {
  std::vector<JobMembers> jobs;
  for (const JobSelectors& job : options.jobs) {
    SelectedPods selected;
    for (const Selector& selector : job.selectors) selected.push_back(lists.at(selector.text));
    jobs.push_back({job.job, find_members(selected, judge)});
  }
  if (auto status = check_one_job_each(jobs); !status) return std::move(status).failure();
  if (auto status = check_found(jobs, lists, access); !status) return std::move(status).failure();
  for (size_t n = 0; n < jobs.size(); ++n)
    if (jobs[n].found.members.empty() && !options.jobs[n].selectors.empty())
      jobs[n].found.warnings.push_back(
          fmt::format("no pod matches the selectors of job {}", quote(jobs[n].job)));
  return jobs;
}

}  // namespace muster::kubernetes
