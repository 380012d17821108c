// What a shared object in this process asks the system by itself, instead of the core (MP-14).
#pragma once

#include <functional>
#include <string>

namespace muster::check {

// From now on each call of `library` (of dlopen) to one of the watched functions is told to `listener`, on its thread, as `getenv("HOME")`,
// and then done. Its own calls alone: it is bound to other functions than the rest of the process. Not seen is what it asks while it is
// loaded, what it finds by dlsym, and what other libraries ask for it.
void watch_own_calls(void* library, std::function<void(const std::string& asked)> listener);

}  // namespace muster::check
