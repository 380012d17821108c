#include "plugins/kubernetes/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::percent_encoded;

constexpr int64_t kSecond = 1'000'000'000;
// After so long, and up to a quarter longer, the server ends a stream.
constexpr int kStreamSeconds = 240;
constexpr int kAttempts = 3;  // at a stream that does not begin
constexpr int64_t kFirstPause = kSecond;
constexpr int64_t kLongestPause = 30 * kSecond;
constexpr int64_t kSoon = 10 * kSecond;

}  // namespace

Stream::Stream(const Access& access, const sdk::HttpStreams& streams, Feed& feed,
               int64_t silence_ns, sdk::Call& call)
    : access_(access),
      streams_(streams),
      feed_(feed),
      silence_ns_(silence_ns),
      call_(call),
      clock_(call.host().service<muster_clock_v1>(MUSTER_CLOCK_V1)),
      random_(std::random_device{}()) {}

Stream::~Stream() {
  if (number_ != 0) streams_.end(number_);
}

// After the n-th failure in a row, from 1 on: longer each time, and by up to a half shorter at random, so that many watchers
// do not come back at once.
int64_t Stream::pause(int nth) {
  if (nth == 0) return 0;
  const int64_t longest = std::min(kFirstPause << std::min(nth - 1, 5), kLongestPause);
  return longest - static_cast<int64_t>(random_() % static_cast<uint64_t>(longest / 2));
}

void Stream::list_again() {
  if (number_ != 0) streams_.end(number_);
  number_ = 0;
  list_ = true;
  due_ns_ = 0;
}

sdk::Result<bool> Stream::go_on() {
  const bool list = std::exchange(list_, false);
  if (list) {
    listed_ns_ = now();
    if (auto status = feed_.list(); !status) return std::move(status).failure();
  }
  if (auto status = begin(); !status) return std::move(status).failure();
  return list;
}

sdk::Status Stream::begin() {
  call_.progress(fmt::format("changes of {}", feed_.what()));
  std::string url = fmt::format(
      "{}&watch=1&allowWatchBookmarks=true&timeoutSeconds={}", feed_.url(),
      kStreamSeconds + static_cast<int>(random_() % static_cast<uint64_t>(kStreamSeconds / 4)));
  if (!feed_.version().empty()) url += "&resourceVersion=" + percent_encoded(feed_.version());
  const std::string purpose = "follow " + feed_.what();
  Get get(url, "application/json", purpose);
  get.request.flags = MUSTER_HTTP_NO_RETRY;
  get.request.maximum_body_size = UINT64_MAX;
  get.request.on_body = Stream::take;
  get.request.on_body_ctx = this;
  get.request.timeout_ns = silence_ns_;
  get.request.idle_timeout_ns = silence_ns_;
  feed_.begin();
  said_ = false;
  began_ns_ = last_ns_ = now();
  list_because_.reset();
  status_ = {};
  const auto begun = access_.begin(get.request, streams_);
  if (!begun) return begun.failure();
  number_ = *begun;
  return {};
}

int32_t Stream::take(void* ctx, const char* data, uint64_t size) {
  auto& self = *static_cast<Stream*>(ctx);
  self.said_ = self.followed_ = true;
  self.failed_ = 0;
  self.last_ns_ = self.now();
  try {
    const auto taken = self.feed_.take({data, size});
    if (!taken) {
      self.status_ = taken.failure();
      return taken.failure().code;
    }
    self.changed_ = self.changed_ || taken->changed;
    if (taken->expired) self.list_because_ = ", for the server has forgotten that version";
    if (self.feed_.is_outgrown()) self.list_because_ = "";
  } catch (const std::bad_alloc&) {
    self.status_ =
        sdk::Failure{MUSTER_E_RESOURCE_EXHAUSTED, "out of memory while reading events", {}};
    return MUSTER_E_RESOURCE_EXHAUSTED;
  }
  return self.list_because_ ? MUSTER_E_ABORTED : MUSTER_OK;
}

sdk::Status Stream::list_after(const char* why, int64_t pause_ns) {
  call_.host().log(MUSTER_LOG_DEBUG,
                   fmt::format("kubernetes: {} are asked for again{}", feed_.what(), why));
  // A list whose version is forgotten at once may be so again.
  soon_ = now() - listed_ns_ < kSoon ? soon_ + 1 : 0;
  list_ = true;
  due_ns_ = now() + std::max(pause(soon_), pause_ns);
  return {};
}

sdk::Status Stream::again_after(sdk::Failure failure, int64_t at_least_ns) {
  if (++failed_ >= kAttempts) return failure;
  due_ns_ = now() + std::max(pause(failed_), at_least_ns);
  return {};
}

sdk::Status Stream::ended(const sdk::Result<sdk::Response>& response) {
  number_ = 0;
  due_ns_ = 0;
  if (!status_) return std::move(status_).failure().with("endpoint", access_.server);
  if (list_because_) return list_after(*list_because_, 0);
  if (!response) {
    sdk::Failure failure = response.failure();
    const bool by_time =
        failure.code == MUSTER_E_UNAVAILABLE || failure.code == MUSTER_E_DEADLINE_EXCEEDED;
    // After a silence many may come at once.
    if (by_time && now() - last_ns_ >= silence_ns_)
      return list_after(", for their stream is silent", pause(1));
    if (failure.code == MUSTER_E_UNAVAILABLE)
      return again_after(std::move(failure).with("endpoint", access_.server), 0);
    return access_.explain(std::move(failure)).with("endpoint", access_.server);
  }
  if (response->status() == 200) {
    followed_ = true;
    if (said_ || now() - began_ns_ > kFirstPause) return {};
    // Where streams end before they say anything the server, or what is between, cannot stream.
    return again_after({MUSTER_E_UNIMPLEMENTED, "the API server's streams end at once", {}}, 0);
  }
  if (response->status() == 410)
    return list_after(", for the server has forgotten that version", 0);
  if (response->status() == 401) {
    const auto others = access_.renew(call_);
    if (!others) return others.failure();
    if (*others) return {};
  }
  const sdk::Failure refusal = feed_.refusal(*response);
  if (response->status() != 429 && response->status() < 500) return refusal;
  const auto wait = response->header("Retry-After");
  const auto seconds = wait ? support::parse_digits(*wait, 3600) : std::nullopt;
  return again_after(refusal, seconds.value_or(0) * kSecond);
}

}  // namespace muster::kubernetes
