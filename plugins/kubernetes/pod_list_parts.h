// A page of pods in JSON, parted as it arrives, so that a part can be read while the next one comes. Knows nothing of networks.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/pod_list.h"

namespace muster::kubernetes {

// The page's head, some of its pods, and brackets that end it: a PodList by itself.
struct PagePart {
  std::string text;
  size_t head = 0;    // the size of that head, up to the items; 0: there is nothing but this part
  bool last = false;  // of its page
  std::string next;   // the continue token that the page's head says; "": none, or not there
};

// Cuts pages. Not thread-safe.
class PageCutter {
 public:
  // `part`: of how many bytes on a part is cut.
  explicit PageCutter(size_t part) : size_(part) { begin(); }

  // Before each page but the first.
  void begin();
  // The next bytes. Whether they made a part whole, which `part` is then; what was in it before is forgotten, but its memory is used again.
  bool take(std::string_view bytes, PagePart& part);
  // How many bytes are in no part yet.
  size_t held() const { return text_.size(); }
  // After the last byte: the rest of the page.
  void finish(PagePart& part);
  // The continue token, as soon as the page's head is there and says one; else "".
  const std::string& next() const { return next_; }

 private:
  bool read_head();
  std::optional<size_t> last_cut();

  const size_t size_;
  PodListReader reader_;  // of heads
  std::string text_;      // the head, and behind it what is in no part yet
  std::string next_;
  size_t head_ = 0;      // its size; 0: not known yet
  size_t searched_ = 0;  // up to where there is no place to cut
  size_t enough_ = 0;    // from how many bytes on a part is cut
};

// Reads parts in their order. Not thread-safe.
class PartReader {
 public:
  // All of them outlive this. Pods are appended to `list`.
  PartReader(PodListReader& json, const Wanted& wanted, PodList& list)
      : json_(json), wanted_(wanted), list_(list) {}

  // Of the last part: the page's continue token, "" on the last page. DATA_LOSS when it was no whole PodList.
  // Of another: "". Where it cannot be read it waits for those that follow; RESOURCE_EXHAUSTED when too much does.
  sdk::Result<std::string> read(PagePart& part);
  // Takes the pods of a page that did not end out of the list again.
  void forget();
  // How many pods the list has. [thread-safe]
  size_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  sdk::Result<std::string> read_next(PagePart& part);
  sdk::Result<std::string> read_text(std::string_view text);

  PodListReader& json_;
  const Wanted& wanted_;
  PodList& list_;
  std::optional<size_t> before_;  // in a page: how many pods there were before it
  std::string waiting_;  // parts that cannot be read alone, without the brackets at their end
  size_t enough_ = 0;    // of those: how many bytes before another attempt
  std::atomic<size_t> count_{0};
};

}  // namespace muster::kubernetes
