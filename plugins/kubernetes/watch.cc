#include "plugins/kubernetes/watch.h"

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
// much silence of all of them says that it has come; a flood of events is answered now and then all the same.
constexpr int64_t kCalm = 10 * kMillisecond;
constexpr int64_t kFlood = 100 * kMillisecond;
// For so long an answer that cannot be made is taken for one of such a moment.
constexpr int64_t kDoubt = 1000 * kMillisecond;

class Watcher {
 public:
  Watcher(Access access, const Options& options, sdk::Call& call, bool& followed)
      : access_(with_timeout(std::move(access))),
        options_(options),
        call_(call),
        followed_(followed),
        clock_(call.host().service<muster_clock_v1>(MUSTER_CLOCK_V1)),
        http_(call),
        wanted_(options.wanted()),
        answers_(access_, options, call) {
    if (!options.service.empty()) {
      slices_ = &add(std::make_unique<SliceFeed>(access_, options_, call_));
    } else if (options.finder != nullptr) {
      finder_.emplace(access_, options_, call_);
      object_ = &add(std::make_unique<ObjectFeed>(access_, *finder_));
      pods_.push_back(
          &add(std::make_unique<PodFeed>(access_, options_, wanted_, Selector(), call_)));
    } else {
      for (const JobSelectors& job : options.jobs)
        for (const Selector& selector : job.selectors)
          if (std::none_of(pods_.begin(), pods_.end(), [&](const PodFeed* feed) {
                return feed->selector().text == selector.text;
              }))
            pods_.push_back(
                &add(std::make_unique<PodFeed>(access_, options_, wanted_, selector, call_)));
    }
  }

  sdk::Status run() {
    for (;;) {
      auto due = go_on_where_due();
      if (!due) return std::move(due).failure();
      if (stirred_ns_ != 0 && now() >= answer_due())
        if (auto status = try_to_answer(); !status || call_.refused()) return status;
      const auto news = http_.next(std::min(*due, answer_due()) - now());
      if (call_.cancelled() || (news.ended == 0 && news.code == MUSTER_E_CANCELLED))
        return sdk::Failure{MUSTER_E_CANCELLED, "watching was cancelled", {}};
      if (auto status = hear(news); !status) return status;
      if (call_.refused()) return {};
    }
  }

 private:
  static Access with_timeout(Access access) {
    access.timeout_ns = kAnswerTimeout_ns;
    return access;
  }
  int64_t now() const { return clock_->monotonic_ns(call_.get()); }

  template <typename OneFeed>
  OneFeed& add(std::unique_ptr<OneFeed> feed) {
    OneFeed& added = *feed;
    feeds_.push_back(std::move(feed));
    streams_.push_back(std::make_unique<Stream>(
        access_, http_, added, options_.watch_silence * 1000 * kMillisecond, call_));
    return added;
  }

  // ---- What the server says -----------------------------------------------------------------

  // Lists and begins what is due; when the next is.
  sdk::Result<int64_t> go_on_where_due() {
    int64_t next = Stream::kNever;
    for (const auto& stream : streams_) {
      if (stream->due() <= now()) {
        auto listed = stream->go_on();
        if (!listed) return std::move(listed).failure();
        if (*listed) stirred();
        // It says which pods are to be listed, and their stream comes behind it.
        if (*listed && is_of_object(*stream)) select_pods();
      }
      next = std::min(next, stream->due());
    }
    return next;
  }

  sdk::Status hear(const sdk::HttpStreams::News& news) {
    for (const auto& stream : streams_) {
      sdk::Status status;
      if (news.ended != 0 && news.ended == stream->number()) status = stream->ended(*news.response);
      followed_ = followed_ || stream->followed();
      if (!status) return status;
      if (!stream->take_changed()) continue;
      stirred();
      if (is_of_object(*stream)) select_pods();
    }
    return {};
  }

  bool is_of_object(const Stream& stream) const {
    return object_ != nullptr && &stream == streams_.front().get();
  }

  // Sees to it that the pods are those that the object is said to have; false when they are.
  bool select_pods() {
    Selector selector = finder_->selector(object_->plan());
    if (selector.text == pods_[0]->selector().text) return false;
    pods_[0]->select(std::move(selector));
    streams_[1]->list_again();
    return true;
  }

  void stirred() {
    heard_ns_ = now();
    if (stirred_ns_ == 0) stirred_ns_ = heard_ns_;
  }

  // ---- Answers ------------------------------------------------------------------------------

  int64_t answer_due() const {
    if (stirred_ns_ == 0) return Stream::kNever;
    if (!answered_) return 0;
    if (in_doubt_ns_ != 0) return tried_ns_ + kFlood;
    // Where a part of an event came the rest is under way.
    const bool part = std::any_of(feeds_.begin(), feeds_.end(),
                                  [](const auto& feed) { return !feed->between_events(); });
    const int64_t calm = part ? kFlood : feeds_.size() > 1 ? kCalm : 0;
    return std::min(heard_ns_ + calm, stirred_ns_ + kFlood);
  }

  sdk::Status try_to_answer() {
    tried_ns_ = now();
    auto made = answer();
    if (made) {
      in_doubt_ns_ = 0;
      if (*made) stirred_ns_ = 0;
      answered_ = answered_ || *made;
      return {};
    }
    if (in_doubt_ns_ == 0) in_doubt_ns_ = tried_ns_;
    if (!answered_ || feeds_.size() == 1 || tried_ns_ - in_doubt_ns_ >= kDoubt)
      return std::move(made).failure();
    return {};
  }

  // Pushes and commits what there is now; false when something is to be listed first. A failure has pushed nothing.
  sdk::Result<bool> answer() {
    const Judge judge = judge_now(options_, call_);
    if (object_ != nullptr) return answer_object(judge);
    if (slices_ != nullptr) {
      if (auto status = push_slices(access_, options_, slices_->json(), judge, call_); !status)
        return std::move(status).failure();
    } else {
      PodsBySelector lists;
      for (PodFeed* feed : pods_) lists.emplace(feed->selector().text, &feed->pods());
      auto jobs = find_selected_members(access_, options_, lists, judge);
      if (!jobs) return std::move(jobs).failure();
      answers_.push(*jobs);
    }
    call_.commit();
    return true;
  }

  // The object is read again where pods are there that have no place in it: its event may be late.
  sdk::Result<bool> answer_object(const Judge& judge) {
    for (int attempt = 1;; ++attempt) {
      const Plan& plan = object_->plan();
      auto placed = finder_->place(plan, pods_[0]->pods(), judge);
      if (!placed) return std::move(placed).failure();
      const std::vector<std::string>& strangers = placed->strangers;
      if (std::all_of(strangers.begin(), strangers.end(),
                      [&](const std::string& one) { return strangers_.count(one) != 0; })) {
        auto found = finder_->members(plan, *std::move(placed));
        if (!found) return std::move(found).failure();
        for (const std::string& warning : found->warnings) call_.add_warning(warning);
        answers_.push(found->jobs);
        call_.commit();
        return true;
      }
      const std::string uid = plan.uid, version = plan.version;
      if (auto status = object_->list(); !status) return std::move(status).failure();
      if (select_pods()) return false;
      const bool same = object_->plan().version == version && object_->plan().uid == uid;
      // They do not count, and the answer says so.
      if (same || attempt >= kAttempts) strangers_ = {strangers.begin(), strangers.end()};
    }
  }

  const Access access_;
  const Options& options_;
  sdk::Call& call_;
  bool& followed_;
  const muster_clock_v1* const clock_;
  const sdk::HttpStreams http_;
  const Wanted wanted_;
  const Answers answers_;
  std::optional<ObjectFinder> finder_;

  std::vector<std::unique_ptr<Feed>> feeds_;
  SliceFeed* slices_ = nullptr;
  ObjectFeed* object_ = nullptr;  // the first of all, and its pods the second
  std::vector<PodFeed*> pods_;
  std::vector<std::unique_ptr<Stream>> streams_;  // of the feeds; gone before them

  std::set<std::string> strangers_;  // that have no place in the object as it is
  int64_t stirred_ns_ = 0;           // since when there is something to answer; 0: there is nothing
  int64_t heard_ns_ = 0;             // when it was changed last
  int64_t tried_ns_ = 0;             // when an answer was tried last
  int64_t in_doubt_ns_ = 0;          // since when none can be made; 0: it can
  bool answered_ = false;
};

}  // namespace

sdk::Status watch_cluster(Access access, const Options& options, sdk::Call& call, bool& followed) {
  if (!sdk::HttpStreams(call).possible())
    return sdk::Failure{MUSTER_E_UNIMPLEMENTED, "this core has no streams", {}};
  if (options.service.empty() && options.finder == nullptr &&
      std::all_of(options.jobs.begin(), options.jobs.end(),
                  [](const JobSelectors& job) { return job.selectors.empty(); }))
    return sdk::Failure{MUSTER_E_UNIMPLEMENTED, "there is no selector to watch", {}};
  return Watcher(std::move(access), options, call, followed).run();
}

}  // namespace muster::kubernetes
