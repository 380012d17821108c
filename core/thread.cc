#include "core/thread.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>

#include <new>
#include <system_error>
#include <utility>

namespace muster {
namespace {

// What this thread lets through, so that a thread that it makes begins with the same. Back as it was at the end.
class FaultsOnly {
 public:
  FaultsOnly() {
    sigset_t blocked;
    ::sigfillset(&blocked);
    // A fault of the plugin must reach the launcher's fault handler (Python's faulthandler, say); blocked, it would just kill.
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
      ::sigdelset(&blocked, fault);
    ::pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  ~FaultsOnly() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  FaultsOnly(const FaultsOnly&) = delete;
  FaultsOnly& operator=(const FaultsOnly&) = delete;

 private:
  sigset_t before_;
};

Error no_thread(const std::string& name, const char* why) {
  return no_memory(fmt::format("the system gives no thread for '{}': {}", name, why));
}

}  // namespace

Result<std::thread> start_thread(const std::string& name, std::function<void()> body) {
  const FaultsOnly inherited;
  try {
    const std::string shown = ("muster:" + name).substr(0, 15);
    std::thread thread(std::move(body));
    ::pthread_setname_np(thread.native_handle(), shown.c_str());
    return Result<std::thread>(std::move(thread));
  } catch (const std::system_error& error) {
    return no_thread(name, error.what());
  } catch (const std::bad_alloc&) {
    return no_thread(name, "out of memory");
  }
}

}  // namespace muster
