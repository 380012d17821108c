#include "plugins/kubernetes/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "plugins/kubernetes/answer.h"
#include "plugins/kubernetes/feeds.h"
#include "plugins/kubernetes/object.h"
#include "plugins/kubernetes/selectors.h"
#include "plugins/kubernetes/service.h"
#include "plugins/kubernetes/stream.h"

namespace muster::kubernetes {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
constexpr int kAttempts = 3;  // at an object that changes
// What belongs together may come by several streams: a pod that goes from one selector to another, an object and its pods. So
// much silence of all of them says that it has come; many events in a row are answered now and then all the same.
constexpr int64_t kSettleTime = 10 * kMillisecond;
constexpr int64_t kMaxDelay = 100 * kMillisecond;
// For so long an answer that cannot be made is taken for one of such a moment.
constexpr int64_t kUnsettledMaximum = 1000 * kMillisecond;
// A NOT_FOUND that was told is told again after so long. The next watch waits for the end of it, but no longer than the other
// time after the one before has ended.
constexpr int64_t kTellAgain = 300 * kSecond_ns;
constexpr int64_t kRemembered = 60 * kSecond_ns;

class Watcher {
 public:
  Watcher(Access access, const Options& options, WatchMemory& memory, sdk::Call& call,
          bool& followed)
      : access_(with_timeout(std::move(access))),
        options_(options),
        memory_(memory),
        call_(call),
        followed_(followed),
        clock_(call.host().service<muster_clock_v1>(MUSTER_CLOCK_V1)),
        http_(call),
        wanted_(options.wanted()),
        answers_(access_, options, call),
        began_ns_(now()) {
    if (began_ns_ - memory_.told_ns > kRemembered) memory_.told.clear();
    if (!options.service.empty()) {
      slices_ = add(std::make_unique<SliceFeed>(access_, options_, call_));
    } else if (options.finder != nullptr) {
      finder_.emplace(access_, options_, call_);
      object_ = add(std::make_unique<ObjectFeed>(access_, *finder_));
      object_pods_ = add(std::make_unique<PodFeed>(access_, options_, wanted_, Selector(), call_));
      // The object says which they are.
      object_pods_.stream->hold();
    } else {
      for (const JobSelectors& job : options.jobs)
        for (const Selector& selector : job.selectors)
          if (std::none_of(selected_.begin(), selected_.end(), [&](const PodFeed* feed) {
                return feed->selector().text == selector.text;
              }))
            selected_.push_back(
                add(std::make_unique<PodFeed>(access_, options_, wanted_, selector, call_)).feed);
    }
  }

  // Remembers what the next watch is to know.
  sdk::Status run() {
    auto status = follow();
    const bool is_told = !status && status.failure().code == MUSTER_E_NOT_FOUND;
    memory_.told = is_told ? status.failure().message : "";
    memory_.told_ns = now();
    for (const auto& stream : streams_)
      memory_.not_before_ns = std::max(memory_.not_before_ns, stream->not_before_ns());
    return status;
  }

 private:
  // A feed of a kind, and the stream that keeps it up to date.
  template <typename OneFeed>
  struct Followed {
    OneFeed* feed = nullptr;
    Stream* stream = nullptr;
  };

  static Access with_timeout(Access access) {
    access.timeout_ns = kAnswerTimeout_ns;
    return access;
  }
  int64_t now() const { return clock_->monotonic_ns(call_.get()); }

  template <typename OneFeed>
  Followed<OneFeed> add(std::unique_ptr<OneFeed> feed) {
    OneFeed& added = *feed;
    feeds_.push_back(std::move(feed));
    streams_.push_back(std::make_unique<Stream>(
        access_, http_, added, options_.watch_silence * kSecond_ns, memory_.not_before_ns, call_));
    return {&added, streams_.back().get()};
  }

  sdk::Status follow() {
    if (memory_.not_before_ns > now())
      call_.progress(fmt::format("the time, {} s, that the API server asked to wait",
                                 (memory_.not_before_ns - now()) / kSecond_ns + 1));
    for (;;) {
      auto due = go_on_where_due();
      if (!due) return std::move(due).failure();
      if (dirty_ns_ != 0 && now() >= answer_due())
        if (auto status = try_to_answer(); !status || call_.refused()) return status;
      const int64_t tell_ns = not_found_ ? began_ns_ + kTellAgain : Stream::kNever;
      if (now() >= tell_ns) return *not_found_;
      const auto event = http_.next(std::min({*due, answer_due(), tell_ns}) - now());
      if (call_.cancelled() || (event.ended == 0 && event.code == MUSTER_E_CANCELLED))
        return sdk::Failure{MUSTER_E_CANCELLED, "watching was cancelled", {}};
      if (auto status = on_event(event); !status) return status;
      if (call_.refused()) return {};
    }
  }

  // Whether a NOT_FOUND was told already, so that its end can be waited for.
  bool was_told(const sdk::Failure& failure) {
    if (failure.code != MUSTER_E_NOT_FOUND || failure.message != memory_.told) return false;
    not_found_ = failure;
    return true;
  }

  // ---- What the server says -----------------------------------------------------------------

  // Lists and begins what is due; when the next is.
  sdk::Result<int64_t> go_on_where_due() {
    int64_t next = Stream::kNever;
    for (const auto& stream : streams_) {
      if (stream->due() <= now()) {
        auto listed = stream->go_on();
        if (!listed) {
          if (!was_told(listed.failure())) return std::move(listed).failure();
          if (auto begun = stream->wait_until_there(); !begun) return std::move(begun).failure();
        } else if (*listed) {
          on_change(*stream);
        }
      }
      next = std::min(next, stream->due());
    }
    return next;
  }

  sdk::Status on_event(const sdk::HttpStreams::News& event) {
    for (const auto& stream : streams_) {
      sdk::Status status;
      if (event.ended != 0 && event.ended == stream->number())
        status = stream->ended(*event.response);
      followed_ = followed_ || stream->followed();
      if (!status) return status;
      if (stream->take_changed()) on_change(*stream);
    }
    return {};
  }

  void on_change(const Stream& stream) {
    changed_ns_ = now();
    if (dirty_ns_ == 0) dirty_ns_ = changed_ns_;
    // It says which pods are to be listed.
    if (&stream == object_.stream) select_pods();
  }

  // Sees to it that the pods are those that the object is said to have; false when they are.
  bool select_pods() {
    Selector selector = finder_->selector(object_.feed->plan());
    if (has_pods_ && selector.text == object_pods_.feed->selector().text) return false;
    has_pods_ = true;
    object_pods_.feed->select(std::move(selector));
    object_pods_.stream->list_again();
    return true;
  }

  // ---- Answers ------------------------------------------------------------------------------

  int64_t answer_due() const {
    if (dirty_ns_ == 0) return Stream::kNever;
    if (!answered_) return 0;
    if (unsettled_ns_ != 0) return tried_ns_ + kMaxDelay;
    // Where a part of an event came the rest is under way.
    const bool part = std::any_of(feeds_.begin(), feeds_.end(),
                                  [](const auto& feed) { return !feed->between_events(); });
    const int64_t settle = part ? kMaxDelay : feeds_.size() > 1 ? kSettleTime : 0;
    return std::min(changed_ns_ + settle, dirty_ns_ + kMaxDelay);
  }

  sdk::Status try_to_answer() {
    tried_ns_ = now();
    auto made = answer();
    if (made) {
      unsettled_ns_ = 0;
      if (!*made) return {};
      dirty_ns_ = 0;
      answered_ = true;
      memory_.told.clear();
      not_found_.reset();
      return {};
    }
    if (unsettled_ns_ == 0) unsettled_ns_ = tried_ns_;
    const bool unsettled =
        answered_ && feeds_.size() > 1 && tried_ns_ - unsettled_ns_ < kUnsettledMaximum;
    if (unsettled) return {};
    if (!was_told(made.failure())) return std::move(made).failure();
    unsettled_ns_ = dirty_ns_ = 0;
    call_.progress(made.failure().message);
    return {};
  }

  // Pushes and commits what there is now; false when something is to be listed first. A failure has pushed nothing.
  sdk::Result<bool> answer() {
    const Judge judge = judge_of(options_);
    if (object_.feed != nullptr) return answer_object(judge);
    if (slices_.feed != nullptr) {
      if (auto status = push_slices(access_, options_, slices_.feed->json(), judge, call_); !status)
        return std::move(status).failure();
    } else {
      PodsBySelector lists;
      for (PodFeed* feed : selected_) lists.emplace(feed->selector().text, &feed->pods());
      auto jobs = find_selected_members(access_, options_, lists, judge);
      if (!jobs) return std::move(jobs).failure();
      if (auto status = answers_.push(*jobs); !status) return std::move(status).failure();
    }
    call_.commit();
    return true;
  }

  // The object is read again where pods are there that have no place in it: its event may be late.
  sdk::Result<bool> answer_object(const Judge& judge) {
    // It was not there when it was read last.
    if (object_.feed->plan().uid.empty()) {
      if (auto status = object_.feed->list(); !status) return std::move(status).failure();
      if (select_pods()) return false;
    }
    for (int attempt = 1;; ++attempt) {
      const Plan& plan = object_.feed->plan();
      auto placed = finder_->place(plan, object_pods_.feed->pods(), judge);
      if (!placed) return std::move(placed).failure();
      const std::vector<std::string>& strangers = placed->strangers;
      if (std::all_of(strangers.begin(), strangers.end(),
                      [&](const std::string& one) { return strangers_.count(one) != 0; })) {
        auto found = finder_->members(plan, *std::move(placed));
        if (!found) return std::move(found).failure();
        if (auto status = answers_.push(found->jobs, found->warnings); !status)
          return std::move(status).failure();
        call_.commit();
        return true;
      }
      const std::string uid = plan.uid, version = plan.version;
      if (auto status = object_.feed->list(); !status) return std::move(status).failure();
      if (select_pods()) return false;
      const bool same = object_.feed->plan().version == version && object_.feed->plan().uid == uid;
      // They do not count, and the answer says so.
      if (same || attempt >= kAttempts) strangers_ = {strangers.begin(), strangers.end()};
    }
  }

  const Access access_;
  const Options& options_;
  WatchMemory& memory_;
  sdk::Call& call_;
  bool& followed_;
  const muster_clock_v1* const clock_;
  const sdk::HttpStreams http_;
  const Wanted wanted_;
  const Answers answers_;
  std::optional<ObjectFinder> finder_;

  // All that is followed. The streams are gone before their feeds.
  std::vector<std::unique_ptr<Feed>> feeds_;
  std::vector<std::unique_ptr<Stream>> streams_;
  // What of it there is: the slices of a Service; an object and its pods; or the pods of the selectors.
  Followed<SliceFeed> slices_;
  Followed<ObjectFeed> object_;
  Followed<PodFeed> object_pods_;
  bool has_pods_ = false;  // the object said which they are
  std::vector<PodFeed*> selected_;

  std::set<std::string> strangers_;  // that have no place in the object as it is
  const int64_t began_ns_;
  std::optional<sdk::Failure> not_found_;  // what is waited for is not there
  int64_t dirty_ns_ = 0;      // since when there is something to answer; 0: there is nothing
  int64_t changed_ns_ = 0;    // when something changed last
  int64_t tried_ns_ = 0;      // when an answer was tried last
  int64_t unsettled_ns_ = 0;  // since when none can be made; 0: it can
  bool answered_ = false;
};

}  // namespace

sdk::Status watch_cluster(Access access, const Options& options, WatchMemory& memory,
                          sdk::Call& call, bool& followed) {
  if (!sdk::HttpStreams(call).possible())
    return sdk::Failure{MUSTER_E_UNIMPLEMENTED, "this core has no streams", {}};
  if (options.service.empty() && options.finder == nullptr &&
      std::all_of(options.jobs.begin(), options.jobs.end(),
                  [](const JobSelectors& job) { return job.selectors.empty(); }))
    return sdk::Failure{MUSTER_E_UNIMPLEMENTED, "there is no selector to watch", {}};
  return Watcher(std::move(access), options, memory, call, followed).run();
}

}  // namespace muster::kubernetes
