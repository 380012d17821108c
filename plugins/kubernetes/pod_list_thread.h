// Reads pages in a thread of its own, beside the one that receives them. Knows nothing of networks.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "plugins/kubernetes/pod_list_stream.h"

namespace muster::kubernetes {

// Used by one thread, as a PodListStream is, and called alike. The other thread begins with the first page that is worth it; where
// none can be had, this one reads. Protobuf it always reads: that takes less time than handing it over.
class PodListThread {
 public:
  // `stream` outlives this, and is left alone but for this.
  explicit PodListThread(PodListStream& stream) : stream_(stream) {}
  ~PodListThread();
  PodListThread(const PodListThread&) = delete;
  PodListThread& operator=(const PodListThread&) = delete;

  // Before each page; what was not read of the one before is forgotten.
  void begin();
  // As PodListStream's; a failure may be told later than it happened. Waits while the other thread is far behind.
  sdk::Status take(std::string_view bytes);
  sdk::Result<std::string> finish();
  // Whether any byte of this page came.
  bool began() const { return taken_ != 0; }

 private:
  void run();
  void wait_until_idle(std::unique_lock<std::mutex>& lock);

  PodListStream& stream_;
  size_t taken_ = 0;     // bytes of this page
  bool beside_ = false;  // the other thread reads what comes now
  std::thread thread_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string waiting_;  // to be read
  bool reading_ = false;
  bool draining_ = false;  // all that waits is to be read, however little
  bool ended_ = false;
  std::optional<sdk::Failure> failed_;
};

}  // namespace muster::kubernetes
