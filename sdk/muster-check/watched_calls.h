// The functions of the system that ask the world: what a plugin has services for (MP-14).
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace muster::check {

// What to call instead of one of them: it says who is asked, as `getenv("HOME")`, to who listens, and then does it.
struct WatchedCall {
  std::string symbol;   // by which a shared object is bound to it
  const void* real;     // what it is bound to
  const void* instead;  // of the same type
};

// `listener` is called on the thread that asks; it is one for the process.
std::vector<WatchedCall> watched_calls(std::function<void(const std::string& asked)> listener);

}  // namespace muster::check
