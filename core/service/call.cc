// Call: what it keeps alive, its requests, its time.
#include "core/service/call.h"

#include <time.h>

#include <algorithm>
#include <utility>

#include "core/service/http_streams.h"

namespace muster {
namespace {

// A cancel is seen after this long.
constexpr int64_t kSlice_ns = 10'000'000;
// A list of all the pods that an answer can have takes fewer.
constexpr std::ptrdiff_t kMostRequests = 10'000;

void sleep_really(int64_t duration_ns) {
  timespec rest{duration_ns / 1'000'000'000, duration_ns % 1'000'000'000};
  nanosleep(&rest, nullptr);  // woken early by a signal: the caller looks at the time again
}

}  // namespace

Call* Call::check(const muster_call_v1* call) {
  if (call == nullptr || call->struct_size < offsetof(muster_call_v1, deadline_ns) ||
      call->ctx == nullptr)
    return nullptr;
  return &of(call);
}

const std::string& Call::keep(std::string text) {
  const std::lock_guard lock(mutex_);
  return texts_.keep(std::move(text));
}

void Call::own(std::shared_ptr<void> object) {
  const std::lock_guard lock(mutex_);
  const void* key = object.get();
  owned_.insert_or_assign(key, std::move(object));
}

bool Call::disown(const void* object) {
  std::shared_ptr<void> last;  // freed after the lock
  const std::lock_guard lock(mutex_);
  const auto found = owned_.find(object);
  if (found == owned_.end()) return false;
  last = std::move(found->second);
  owned_.erase(found);
  return true;
}

Code Call::sleep(int64_t duration_ns) {
  const bool replay = session_->mode() == Session::Mode::kReplay;
  const int64_t now = now_ns();
  // Compared as a difference: the end of a very long sleep would overflow.
  const bool ends_in_time = deadline_ns_ > now && duration_ns < deadline_ns_ - now;
  const int64_t until = ends_in_time ? now + std::max<int64_t>(duration_ns, 0) : deadline_ns_;
  for (;;) {
    if (cancelled()) return Code::kCancelled;
    const int64_t rest = until - now_ns();
    if (rest <= 0) return ends_in_time ? Code::kOk : Code::kDeadlineExceeded;
    if (replay) {
      skipped_ns_.fetch_add(rest, std::memory_order_relaxed);
    } else {
      sleep_really(std::min(rest, kSlice_ns));
    }
  }
}

void Call::skip(int64_t duration_ns) {
  const int64_t rest = deadline_ns_ - now_ns() - 1'000'000;
  if (duration_ns > 0 && rest > 0)
    skipped_ns_.fetch_add(std::min(duration_ns, rest), std::memory_order_relaxed);
}

HttpStreams& Call::streams() {
  if (streams_ == nullptr) streams_ = std::make_shared<HttpStreams>(*this);
  return *streams_;
}

void Call::add_request(RequestRecord record) {
  const std::lock_guard lock(mutex_);
  if (requests_.size() >= static_cast<size_t>(2 * kMostRequests))
    requests_.erase(requests_.begin(), requests_.end() - kMostRequests);
  requests_.push_back(std::move(record));
}

std::vector<RequestRecord> Call::take_requests() {
  const std::lock_guard lock(mutex_);
  return std::exchange(requests_, {});
}

std::vector<RequestRecord> Call::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void Call::set_progress(std::string text) {
  const std::lock_guard lock(mutex_);
  progress_ = std::move(text);
}

std::string Call::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

}  // namespace muster
