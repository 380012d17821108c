// start_thread: a thread that is in nobody's way.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "core/result.h"

namespace muster {

// Runs `body` on a new thread that takes no signals but those of its own faults: the launcher's handlers run on the launcher's
// threads. Its name is "muster:" and `name`, cut to 15 characters. kResourceExhausted, also for want of memory: the system gives no
// thread; the caller has its signals as before.
Result<std::thread> start_thread(const std::string& name, std::function<void()> body);

// A thread that is let go when its owner's scope is left by an exception: std::thread would end the process. Only for a
// body that owns all that it uses.
class LetGo {
 public:
  explicit LetGo(std::thread thread = {}) : thread_(std::move(thread)) {}
  ~LetGo() {
    if (thread_.joinable()) thread_.detach();
  }
  LetGo(const LetGo&) = delete;
  LetGo& operator=(const LetGo&) = delete;
  LetGo& operator=(std::thread thread) {
    if (thread_.joinable()) thread_.detach();
    thread_ = std::move(thread);
    return *this;
  }

  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
};

}  // namespace muster
