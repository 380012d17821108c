// One function a format; render() of format.h chooses among them. All texts end with a line feed.
#pragma once

#include <optional>
#include <string>

#include "core/format/emit.h"
#include "core/format/format.h"

namespace muster {

Result<std::string> render_answer(const Snapshot& snapshot, Emitter::Form form,
                                  const FormatOptions& options);
std::string render_table(const Snapshot& snapshot, const FormatOptions& options);
std::string render_explain(const Snapshot& snapshot, const FormatOptions& options);
Result<std::string> render_tf_config(const Snapshot& snapshot, const FormatOptions& options);
Result<std::string> render_env(const Snapshot& snapshot, const FormatOptions& options);
std::string render_addresses(const Snapshot& snapshot);
std::string render_hostfile(const Snapshot& snapshot);
std::string render_names(const Snapshot& snapshot);

// The task as which a format speaks: the options' where they are given, each filled up from this process's identity.
// kInvalidArgument: only one of the two is known. kNotFound: no such task, and it is no evaluator, which may stand
// outside of the cluster. An identity that is not known at all is fine.
Result<Identity> speaking_task(const Snapshot& snapshot, const FormatOptions& options);

// What the source says master() is, where nobody names a task: with the scheme that is asked for, by `rpc_layer` or by the user's
// own rpc_layer. nullopt: it says nothing, or not of the task that the user names.
std::optional<std::string> source_master(const Snapshot& snapshot,
                                         const std::optional<std::string>& rpc_layer);

// The answer's "sources" list.
void emit_sources(Emitter& out, const std::vector<SourceRecord>& sources);

// kFailedPrecondition that says what is missing; OK for a complete answer or with options.incomplete.
Status refuse_incomplete(const Snapshot& snapshot, const char* format,
                         const FormatOptions& options);

}  // namespace muster
