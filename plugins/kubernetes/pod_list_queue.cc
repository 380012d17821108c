#include "plugins/kubernetes/pod_list_queue.h"

#include <new>
#include <system_error>
#include <utility>

namespace muster::kubernetes {
namespace {

constexpr size_t kWorthIt = 64 << 10;  // a smaller part is read sooner than it is handed over
// Waking a thread costs both sides, so it is done for several parts at once, but at the end of a page: so many are worth it.
constexpr size_t kWorthWaking = 4;

// Whether somebody waits for what comes of it.
bool is_awaited(const PagePart& part) { return part.last && part.next.empty(); }

}  // namespace

PartQueue::~PartQueue() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  given_.notify_one();
  thread_.join();
}

bool PartQueue::start() {
  try {
    thread_ = std::thread([this] { run(); });
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

sdk::Result<std::string> PartQueue::give(PagePart& part) {
  if (!thread_.joinable() && (part.last || part.text.size() < kWorthIt || !start()))
    return reader_.read(part);
  const bool awaited = is_awaited(part);
  std::unique_lock lock(mutex_);
  taken_.wait(lock, [&] { return waiting_.size() < kAhead || failed_; });
  if (failed_) return *failed_;
  waiting_.push_back(std::move(part));
  part = {};
  if (!spare_.empty()) {
    part.text.swap(spare_.back().text);
    spare_.pop_back();
  }
  if (waiting_.back().last || waiting_.size() >= kWorthWaking) given_.notify_one();
  if (!awaited) return std::string();
  wait_until_idle(lock);
  if (failed_) return *failed_;
  return *std::exchange(result_, std::nullopt);
}

sdk::Status PartQueue::end() {
  std::unique_lock lock(mutex_);
  wait_until_idle(lock);
  if (failed_) return *failed_;
  return {};
}

void PartQueue::forget() {
  std::unique_lock lock(mutex_);
  wait_until_idle(lock);
  reader_.forget();
}

void PartQueue::wait_until_idle(std::unique_lock<std::mutex>& lock) {
  given_.notify_one();
  taken_.wait(lock, [&] { return (waiting_.empty() && !reading_) || failed_; });
}

void PartQueue::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    given_.wait(lock, [&] { return ended_ || (!waiting_.empty() && !failed_); });
    if (ended_) return;
    PagePart part = std::move(waiting_.front());
    waiting_.pop_front();
    reading_ = true;
    const bool room = waiting_.size() + kWorthWaking <= kAhead;
    lock.unlock();
    if (room) taken_.notify_one();
    sdk::Result<std::string> result = std::string();
    try {
      result = reader_.read(part);
    } catch (const std::bad_alloc&) {
      result = sdk::Failure{
          MUSTER_E_RESOURCE_EXHAUSTED, "out of memory while reading a list of pods", {}};
    }
    const bool awaited = is_awaited(part);
    lock.lock();
    reading_ = false;
    if (awaited) {
      result_ = std::move(result);
    } else if (!result) {
      failed_ = std::move(result).failure();
    }
    spare_.push_back(std::move(part));
    if (waiting_.empty() || failed_) taken_.notify_one();
  }
}

}  // namespace muster::kubernetes
