// From the command line to the settings of <muster/muster.h>.
#pragma once

#include "tools/muster/handles.h"
#include "tools/muster/options.h"

namespace muster_command {

// Null, with a message said, when a setting is refused or standard input cannot be read (-f -).
Settings make_settings(const Options& options);

// The `write` of muster_settings_set_log that says each line on stderr.
void write_log(void*, int32_t level, const char* text, size_t size);
// The least level of lines that the command line wants said.
int32_t log_level(const Options& options);

// Says the error and gives its exit status.
int report(const Error& error);

}  // namespace muster_command
