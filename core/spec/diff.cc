#include "core/spec/cluster_spec.h"

namespace muster {
namespace {

void diff_job(const std::string& name, const Tasks& before, const Tasks& after,
              std::vector<Change>& changes) {
  if (before.shares_with(after)) return;
  auto old = before.begin();
  auto now = after.begin();
  while (old != before.end() || now != after.end()) {
    if (now == after.end() || (old != before.end() && old->index < now->index)) {
      changes.push_back({Change::Kind::kRemoved, name, old->index, old->address.to_string(), ""});
      ++old;
    } else if (old == before.end() || now->index < old->index) {
      changes.push_back({Change::Kind::kAdded, name, now->index, "", now->address.to_string()});
      ++now;
    } else {
      if (old->address != now->address) {
        changes.push_back({Change::Kind::kMoved, name, now->index, old->address.to_string(),
                           now->address.to_string()});
      }
      ++old;
      ++now;
    }
  }
}

}  // namespace

std::vector<Change> diff(const ClusterSpec& before, const ClusterSpec& after) {
  static const Tasks none;
  std::vector<Change> changes;
  for (const Job& job : after.jobs()) {
    const Job* old = before.find(job.name);
    diff_job(job.name, old != nullptr ? old->tasks : none, job.tasks, changes);
  }
  for (const Job& job : before.jobs()) {
    if (after.find(job.name) == nullptr) diff_job(job.name, job.tasks, none, changes);
  }
  return changes;
}

}  // namespace muster
