#include <fmt/format.h>
#include <google/protobuf/stubs/common.h>

#include <algorithm>
#include <limits>

#include "core/format/format.h"
#include "core/format/proto/cluster.pb.h"
#include "core/spec/quote.h"

namespace muster {
namespace {

// TensorFlow's as_cluster_def() sorts so as well.
std::vector<const Job*> jobs_by_name(const ClusterSpec& spec) {
  std::vector<const Job*> jobs;
  for (const Job& job : spec.jobs()) jobs.push_back(&job);
  std::sort(jobs.begin(), jobs.end(), [](const Job* a, const Job* b) { return a->name < b->name; });
  return jobs;
}

// A string of protobuf's text form: what is not printable ASCII as three octal digits.
void append_text_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '\'') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += fmt::format("\\{:03o}", byte);
    } else {
      out += c;
    }
  }
  out += '"';
}

Error refuse(const std::string& reason) {
  return Error{
      Code::kInvalidArgument, "these bytes are not a ClusterDef that muster takes: " + reason, {}};
}

}  // namespace

std::string cluster_to_cluster_def(const ClusterSpec& spec) {
  proto::ClusterDef def;
  for (const Job* job : jobs_by_name(spec)) {
    proto::JobDef* job_def = def.add_job();
    job_def->set_name(job->name);
    job_def->mutable_tasks()->Reserve(static_cast<int>(job->tasks.size()));
    for (const Task& task : job->tasks) {
      auto* entry = job_def->add_tasks();
      entry->set_key(task.index);
      entry->set_value(task.address.to_string());
    }
  }
  return def.SerializeAsString();
}

std::string cluster_to_cluster_def_text(const ClusterSpec& spec) {
  std::string out;
  for (const Job* job : jobs_by_name(spec)) {
    out += "job {\n  name: ";
    append_text_string(out, job->name);
    out += '\n';
    for (const Task& task : job->tasks) {
      out += fmt::format("  tasks {{\n    key: {}\n    value: ", task.index);
      append_text_string(out, task.address.to_string());
      out += "\n  }\n";
    }
    out += "}\n";
  }
  return out;
}

Result<ClusterSpec> cluster_from_cluster_def(std::string_view bytes) {
  proto::ClusterDef def;
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !def.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return refuse("the protobuf is cut off, damaged, or of another message");
  }
  ClusterSpec spec;
  for (const proto::JobDef& job_def : def.job()) {
    // TensorFlow takes the last of two jobs of one name and loses the first (SPEC-5).
    if (spec.find(job_def.name()) != nullptr)
      return refuse(fmt::format("job {} stands twice", quote(job_def.name())));
    std::vector<Task> tasks;
    tasks.reserve(static_cast<size_t>(job_def.tasks_size()));
    for (const auto& entry : job_def.tasks()) {
      auto address = Address::parse(entry.value());
      if (!address)
        return refuse(fmt::format("job {}, task {}: {}", quote(job_def.name()), entry.key(),
                                  address.error().message));
      tasks.push_back(Task{entry.key(), std::move(address).value(), {}, {}});
    }
    if (Status status = spec.add_tasks(job_def.name(), std::move(tasks)); !status)
      return refuse(status.error().message);
  }
  return spec;
}

}  // namespace muster
