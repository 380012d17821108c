// The whole answer as one object: what sdk/answer.schema.json describes.
#include "core/format/renderers.h"
#include "core/format/text.h"
#include "core/spec/rfc3339.h"

namespace muster {
namespace {

constexpr int kLevels = 2;  // the answer's members and theirs have lines of their own

void text_or_null(Emitter& out, std::string_view key, const std::string& value) {
  out.key(key);
  if (value.empty()) {
    out.null();
  } else {
    out.text(value);
  }
}

void number_or_null(Emitter& out, std::string_view key, int64_t value) {
  out.key(key);
  if (value < 0) {
    out.null();
  } else {
    out.number(value);
  }
}

void emit_cluster(Emitter& out, const ClusterSpec& spec) {
  std::string address;
  out.begin_map();
  for (const Job& job : spec.jobs()) {
    out.key(job.name);
    const bool dense = job.dense();
    if (dense) {
      out.begin_list();
    } else {
      out.begin_map();
    }
    for (const Task& task : job.tasks) {
      if (!dense) out.key(std::to_string(task.index));
      address.clear();
      task.address.append_to(address);
      out.text(address);
    }
    if (dense) {
      out.end_list();
    } else {
      out.end_map();
    }
  }
  out.end_map();
}

void emit_identity(Emitter& out, const Identity& identity) {
  out.begin_map();
  text_or_null(out, "type", identity.type);
  number_or_null(out, "index", identity.index);
  out.key("evidence");
  out.begin_list();
  for (const std::string& evidence : identity.evidence) out.text(evidence);
  out.end_list();
  out.end_map();
}

void emit_job(Emitter& out, const JobStatus& job) {
  out.begin_map();
  out.key("found");
  out.number(job.found);
  number_or_null(out, "expected", job.expected.value_or(-1));
  out.key("missing");
  out.begin_list();
  for (const MissingTask& missing : job.missing) {
    out.begin_map();
    number_or_null(out, "index", missing.index);
    out.key("name");
    out.text(missing.name);
    out.key("reason");
    out.text(missing.reason);
    out.end_map();
  }
  out.end_list();
  out.end_map();
}

template <typename All>
void emit_attributes(Emitter& out, const All& attributes) {
  out.begin_map();
  for (const auto& [key, value] : attributes) {
    out.key(key);
    out.text(value);
  }
  out.end_map();
}

void emit_tasks(Emitter& out, const ClusterSpec& spec) {
  std::string address;
  out.begin_list();
  for (const Job& job : spec.jobs()) {
    for (const Task& task : job.tasks) {
      out.begin_map();
      out.key("job");
      out.text(job.name);
      out.key("index");
      out.number(task.index);
      out.key("name");
      out.text(task.name);
      out.key("address");
      address.clear();
      task.address.append_to(address);
      out.text(address);
      out.key("attributes");
      emit_attributes(out, task.attributes);
      out.end_map();
    }
  }
  out.end_list();
}

}  // namespace

void emit_sources(Emitter& out, const std::vector<SourceRecord>& sources) {
  out.begin_list();
  for (const SourceRecord& source : sources) {
    out.begin_map();
    out.key("path");
    out.text(source.path);
    out.key("backend");
    out.text(source.backend);
    out.key("status");
    out.text(source.status);
    out.key("message");
    out.text(source.message);
    out.key("tasks");
    out.number(source.tasks);
    out.key("requests");
    out.number(static_cast<int64_t>(source.requests.size()) - source.programs());
    out.key("milliseconds");
    out.number(source.milliseconds);
    out.end_map();
  }
  out.end_list();
}

Result<std::string> render_answer(const Snapshot& snapshot, Emitter::Form form,
                                  const FormatOptions& options) {
  std::string own_master = snapshot.master;
  if (options.task_type || options.task_id || options.rpc_layer) {
    auto asked = master(snapshot, options.task_type, options.task_id, options.rpc_layer);
    if (!asked) return std::move(asked).error();
    own_master = std::move(asked).value();
  }

  Emitter out(form, kLevels);
  out.begin_map();
  out.key("cluster");
  emit_cluster(out, snapshot.spec);
  out.key("task");
  emit_identity(out, snapshot.identity);
  out.key("rpc_layer");
  out.text(snapshot.rpc_layer);
  out.key("environment");
  out.text(snapshot.environment);
  out.key("master");
  out.text(own_master);
  out.key("accelerators");
  out.begin_map();
  for (const auto& [type, count] : snapshot.accelerators) {
    out.key(type);
    out.number(count);
  }
  out.end_map();
  out.key("complete");
  out.boolean(snapshot.complete);
  out.key("jobs");
  out.begin_map();
  for (const JobStatus& job : snapshot.jobs) {
    out.key(job.name);
    emit_job(out, job);
  }
  out.end_map();
  out.key("tasks");
  emit_tasks(out, snapshot.spec);
  out.key("attributes");
  emit_attributes(out, snapshot.attributes);
  out.key("digest");
  out.text(digest(snapshot.spec));
  out.key("time");
  out.text(rfc3339(snapshot.time_ns));
  out.key("stale");
  out.boolean(snapshot.stale);
  out.key("state");
  out.text(state_name(snapshot));
  out.key("stale_since");
  if (snapshot.stale) {
    out.text(rfc3339(snapshot.stale_since_ns));
  } else {
    out.null();
  }
  out.key("sources");
  emit_sources(out, snapshot.sources);
  out.key("warnings");
  out.begin_list();
  for (const std::string& warning : snapshot.warnings) out.text(warning);
  out.end_list();
  out.end_map();
  return std::move(out).take();
}

std::string render_sources_json(const std::vector<SourceRecord>& sources) {
  Emitter out(Emitter::Form::kJson, 1);
  emit_sources(out, sources);
  return std::move(out).take();
}

}  // namespace muster
