// What is checked: a plugin's file, the options for it, and a recording of the world it lives in.
#pragma once

#include <optional>
#include <string>

#include "core/config/config.h"
#include "core/plugin/finder.h"
#include "core/result.h"
#include "core/service/recording.h"

namespace muster::check {

struct Target {
  std::string file;                  // absolute
  std::optional<FoundPlugin> found;  // as it describes itself; else `unusable`
  Error unusable;                    // why it cannot be loaded
  bool program = false;              // an executable that speaks the frames
  std::string helper;     // muster-isolate, when it runs in a process of its own; else ""
  ResolverConfig config;  // with the options that were given
  std::optional<RecordedResolver> recorded;  // what a resolve asked and was answered
};

// Reads the file's description; an executable whose name does not end in `.so` is run for it, if it is trusted. A shared object runs in a
// process of its own when `isolated`. A file that is no plugin is a target too, for the tests of the file alone; kNotFound,
// kPermissionDenied: it cannot be read at all; kFailedPrecondition: muster-isolate cannot be used.
Result<Target> read_target(const std::string& file, bool isolated);

// Gives it options, as JSON, or `@FILE` that has them. kInvalidArgument: they do not fit the schema.
Status set_options(Target& target, const std::string& options);

// The options as the core would hand them to the plugin, or why it would not.
Result<ResolverConfig> checked_options(const Descriptor& descriptor, const std::string& json);

// Gives it a recording (sdk/recording.md); `path` says which resolver of it, "" the only one.
Status set_recording(Target& target, const std::string& file, const std::string& path);

}  // namespace muster::check
