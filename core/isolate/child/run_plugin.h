// A shared object at work in this process, for the core at the other end of the frames.
#pragma once

#include <string>

namespace muster::isolate {

// `identity` is that of the file which the core has checked: identity_of(FoundPlugin). Returns at the end of the frames; the exit status.
int run_plugin(const std::string& file, const std::string& identity);

}  // namespace muster::isolate
