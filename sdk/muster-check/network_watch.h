// Who connects to the internet: in a test nobody has a reason to, for the servers are muster-check's own.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "core/file_descriptor.h"
#include "core/result.h"

namespace muster::check {

// The kernel holds each connect, and each sendto with an address, of the thread that starts it and of all threads and processes
// that come from it afterwards (seccomp_unotify(2)). Where it goes to the internet it fails with ENETUNREACH, and is told.
class NetworkWatch {
 public:
  // `listener`: called on a thread of its own, with "its process 'python3' connected to 10.0.0.1:80". kUnimplemented: this system does
  // not let a process watch its own. What was begun cannot be taken back: for a process that is one test.
  static Result<std::unique_ptr<NetworkWatch>> start(
      std::function<void(const std::string&)> listener);
  ~NetworkWatch();
  NetworkWatch(const NetworkWatch&) = delete;
  NetworkWatch& operator=(const NetworkWatch&) = delete;

 private:
  NetworkWatch(FileDescriptor held, std::function<void(const std::string&)> listener);
  void look();

  FileDescriptor held_;  // the calls that wait for us
  std::function<void(const std::string&)> listener_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

}  // namespace muster::check
