// HttpLibrary: libmuster-http.so, loaded when the first request is made.
#pragma once

#include <muster/transport.h>

#include <functional>
#include <mutex>
#include <string>

#include "core/result.h"
#include "core/service/host.h"

namespace muster {

// [thread-safe]
class HttpLibrary {
 public:
  explicit HttpLibrary(std::function<Result<std::string>()> find) : find_(std::move(find)) {}
  explicit HttpLibrary(const muster_transport_v1* transport);

  // Our own copy of the library's table, loading it if need be; lives as long as this. A failure tells what the finder says, or why
  // the file could not be loaded, and is not remembered: the next request looks again.
  Result<const muster_transport_v1*> transport(const Session& session);

  // Closes what is kept for reuse, if anything was ever loaded.
  void close_idle();

 private:
  Status adopt(const muster_transport_v1* table, const std::string& file);

  std::function<Result<std::string>()> find_;
  std::mutex mutex_;
  bool ready_ = false;
  muster_transport_v1 table_{};
};

}  // namespace muster
