#include <algorithm>

#include "core/spec/cluster_spec.h"
#include "core/spec/sha256.h"

namespace muster {

// The bytes are those of sdk/digest.md: a job name has no control character, so a line is a line.
std::string digest(const ClusterSpec& spec) {
  std::vector<const Job*> jobs;
  for (const Job& job : spec.jobs()) jobs.push_back(&job);
  std::sort(jobs.begin(), jobs.end(), [](const Job* a, const Job* b) { return a->name < b->name; });

  Sha256 hash;
  std::string text = "muster.digest/1\n";
  for (const Job* job : jobs) {
    text += "job " + job->name + "\n";
    for (const Task& task : job->tasks) {
      text += std::to_string(task.index);
      text += ' ';
      task.address.append_to(text);
      text += '\n';
      if (text.size() > 4096) {
        hash.update(text);
        text.clear();
      }
    }
  }
  hash.update(text);
  return "sha256:" + hash.hex();
}

}  // namespace muster
