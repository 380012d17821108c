// Every process that this one has to see the end of.
#pragma once

#include <sys/types.h>

#include <vector>

namespace muster::isolate {

// The children of this process, theirs, and so on, parents first: as proc_pid_task_children(5) has them, so one that is just made
// or moved may be missing. The children of a process that is being torn down are its own until that is over.
std::vector<pid_t> descendants();

}  // namespace muster::isolate
