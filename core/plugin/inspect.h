// Inspecting: all that is checked of one plugin file before it may be loaded.
#pragma once

#include <string>

#include "core/plugin/finder.h"
#include "core/result.h"

namespace muster {

// Checks trust, pin (64 hex digits, "" for none), ELF, descriptor, name and ABI of `file`, which is meant to hold backend `name`. Opens the
// file once; everything but trust is read through that one descriptor. The error's `hint` says what to do. Leaves `origin` and
// `shadowed` of the answer empty.
Result<FoundPlugin> inspect_file(const std::string& file, const std::string& name,
                                 const std::string& pin);

// An executable, which is `name` ("" for any) by what `search.describe` is told. What cannot be read of its bytes is not looked at.
Result<FoundPlugin> inspect_program(const PluginSearch& search, const std::string& file,
                                    const std::string& name, const std::string& pin,
                                    const std::vector<std::string>& arguments);
// The first part of that: trust, pin, and which file it is.
Result<FoundPlugin> open_program(const std::string& file, const std::string& name,
                                 const std::string& pin);

// The same for a library of the core's own, which has no descriptor and exports muster_service_entry_v1.
Result<FoundPlugin> inspect_service(const std::string& file, const std::string& name,
                                    const std::string& pin);

// True for a readable shared object that exports a service entry: no backend, and not shown among them.
bool is_service_library(const std::string& file);

// kFailedPrecondition when the file at found.path is no longer the one that was inspected.
Status check_unchanged(const FoundPlugin& found);

}  // namespace muster
