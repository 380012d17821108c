#include "core/format/format.h"

#include <fmt/format.h>

#include <charconv>

#include "core/config/config.h"
#include "core/format/renderers.h"
#include "core/format/text.h"
#include "core/spec/quote.h"

namespace muster {
namespace {

const std::vector<std::string> kOptionNames = {"color", "incomplete", "task_type", "task_id",
                                               "rpc_layer"};

std::string list_of(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

// " Did you mean 'x'?" or nothing.
std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const std::string near = nearest(word, known);
  return near.empty() ? "" : fmt::format("; the nearest is '{}'", near);
}

Error bad_option(std::string_view name, std::string_view value, const char* wanted) {
  return Error{Code::kInvalidArgument,
               fmt::format("format option {}={}: write {}", printable(name), quote(value), wanted),
               {}};
}

Status set_option(FormatOptions& options, std::string_view name, std::string_view value) {
  if (name == "color" || name == "incomplete") {
    if (value != "0" && value != "1") return bad_option(name, value, "0 or 1");
    (name == "color" ? options.color : options.incomplete) = value == "1";
  } else if (name == "task_type") {
    if (Status status = check_job_name(value); !status) return status;
    options.task_type = value;
  } else if (name == "task_id") {
    int64_t id = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), id);
    if (error != std::errc() || end != value.data() + value.size() || id < 0 || id > INT32_MAX) {
      return bad_option(name, value, "a number from 0 to 2147483647");
    }
    options.task_id = id;
  } else if (name == "rpc_layer") {
    options.rpc_layer = value;
  } else {
    return Error{Code::kInvalidArgument,
                 fmt::format("{} is not a format option; the options are {}{}", quote(name),
                             list_of(kOptionNames), suggestion(name, kOptionNames)),
                 {}};
  }
  return {};
}

}  // namespace

Result<FormatOptions> parse_format_options(std::string_view text) {
  FormatOptions options;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      return Error{
          Code::kInvalidArgument,
          fmt::format(
              "format option {} has no value; write NAME=VALUE,NAME=VALUE with the names {}",
              quote(item), list_of(kOptionNames)),
          {}};
    }
    if (Status status = set_option(options, item.substr(0, equals), item.substr(equals + 1));
        !status)
      return std::move(status).error();
  }
  return options;
}

const std::vector<FormatName>& format_names() {
  static const std::vector<FormatName> names = {
      {"table",
       "aligned columns for people: every task, what is missing and why, which task this process "
       "is"},
      {"json", "the whole answer as one JSON object (sdk/answer.schema.json)"},
      {"yaml", "the same object as YAML"},
      {"tf_config", "the value of TF_CONFIG, for TensorFlow and what reads it"},
      {"cluster_def", "tensorflow.ClusterDef in protobuf's text form"},
      {"cluster_def_binary", "tensorflow.ClusterDef in protobuf's binary form"},
      {"env",
       "export lines for a POSIX shell: MUSTER_*, TF_CONFIG, MASTER_ADDR, MASTER_PORT, WORLD_SIZE, "
       "RANK"},
      {"addresses", "one host:port a line, in the order of ranks"},
      {"hostfile",
       "one 'HOST slots=N' a line, in the order of ranks, as Open MPI's mpirun takes it"},
      {"names", "one task name a line, in the order of ranks; job/index for a task without a name"},
      {"explain", "what each source was asked and said, how long it took, and why a chain went on"},
  };
  return names;
}

Status refuse_incomplete(const Snapshot& snapshot, const char* format,
                         const FormatOptions& options) {
  if (snapshot.complete || options.incomplete) return {};
  std::string reasons;
  int told = 0;
  for (const JobStatus& job : snapshot.jobs) {
    for (const MissingTask& missing : job.missing) {
      if (++told > 5) break;
      reasons +=
          fmt::format("\n  {} is missing", missing.index >= 0 ? task_label(job.name, missing.index)
                                                              : "a task of " + printable(job.name));
      if (!missing.name.empty()) reasons += fmt::format(" ({})", printable(missing.name));
      if (!missing.reason.empty()) reasons += fmt::format(": {}", printable(missing.reason));
    }
  }
  if (told > 5) reasons += "\n  and more";
  return Error{Code::kFailedPrecondition,
               fmt::format("the answer is incomplete ({}), and {} cannot say so: a reader would "
                           "start with fewer tasks. Wait until all are there, or "
                           "set the format option incomplete=1 to have it all the same{}",
                           count_summary(snapshot), format, reasons),
               {}};
}

Result<std::string> render(const Snapshot& snapshot, std::string_view format,
                           const FormatOptions& options) {
  if (format == "table") return render_table(snapshot, options);
  if (format == "json") return render_answer(snapshot, Emitter::Form::kJson, options);
  if (format == "yaml") return render_answer(snapshot, Emitter::Form::kYaml, options);
  if (format == "explain") return render_explain(snapshot, options);
  for (const FormatName& known : format_names()) {
    if (format != known.name) continue;
    if (Status status = refuse_incomplete(snapshot, known.name, options); !status)
      return std::move(status).error();
    if (format == "tf_config") return render_tf_config(snapshot, options);
    if (format == "cluster_def") return cluster_to_cluster_def_text(snapshot.spec);
    if (format == "cluster_def_binary") return cluster_to_cluster_def(snapshot.spec);
    if (format == "env") return render_env(snapshot, options);
    if (format == "addresses") return render_addresses(snapshot);
    if (format == "hostfile") return render_hostfile(snapshot);
    return render_names(snapshot);
  }
  std::vector<std::string> names;
  for (const FormatName& known : format_names()) names.emplace_back(known.name);
  return Error{Code::kInvalidArgument,
               fmt::format("{} is not a format; the formats are {}{}", quote(format),
                           list_of(names), suggestion(format, names)),
               {}};
}

}  // namespace muster
