// An answer in the format that was asked for, and what has to be said beside it.
#pragma once

#include <optional>
#include <string>

#include "tools/muster/handles.h"
#include "tools/muster/options.h"

namespace muster_command {

// Before anything is asked: false, with a message, when -o names no format, or one that is not for this terminal.
bool check_format(const Options& options);

// The text to be printed; `status` is the exit status of a command that prints it: 0, or incomplete. Nothing, with a message, when the
// format cannot say this answer. Warnings are said where the format does not show them.
std::optional<std::string> render(const Snapshot& snapshot, const Options& options, int& status);

// The same without a word; nothing and `error` when the format cannot say this answer.
std::optional<std::string> render_silently(const Snapshot& snapshot, const Options& options,
                                           Error& error);

// "the answer is incomplete: worker 3 of 4", of an answer that is.
std::string incomplete_text(const Snapshot& snapshot);
void say_incomplete(const Snapshot& snapshot);

}  // namespace muster_command
