#include "core/thread.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>

#include <system_error>
#include <utility>

namespace muster {

Result<std::thread> start_thread(const std::string& name, std::function<void()> body) {
  sigset_t blocked, before;
  ::sigfillset(&blocked);
  // A fault of the plugin must reach the launcher's fault handler (Python's faulthandler, say); blocked, it would just kill.
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
    ::sigdelset(&blocked, fault);
  // The new thread starts with the mask of its maker.
  ::pthread_sigmask(SIG_SETMASK, &blocked, &before);
  Result<std::thread> started = std::thread();
  try {
    std::thread thread(std::move(body));
    ::pthread_setname_np(thread.native_handle(), ("muster:" + name).substr(0, 15).c_str());
    started = std::move(thread);
  } catch (const std::system_error& error) {
    started = Error{
        Code::kResourceExhausted,
        fmt::format("the system gives no thread to run plugin '{}' on: {}", name, error.what()),
        {}};
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace muster
