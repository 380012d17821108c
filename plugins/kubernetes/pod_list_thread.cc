#include "plugins/kubernetes/pod_list_thread.h"

#include <new>
#include <system_error>
#include <utility>

namespace muster::kubernetes {
namespace {

constexpr size_t kWorthIt = 256 << 10;    // a page up to here is read sooner than a thread begins
constexpr size_t kBatch = 192 << 10;      // waking a thread takes as long as reading some pods
constexpr size_t kFarBehind = 512 << 10;  // both halves stay in a processor's own cache

}  // namespace

PodListThread::~PodListThread() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  thread_.join();
}

void PodListThread::begin() {
  {
    std::unique_lock lock(mutex_);
    waiting_.clear();
    wait_until_idle(lock);
    failed_.reset();
  }
  taken_ = 0;
  beside_ = false;
  stream_.begin();
}

sdk::Status PodListThread::take(std::string_view bytes) {
  taken_ += bytes.size();
  if (!beside_) {
    if (taken_ <= kWorthIt || stream_.is_protobuf()) return stream_.take(bytes);
    try {
      if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      return stream_.take(bytes);
    }
    beside_ = true;
  }
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_.size() < kFarBehind || failed_; });
    if (failed_) return *failed_;
    waiting_.append(bytes);
    if (waiting_.size() < kBatch) return {};
  }
  changed_.notify_all();
  return {};
}

sdk::Result<std::string> PodListThread::finish() {
  if (beside_) {
    std::unique_lock lock(mutex_);
    wait_until_idle(lock);
    if (failed_) return *failed_;
  }
  return stream_.finish();
}

void PodListThread::wait_until_idle(std::unique_lock<std::mutex>& lock) {
  draining_ = true;
  changed_.notify_all();
  changed_.wait(lock, [&] { return waiting_.empty() && !reading_; });
  draining_ = false;
}

void PodListThread::run() {
  std::string bytes;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] {
      return ended_ || waiting_.size() >= kBatch || (draining_ && !waiting_.empty());
    });
    if (ended_) return;
    bytes.clear();
    bytes.swap(waiting_);
    reading_ = true;
    lock.unlock();
    changed_.notify_all();
    std::optional<sdk::Failure> failed;
    try {
      if (auto status = stream_.take(bytes); !status) failed = std::move(status).failure();
    } catch (const std::bad_alloc&) {
      failed = sdk::Failure{
          MUSTER_E_RESOURCE_EXHAUSTED, "out of memory while reading a list of pods", {}};
    }
    lock.lock();
    reading_ = false;
    if (failed) {
      failed_ = std::move(failed);
      waiting_.clear();
    }
    changed_.notify_all();
  }
}

}  // namespace muster::kubernetes
