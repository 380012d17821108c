#include "plugins/kubernetes/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <random>
#include <utility>

#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::percent_encoded;
using End = StreamState::End;

// After so long, and up to a quarter longer, the server ends a stream.
constexpr int kStreamSeconds = 240;
constexpr int64_t kRetryAfterMaximum = 60;  // seconds; who asks for more is asked again then

}  // namespace

Stream::Stream(const Access& access, const sdk::HttpStreams& streams, Feed& feed,
               int64_t silence_ns, int64_t due_ns, sdk::Call& call)
    : access_(access),
      streams_(streams),
      feed_(feed),
      silence_ns_(silence_ns),
      call_(call),
      clock_(call.host().service<muster_clock_v1>(MUSTER_CLOCK_V1)),
      state_(silence_ns, due_ns, std::random_device{}()) {}

Stream::~Stream() { end_watch(); }

void Stream::end_watch() {
  if (number_ != 0) streams_.end(number_);
  number_ = 0;
}

// Where it is shown what the call waits for, and in the log.
void Stream::say(const std::string& words) const {
  call_.progress(words);
  call_.host().log(MUSTER_LOG_DEBUG, "kubernetes: " + words);
}

void Stream::list_again() {
  end_watch();
  state_.list_again(now());
}

void Stream::hold() {
  end_watch();
  state_.hold();
}

sdk::Result<bool> Stream::go_on() {
  if (number_ != 0) {
    const auto silence = state_.look(now());
    if (silence == StreamState::Silence::kQuiet)
      say(fmt::format("changes of {}: the API server has said nothing for {} s", feed_.what(),
                      kQuietPeriod_ns / kSecond_ns));
    if (silence == StreamState::Silence::kTooLong) {
      end_watch();
      say(fmt::format("{} again: their stream has fallen silent", feed_.what()));
    }
    return false;
  }
  const bool list = state_.list_first();
  if (list) {
    if (auto status = feed_.list(); !status) return std::move(status).failure();
    state_.listed(now());
  }
  if (auto status = begin(); !status) return std::move(status).failure();
  return list;
}

sdk::Status Stream::wait_until_there() {
  state_.gone(now());
  if (auto status = begin(); !status) return status;
  say(fmt::format("{}, which is not there yet", feed_.what()));
  return {};
}

sdk::Status Stream::begin() {
  call_.progress(fmt::format("changes of {}", feed_.what()));
  // Each number is another one, so that many watchers do not come back at once.
  static thread_local std::minstd_rand random{std::random_device{}()};
  const int seconds = kStreamSeconds + static_cast<int>(random() % (kStreamSeconds / 4));
  std::string url =
      fmt::format("{}&watch=1&allowWatchBookmarks=true&timeoutSeconds={}", feed_.url(), seconds);
  if (!feed_.version().empty()) url += "&resourceVersion=" + percent_encoded(feed_.version());
  const std::string purpose = "follow " + feed_.what();
  Get get(url, "application/json", purpose);
  get.request.flags = MUSTER_HTTP_NO_RETRY;
  get.request.maximum_body_size = UINT64_MAX;
  get.request.on_body = Stream::take;
  get.request.on_body_ctx = this;
  // The state looks at the silence of events; this is about bytes.
  get.request.timeout_ns = silence_ns_;
  get.request.idle_timeout_ns = silence_ns_;
  feed_.begin();
  stop_ = Stop::kNone;
  status_ = {};
  const auto begun = access_.begin(get.request, streams_);
  if (!begun) return begun.failure();
  number_ = *begun;
  state_.began(now());
  return {};
}

void Stream::note(const Feed::Taken& taken) {
  if (taken.heard && state_.name() == StreamState::Name::kQuiet)
    call_.progress(fmt::format("changes of {}", feed_.what()));
  if (taken.heard) state_.heard(now(), taken.progressed, taken.changed);
  followed_ = followed_ || taken.heard;
  changed_ = changed_ || taken.changed;
  if (taken.expired) stop_ = Stop::kForgotten;
  if (feed_.is_outgrown()) stop_ = Stop::kOutgrown;
}

int32_t Stream::take(void* ctx, const char* data, uint64_t size) {
  auto& self = *static_cast<Stream*>(ctx);
  try {
    const auto taken = self.feed_.take({data, size});
    if (!taken) {
      self.status_ = taken.failure();
      return taken.failure().code;
    }
    self.note(*taken);
  } catch (const std::bad_alloc&) {
    self.status_ =
        sdk::Failure{MUSTER_E_RESOURCE_EXHAUSTED, "out of memory while reading events", {}};
    return MUSTER_E_RESOURCE_EXHAUSTED;
  }
  return self.stop_ != Stop::kNone ? MUSTER_E_ABORTED : MUSTER_OK;
}

sdk::Status Stream::end_as(End end, sdk::Failure failure, int64_t at_least_ns) {
  const int64_t ended_ns = now();
  if (!state_.ended(end, ended_ns, at_least_ns)) {
    if (at_least_ns > 0) not_before_ns_ = ended_ns + at_least_ns;
    return std::move(failure).with("endpoint", access_.server);
  }
  if (state_.name() == StreamState::Name::kFailing)
    say(fmt::format("{} again in {:.1f} s, for attempt {} has failed: {}", feed_.what(),
                    static_cast<double>(state_.due_ns() - ended_ns) / kSecond_ns, state_.failures(),
                    failure.message));
  return {};
}

sdk::Status Stream::ended(const sdk::Result<sdk::Response>& response) {
  number_ = 0;
  if (status_ && response && response->status() == 200) {
    const auto rest = feed_.finish();
    if (rest)
      note(*rest);
    else
      status_ = rest.failure();
  }
  if (!status_) {
    // The server itself ends the events for something that passes.
    if (status_.failure().code == MUSTER_E_UNAVAILABLE)
      return end_as(End::kRefused, std::move(status_).failure());
    return std::move(status_).failure().with("endpoint", access_.server);
  }
  const sdk::Failure forgotten{
      MUSTER_E_UNAVAILABLE,
      fmt::format("the API server forgets each version of {} as soon as it has told it",
                  feed_.what()),
      {}};
  if (stop_ == Stop::kOutgrown) return end_as(End::kOutgrown, {});
  if (stop_ == Stop::kForgotten) return end_as(End::kForgotten, forgotten);
  if (!response) {
    sdk::Failure failure = response.failure();
    if (failure.code == MUSTER_E_UNAVAILABLE || failure.code == MUSTER_E_DEADLINE_EXCEEDED)
      return end_as(End::kBroken, std::move(failure));
    return access_.explain(std::move(failure)).with("endpoint", access_.server);
  }
  if (response->status() == 200) {
    // A core polls where there are no streams, but not where they are bad for a while.
    sdk::Failure at_once{followed_ ? MUSTER_E_UNAVAILABLE : MUSTER_E_UNIMPLEMENTED,
                         fmt::format("the API server's streams of {} end at once, without "
                                     "anything new",
                                     feed_.what()),
                         {}};
    auto status = end_as(End::kWhole, std::move(at_once));
    followed_ = followed_ || state_.failures() == 0;
    return status;
  }
  if (response->status() == 410) return end_as(End::kForgotten, forgotten);
  if (response->status() == 401) {
    const auto others = access_.renew(call_);
    if (!others) return others.failure();
    if (*others) return end_as(End::kBroken, feed_.refusal(*response));
  }
  sdk::Failure refusal = feed_.refusal(*response);
  const bool is_gone =
      state_.name() == StreamState::Name::kGone && refusal.code == MUSTER_E_NOT_FOUND;
  const bool not_now =
      refusal.code == MUSTER_E_UNAVAILABLE || refusal.code == MUSTER_E_RESOURCE_EXHAUSTED;
  if (!not_now && !is_gone) return refusal;
  const auto wait = response->header("Retry-After");
  const auto seconds = wait ? support::parse_digits(*wait, 3600) : std::nullopt;
  return end_as(End::kRefused, std::move(refusal),
                std::min(seconds.value_or(0), kRetryAfterMaximum) * kSecond_ns);
}

}  // namespace muster::kubernetes
