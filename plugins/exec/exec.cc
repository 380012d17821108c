// The exec backend: the cluster that a program prints.
#include <fmt/format.h>
#include <simdjson.h>

#include <muster/plugin.hpp>

#include "plugins/exec/options.h"
#include "plugins/exec/printed.h"
#include "plugins/support/checked_push.h"
#include "plugins/support/program.h"
#include "plugins/support/text.h"
#include "plugins/support/tf_config.h"
#include "plugins/support/tf_config_answer.h"

namespace muster::exec {
namespace {

using support::quote;

// clang-format off
MUSTER_DESCRIPTOR({
  "name": "exec",
  "version": "0.1.0",
  "abi": {"major": 1, "minor": 0},
  "description": "The cluster that a program prints: muster's own answer, a TF_CONFIG, Prometheus's file_sd, or lines 'job index address'.",
  "license": "Apache-2.0",
  "services": ["muster.process/1", "muster.address/1"],
  "options": {
    "type": "object",
    "additionalProperties": false,
    "required": ["command"],
    "properties": {
      "command": {
        "description": "The program and its arguments; no shell reads them. A name without a slash is looked up in PATH.",
        "type": "array",
        "minItems": 1,
        "items": {"type": "string"}
      },
      "format": {
        "description": "What it prints. Default: what it looks like.",
        "type": "string",
        "enum": ["answer", "cluster", "tf_config", "file_sd", "lines"]
      },
      "job": {"description": "The job of file_sd's targets without a label 'job'.", "type": "string", "minLength": 1, "default": "worker"},
      "timeout_seconds": {"description": "How long it may run, beside the deadline of the resolve.", "type": "integer", "minimum": 1, "maximum": 86400, "default": 60},
      "maximum_size": {"description": "How many bytes it may print.", "type": "integer", "minimum": 1, "maximum": 1073741824, "default": 16777216}
    }
  }
})
// clang-format on

constexpr const char* kName = "standard output";
constexpr int64_t kIncomplete = 10;

// A program may say why it failed by its status, as the muster command does; of others it is not known.
int32_t code_of_status(int64_t status) {
  switch (status) {
    case 11: return MUSTER_E_NOT_FOUND;
    case 12: return MUSTER_E_INVALID_ARGUMENT;
    case 13: return MUSTER_E_PERMISSION_DENIED;
    case 15: return MUSTER_E_DEADLINE_EXCEEDED;
    default: return MUSTER_E_UNAVAILABLE;
  }
}

sdk::Status push(sdk::Call& call, const Cluster& cluster) {
  support::CheckedPush checked(call);
  for (const std::string& warning : cluster.warnings) checked.add_warning(warning);
  for (const auto& [key, value] : cluster.attributes) checked.set_attribute(key, value);
  for (const std::string& job : cluster.jobs) checked.add_job(job);
  for (const Member& member : cluster.members) {
    checked.add_task({member.job, member.index, member.name, member.address});
    for (const auto& [key, value] : member.attributes) checked.set_attribute(key, value);
    if (checked.stopped()) break;
  }
  for (const MissingMember& missing : cluster.missing)
    checked.add_missing(missing.job, missing.index, missing.name, missing.reason);
  for (const auto& [job, count] : cluster.expected) checked.set_expected(job, count);
  if (!cluster.own_job.empty())
    checked.set_identity(
        cluster.own_job, cluster.own_index, {},
        "the program says so" + (cluster.evidence.empty() ? "" : ": " + cluster.evidence));
  return checked.end();
}

class Exec {
 public:
  static sdk::Result<std::unique_ptr<Exec>> create(const sdk::Host&, std::string_view options) {
    auto read = read_options(options);
    if (!read) return std::move(read).failure();
    return std::make_unique<Exec>(*std::move(read));
  }

  explicit Exec(Options options) : options_(std::move(options)) {}

  sdk::Status resolve(sdk::Call& call) {
    sdk::Program program;
    program.arguments = options_.command;
    program.maximum_output_size = options_.maximum_size;
    program.timeout_ns = options_.timeout_s * 1'000'000'000;
    call.progress("waiting for the program " + quote(options_.command[0]));
    auto run = call.run(program);
    if (!run) return std::move(run).failure();
    if (run->exit_status != 0 && run->exit_status != kIncomplete)
      return failed(code_of_status(run->exit_status),
                    fmt::format("failed with exit status {}", run->exit_status), *run);
    if (support::trimmed(run->output).empty())
      return failed(MUSTER_E_NOT_FOUND, "printed nothing: no cluster is said there", *run)
          .with("hint", "a program whose cluster is empty prints {}");
    return take(call, *run);
  }

 private:
  sdk::Status take(sdk::Call& call, const sdk::Run& run) {
    const Format format = options_.format.value_or(detect(run.output));
    const bool incomplete = run.exit_status == kIncomplete;
    bool said_incomplete = false;
    sdk::Status status;
    if (format == Format::kTfConfig) {
      support::TfConfigReader reader(call.host(), run.output, kName, false);
      auto facts = reader.facts();
      if (!facts) {
        status = std::move(facts).failure();
      } else {
        status = support::push_tf_config(call, reader, *facts,
                                         {kName, "the program says so by 'task'", ""});
      }
    } else if (auto cluster = read(call.host(), format, run.output); !cluster) {
      status = std::move(cluster).failure();
    } else {
      said_incomplete = !cluster->complete;
      if (sdk::Status pushed = push(call, *cluster); !pushed)
        return failed(pushed.failure().code,
                      "printed what cannot be used: " + pushed.failure().message, run);
    }
    if (status && incomplete && !said_incomplete)
      return failed(MUSTER_E_DATA_LOSS,
                    "ended with exit status 10, which is an incomplete answer, and printed nothing "
                    "that says what is missing",
                    run);
    if (status) return {};
    return failed(MUSTER_E_DATA_LOSS,
                  "printed what cannot be read as '" + std::string(word_of(format)) +
                      "': " + status.failure().message,
                  run);
  }

  sdk::Result<Cluster> read(const sdk::Host& host, Format format, std::string_view printed) const {
    switch (format) {
      case Format::kAnswer: return read_answer(host, printed, kName);
      case Format::kCluster: return read_bare_cluster(host, printed, kName);
      case Format::kFileSd: return read_file_sd(host, printed, kName, options_.job);
      default: return read_task_lines(host, printed, kName);
    }
  }

  sdk::Failure failed(int32_t code, const std::string& what, const sdk::Run& run) const {
    return {code,
            fmt::format("the program {} {}{}", quote(options_.command[0], 4096), what,
                        support::said_behind(run.error_output)),
            {}};
  }

  Options options_;
};

}  // namespace
}  // namespace muster::exec

MUSTER_PLUGIN(muster::exec::Exec, "exec", "0.1.0")
