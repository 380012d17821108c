// Reads the parts of pages in a thread of its own, beside the one that receives them. Knows nothing of networks.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "plugins/kubernetes/pod_list_parts.h"

namespace muster::kubernetes {

// Used by one thread. The other begins with the first large part; until then, and where none can be had, this one reads.
class PartQueue {
 public:
  explicit PartQueue(PartReader& reader) : reader_(reader) {}
  ~PartQueue();
  PartQueue(const PartQueue&) = delete;
  PartQueue& operator=(const PartQueue&) = delete;

  // Has a part read, in its turn, and leaves other memory in its place. Waits while several are to be read. The result is that of
  // PartReader::read, but "" where it is not known yet: for a part that says the next page's token nobody waits. What
  // fails then is told by the next call of this or `end`.
  sdk::Result<std::string> give(PagePart& part);
  // Waits until all is read.
  sdk::Status end();
  // Forgets the page that has not ended.
  void forget();

 private:
  bool start();
  void run();
  void wait_until_idle(std::unique_lock<std::mutex>& lock);

  static constexpr size_t kAhead =
      10;  // parts that may wait; with the two in work they fit into a processor's own cache

  PartReader& reader_;
  std::thread thread_;

  std::mutex mutex_;
  std::condition_variable given_, taken_;
  std::deque<PagePart> waiting_;
  std::vector<PagePart> spare_;  // for their memory
  bool reading_ = false;
  bool ended_ = false;
  std::optional<sdk::Result<std::string>> result_;  // of the last part, where somebody waits for it
  std::optional<sdk::Failure> failed_;              // what nobody waited for
};

}  // namespace muster::kubernetes
