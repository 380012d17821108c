// start_thread: a thread that is in nobody's way.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "core/result.h"

namespace muster {

// Runs `body` on a new thread that takes no signals but those of its own faults: the launcher's handlers run on the launcher's
// threads. Its name is "muster:" and `name`, cut to 15 characters. kResourceExhausted: the system gives no thread.
Result<std::thread> start_thread(const std::string& name, std::function<void()> body);

}  // namespace muster
