#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/resolve/part.h"

namespace muster {
namespace {

const JobStatus* find_status(const Part& part, std::string_view job) {
  for (const JobStatus& status : part.jobs) {
    if (status.name == job) return &status;
  }
  return nullptr;
}

// One part's share of one job.
struct Share {
  const Part* part;
  const Job* tasks;         // null: the part only expects it or misses members of it
  const JobStatus* status;  // null: nothing said
  int64_t offset = 0;       // added to its indices

  int64_t found() const { return tasks == nullptr ? 0 : static_cast<int64_t>(tasks->tasks.size()); }

  // How many places the share takes as a list, or -1 when it is a map. Gaps are no map where missing members or the
  // expected count account for them.
  int64_t places() const {
    std::vector<int64_t> indices;
    if (tasks != nullptr) {
      for (const Task& task : tasks->tasks) indices.push_back(task.index);
    }
    int64_t unplaced = 0;
    if (status != nullptr) {
      for (const MissingTask& missing : status->missing) {
        if (missing.index >= 0) {
          indices.push_back(missing.index);
        } else {
          ++unplaced;
        }
      }
    }
    std::sort(indices.begin(), indices.end());
    indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
    const int64_t count = static_cast<int64_t>(indices.size());
    const int64_t end = indices.empty() ? 0 : indices.back() + 1;
    const int64_t expected = status != nullptr && status->expected ? *status->expected : 0;
    if (end != count && end > expected && end > count + unplaced) return -1;
    return std::max({end, expected, count + unplaced});
  }
};

std::string place_of(const Identity& identity) {
  return fmt::format("{} {}", identity.type, identity.index);
}

std::string evidence_of(const Identity& identity) {
  return fmt::format("{}", fmt::join(identity.evidence, "; "));
}

class Merger {
 public:
  Merger(std::string path, std::vector<Part> parts) : parts_(std::move(parts)) {
    merged_.path = std::move(path);
  }

  Result<Part> run() {
    for (const std::string& job : job_names()) {
      if (Status status = merge_job(job); !status) return std::move(status).error();
    }
    for (const Part& part : parts_) {
      if (Status status = merge_identity(part); !status) return std::move(status).error();
      for (const auto& [key, value] : part.attributes) {
        const bool there = std::any_of(merged_.attributes.begin(), merged_.attributes.end(),
                                       [&key = key](const auto& set) { return set.first == key; });
        if (!there) merged_.attributes.emplace_back(key, value);
      }
      merged_.warnings.insert(merged_.warnings.end(), part.warnings.begin(), part.warnings.end());
    }
    warn_of_shared_addresses();
    return std::move(merged_);
  }

 private:
  // First seen first, jobs with tasks of a part before those of which it only expects members.
  std::vector<std::string> job_names() const {
    std::vector<std::string> names;
    const auto add = [&names](const std::string& name) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    };
    for (const Part& part : parts_) {
      for (const Job& job : part.spec.jobs()) add(job.name);
      for (const JobStatus& status : part.jobs) add(status.name);
    }
    return names;
  }

  Status merge_job(const std::string& job) {
    std::vector<Share> shares;
    bool in_spec = false;
    for (const Part& part : parts_) {
      Share share{&part, part.spec.find(job), find_status(part, job)};
      if (share.tasks == nullptr && share.status == nullptr) continue;
      in_spec = in_spec || share.tasks != nullptr;
      shares.push_back(share);
    }
    const bool list = std::all_of(shares.begin(), shares.end(),
                                  [](const Share& share) { return share.places() >= 0; });
    if (list) {
      int64_t next = 0;
      for (Share& share : shares) {
        share.offset = next;
        next += share.places();
      }
    }
    if (in_spec) {
      if (Status status = merged_.spec.add_job(job); !status) return status;
    }
    for (const Share& share : shares) {
      if (Status status = add_tasks(job, share); !status) return status;
      offsets_[share.part][job] = share.offset;
    }
    add_status(job, shares);
    return {};
  }

  Status add_tasks(const std::string& job, const Share& share) {
    if (share.tasks == nullptr) return {};
    for (Task task : share.tasks->tasks) {
      const int64_t index = task.index + share.offset;
      if (share.offset == 0) {  // only then can an index meet another's
        if (const Task* other = merged_.spec.find(job)->find(index)) {
          return Error{
              Code::kAlreadyExists,
              fmt::format("{}: {} {} comes from two sources: {} says {}, {} says {}. A job that "
                          "one source gives as a "
                          "map is merged by index: give each source its own indices, or make all "
                          "of them lists, which "
                          "are then numbered one after another",
                          merged_.path, job, index, owner_of(job, index, share.part),
                          other->address.to_string(), share.part->path, task.address.to_string()),
              {{"path", share.part->path}}};
        }
      }
      if (index > INT32_MAX) {
        return Error{Code::kOutOfRange,
                     fmt::format("{}: {} has more than {} tasks", merged_.path, job, INT32_MAX),
                     {}};
      }
      task.index = static_cast<int32_t>(index);
      if (Status status = merged_.spec.add_task(job, std::move(task)); !status) return status;
    }
    return {};
  }

  // Which earlier part brought this index.
  std::string owner_of(const std::string& job, int64_t index, const Part* before) const {
    for (const Part& part : parts_) {
      if (&part == before) break;
      const Job* tasks = part.spec.find(job);
      const auto offset = offsets_.find(&part);
      if (tasks == nullptr || offset == offsets_.end()) continue;
      const auto of_job = offset->second.find(job);
      if (of_job != offset->second.end() && tasks->find(index - of_job->second) != nullptr)
        return part.path;
    }
    return merged_.path;
  }

  void add_status(const std::string& job, const std::vector<Share>& shares) {
    const bool said = std::any_of(shares.begin(), shares.end(),
                                  [](const Share& share) { return share.status != nullptr; });
    if (!said) return;
    JobStatus merged{job, 0, std::nullopt, {}};
    const bool counted = std::any_of(shares.begin(), shares.end(), [](const Share& share) {
      return share.status != nullptr && share.status->expected.has_value();
    });
    int64_t expected = 0;
    for (const Share& share : shares) {
      expected +=
          share.status == nullptr ? share.found() : expected_or_known(*share.status, share.found());
      if (share.status == nullptr) continue;
      for (MissingTask missing : share.status->missing) {
        if (missing.index >= 0) missing.index += share.offset;
        merged.missing.push_back(std::move(missing));
      }
    }
    if (counted) merged.expected = expected;
    merged_.jobs.push_back(std::move(merged));
  }

  Status merge_identity(const Part& part) {
    if (!part.identity.known()) return {};
    Identity translated = part.identity;
    const auto offset = offsets_[&part].find(translated.type);
    if (offset != offsets_[&part].end()) translated.index += offset->second;
    Identity& merged = merged_.identity;
    if (!merged.known()) {
      merged = std::move(translated);
      identity_path_ = part.path;
      return {};
    }
    if (merged.type != translated.type || merged.index != translated.index) {
      return Error{Code::kFailedPrecondition,
                   fmt::format("{}: two sources disagree about which task this process is: {} says "
                               "{} ({}), {} says {} ({}). Say which "
                               "it is with `task:` in the config, or take the wrong evidence away",
                               merged_.path, identity_path_, place_of(merged), evidence_of(merged),
                               part.path, place_of(translated), evidence_of(translated)),
                   {{"path", part.path}}};
    }
    merged.evidence.insert(merged.evidence.end(), translated.evidence.begin(),
                           translated.evidence.end());
    return {};
  }

  void warn_of_shared_addresses() {
    std::unordered_map<std::string, std::string> seen;
    for (const Job& job : merged_.spec.jobs()) {
      for (const Task& task : job.tasks) {
        std::string place = fmt::format("{} {}", job.name, task.index);
        const auto [first, added] = seen.emplace(task.address.to_string(), place);
        if (!added) {
          merged_.warnings.push_back(fmt::format("{}: {} and {} have the same address {}",
                                                 merged_.path, first->second, place, first->first));
          if (++shared_ >= 10) return;
        }
      }
    }
  }

  std::vector<Part> parts_;
  Part merged_;
  std::unordered_map<const Part*, std::unordered_map<std::string, int64_t>> offsets_;
  std::string identity_path_;
  int shared_ = 0;
};

}  // namespace

Result<Part> merge_parts(std::string path, std::vector<Part> parts) {
  return Merger(std::move(path), std::move(parts)).run();
}

}  // namespace muster
