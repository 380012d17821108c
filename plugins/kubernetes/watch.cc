#include "plugins/kubernetes/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <new>
#include <optional>
#include <random>
#include <utility>

#include "plugins/kubernetes/answer.h"
#include "plugins/kubernetes/list.h"
#include "plugins/kubernetes/object.h"
#include "plugins/kubernetes/pod_events.h"
#include "plugins/kubernetes/pods_url.h"
#include "plugins/kubernetes/selectors.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::percent_encoded;
using support::quote;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kAnswerTimeout = 30 * kSecond;  // of a request that is no stream
// The server's bookmarks come about each minute; a longer silence is that of a dead stream, or of a server without them: a new
// list tells.
constexpr int64_t kSilence = 90 * kSecond;
// After so long the server ends a stream. An object is read again then, so a change of it is seen in about a minute.
constexpr int kStreamSeconds = 240;
constexpr int kObjectStreamSeconds = 50;
constexpr int kAttempts = 3;  // at a stream that does not begin, or an object that changes
constexpr int64_t kFirstPause = kSecond;
constexpr int64_t kLongestPause = 30 * kSecond;
constexpr int64_t kSoon = 10 * kSecond;
// Texts that no pod has any longer are let go by a new list.
constexpr size_t kTextsMinimum = 16 << 20;

class Watcher {
 public:
  Watcher(Access access, const Options& options, sdk::Call& call, bool& followed)
      : access_(with_timeout(std::move(access))),
        options_(options),
        call_(call),
        followed_(followed),
        clock_(call.host().service<muster_clock_v1>(MUSTER_CLOCK_V1)),
        random_(std::random_device{}()),
        wanted_(options.wanted()),
        answers_(access_, options, call),
        events_(wanted_) {
    if (options.finder != nullptr) object_.emplace(access_, options_, call_);
  }

  // `selector`: of the options; without one it is the object's.
  sdk::Status run(const Selector* selector) {
    if (selector != nullptr) selector_ = *selector;
    for (int soon = 0;;) {
      const int64_t began = now();
      if (auto status = list(); !status || call_.refused()) return status;
      if (auto status = follow(); !status || call_.refused()) return status;
      // A list whose version is forgotten at once may be so again.
      soon = now() - began < kSoon ? soon + 1 : 0;
      if (auto status = pause(soon); !status) return status;
    }
  }

 private:
  enum class End {
    kWhole,    // the server ended it
    kBroken,   // it broke, or did not begin
    kSilent,   // it said nothing for too long
    kExpired,  // the version is no longer known
    kObject,   // the object is to be read again
    kTooMuch,  // too many texts that no pod has any longer
  };

  static Access with_timeout(Access access) {
    access.timeout_ns = kAnswerTimeout;
    return access;
  }

  sdk::Status cancelled() const {
    return sdk::Failure{MUSTER_E_CANCELLED, "watching pods was cancelled", {}};
  }

  int64_t now() const { return clock_->monotonic_ns(call_.get()); }

  // After the n-th failure in a row, from 1 on: longer each time, and by up to a half shorter at random, so that many watchers
  // do not come back at once.
  sdk::Status pause(int nth) {
    if (nth == 0) return {};
    const int64_t longest = std::min(kFirstPause << std::min(nth - 1, 5), kLongestPause);
    const int64_t less = static_cast<int64_t>(random_() % static_cast<uint64_t>(longest / 2));
    if (clock_->sleep_ns(call_.get(), longest - less) != MUSTER_OK) return cancelled();
    return {};
  }

  // ---- All pods of one moment ---------------------------------------------------------------

  sdk::Status list() {
    if (object_) {
      auto plan = object_->read();
      if (!plan) return std::move(plan).failure();
      plan_ = *std::move(plan);
      selector_ = object_->selector(plan_);
      object_is_old_ = false;
    }
    PodListReader reader;
    auto pods = list_pods(access_, options_, selector_, wanted_, reader, call_);
    if (!pods) return std::move(pods).failure();
    if (pods->version.empty())
      return sdk::Failure{MUSTER_E_UNIMPLEMENTED, "the list of pods has no resourceVersion", {}};
    version_ = pods->version;
    pods_.clear();
    for (const Pod& pod : pods->pods) pods_.insert_or_assign(full_name(pod), pod);
    texts_ = *std::move(pods);
    texts_.pods = {};
    listed_size_ = texts_.texts.size();
    strangers_.clear();
    return answer_anew();
  }

  // ---- Answers ------------------------------------------------------------------------------

  void gather() {
    now_.clear();
    now_.reserve(pods_.size());
    for (const auto& [name, pod] : pods_) now_.push_back(pod);
  }

  // Pushes and commits what the pods are now. Asks nobody: what the object has to be read for is told by `object_is_old_`.
  sdk::Status answer() {
    changed_ = false;
    gather();
    const Judge judge = judge_now(options_, call_);
    if (!object_) {
      auto jobs = find_selected_members(access_, options_, {{selector_.text, &now_}}, judge);
      if (!jobs) return std::move(jobs).failure();
      answers_.push(*jobs);
    } else {
      auto placed = object_->place(plan_, now_, judge);
      if (!placed) return std::move(placed).failure();
      if (placed->strangers != strangers_ && !placed->strangers.empty()) {
        object_is_old_ = true;
        return {};
      }
      auto found = object_->members(plan_, *std::move(placed));
      if (!found) return std::move(found).failure();
      for (const std::string& warning : found->warnings) call_.add_warning(warning);
      answers_.push(found->jobs);
    }
    call_.commit();
    return {};
  }

  // The same, where the object may be read again: when pods have no place in it as it was read. It does so too when
  // `object_is_old_` says it already.
  sdk::Status answer_anew() {
    for (int attempt = 1;; ++attempt) {
      if (!object_is_old_)
        if (auto status = answer(); !status || !object_is_old_) return status;
      object_is_old_ = false;
      auto again = object_->read();
      if (!again) return std::move(again).failure();
      const bool same = again->version == plan_.version && again->uid == plan_.uid;
      plan_ = *std::move(again);
      // Its pods are others now: all of them are listed anew, which answers.
      if (plan_.selector != selector_.text) {
        relist_ = true;
        return {};
      }
      if (same || attempt >= kAttempts) {
        gather();
        auto placed = object_->place(plan_, now_, judge_now(options_, call_));
        if (!placed) return std::move(placed).failure();
        strangers_ = placed->strangers;  // they do not count, and the answer says so
      }
    }
  }

  // ---- Events -------------------------------------------------------------------------------

  // Streams one after the other, until the pods are to be listed anew.
  sdk::Status follow() {
    for (int failed = 0;;) {  // attempts since a stream last said something
      if (std::exchange(relist_, false)) return {};
      bool said = false;
      sdk::Failure failure;
      const auto end = stream(said, failure);
      if (!end) return end.failure();
      if (*end == End::kTooMuch || *end == End::kExpired || *end == End::kSilent) {
        call_.host().log(
            MUSTER_LOG_DEBUG,
            fmt::format("kubernetes: the pods {} are listed again{}", quote(selector_.text),
                        *end == End::kExpired  ? ", for the server has forgotten that version"
                        : *end == End::kSilent ? ", for their stream is silent"
                                               : ""));
        // After a silence many may come at once.
        return pause(*end == End::kSilent ? 1 : 0);
      }
      failed = *end == End::kBroken ? (said ? 0 : failed) + 1 : 0;
      if (failed == kAttempts) return failure;
      if (auto status = pause(failed); !status) return status;
      // The object may have changed since, and what came before a stream broke in the middle of an event has no answer yet.
      object_is_old_ = object_.has_value();
      if (changed_ || object_is_old_)
        if (auto status = answer_anew(); !status) return status;
      if (call_.refused()) return {};
    }
  }

  struct Taking {
    Watcher& watcher;
    bool said = false;
    int64_t last_ns = 0;  // when it did, or began
    std::optional<End> end;
    sdk::Status status;
    static int32_t take(void* ctx, const char* data, uint64_t size) {
      auto& taking = *static_cast<Taking*>(ctx);
      taking.said = true;
      taking.last_ns = taking.watcher.now();
      try {
        taking.status = taking.watcher.take({data, size}, taking.end);
      } catch (const std::bad_alloc&) {
        taking.status = sdk::Failure{
            MUSTER_E_RESOURCE_EXHAUSTED, "out of memory while reading events of pods", {}};
      }
      if (!taking.status) return taking.status.failure().code;
      if (taking.watcher.call_.refused()) return taking.watcher.call_.refusal();
      return taking.end ? MUSTER_E_ABORTED : MUSTER_OK;
    }
  };

  // The next bytes of a stream; `end` says why it is to end.
  sdk::Status take(std::string_view bytes, std::optional<End>& end) {
    if (call_.cancelled()) return cancelled();
    auto events = events_.take(bytes, texts_);
    if (!events) return std::move(events).failure().with("endpoint", access_.server);
    for (PodEvent& event : *events) {
      if (event.kind == PodEvent::Kind::kError) {
        if (event.code != 410) return told_failure(event);
        end = End::kExpired;
        return {};
      }
      version_ = std::move(event.version);
      if (event.kind == PodEvent::Kind::kBookmark) continue;
      changed_ = true;
      if (event.kind == PodEvent::Kind::kDeleted) {
        pods_.erase(full_name(event.pod));
      } else {
        pods_.insert_or_assign(full_name(event.pod), event.pod);
      }
    }
    if (texts_.texts.size() > 2 * listed_size_ + kTextsMinimum) end = End::kTooMuch;
    // Where a part of an event came the rest is under way, so that a burst makes few answers.
    if (!changed_ || !events_.between_events()) return {};
    if (auto status = answer(); !status) return status;
    if (object_is_old_) end = End::kObject;
    return {};
  }

  sdk::Failure told_failure(const PodEvent& event) const {
    return sdk::Failure{
        event.code == 403 ? MUSTER_E_PERMISSION_DENIED : MUSTER_E_UNAVAILABLE,
        fmt::format("the API server ends the events of the pods {}: {} {}", quote(selector_.text),
                    event.code, quote(event.status.message, 500)),
        {{"endpoint", access_.server}}};
  }

  // One stream from the version on, to its end. `failure`: what kBroken is, when it comes to that.
  sdk::Result<End> stream(bool& said, sdk::Failure& failure) {
    call_.progress(fmt::format("changes of the pods {}", quote(selector_.text)));
    const int least = object_ ? kObjectStreamSeconds : kStreamSeconds;
    const std::string url =
        fmt::format("{}&watch=1&allowWatchBookmarks=true&resourceVersion={}&timeoutSeconds={}",
                    pods_url(access_, selector_), percent_encoded(version_),
                    least + static_cast<int>(random_() % static_cast<uint64_t>(least / 4)));
    const std::string purpose = fmt::format("follow the pods {}", selector_.text);
    const int64_t began = now();
    Taking taking{*this, false, began, {}, {}};
    events_.begin();
    Get get(url, "application/json", purpose);
    get.request.flags = MUSTER_HTTP_NO_RETRY;
    get.request.maximum_body_size = UINT64_MAX;
    get.request.on_body = Taking::take;
    get.request.on_body_ctx = &taking;
    get.request.timeout_ns = kSilence;
    get.request.idle_timeout_ns = kSilence;
    const auto response = access_.send(get.request, call_);
    said = taking.said;
    followed_ = followed_ || said || (response && response->status() == 200);
    if (!taking.status) return std::move(taking.status).failure();
    if (taking.end) return *taking.end;
    if (call_.cancelled()) return cancelled().failure();
    if (!response) {
      failure = response.failure();
      const bool ended_by_time =
          failure.code == MUSTER_E_UNAVAILABLE || failure.code == MUSTER_E_DEADLINE_EXCEEDED;
      if (ended_by_time && now() - taking.last_ns >= kSilence) return End::kSilent;
      if (failure.code == MUSTER_E_UNAVAILABLE) return End::kBroken;
      return failure;
    }
    if (response->status() == 200) {
      // Where streams end before they say anything the server, or what is between, cannot stream.
      failure = {MUSTER_E_UNIMPLEMENTED, "the API server's streams end at once", {}};
      return said || now() - began > kFirstPause ? End::kWhole : End::kBroken;
    }
    if (response->status() == 410) return End::kExpired;
    failure = pods_refusal(access_, selector_, "watch", *response);
    if (response->status() == 429 || response->status() >= 500) return End::kBroken;
    return failure;
  }

  const Access access_;
  const Options& options_;
  sdk::Call& call_;
  bool& followed_;
  const muster_clock_v1* const clock_;
  std::minstd_rand random_;
  const Wanted wanted_;
  const Answers answers_;
  std::optional<ObjectFinder> object_;  // of the options; none with a selector

  Plan plan_;  // of the object
  bool object_is_old_ = false;
  std::vector<std::string> strangers_;  // that have no place in the object as it is
  bool relist_ = false;

  Selector selector_;
  std::string version_;              // of all that is in pods_
  PodList texts_;                    // of the pods; has none itself
  size_t listed_size_ = 0;           // of the texts of the last list
  std::map<std::string, Pod> pods_;  // by full name, in the order of the server's lists
  std::vector<Pod> now_;             // the same, for the answer
  bool changed_ = false;             // since the last answer
  PodEventReader events_;
};

}  // namespace

sdk::Status watch_pods(Access access, const Options& options, sdk::Call& call, bool& followed) {
  const Selector* selector = options.only_selector();
  if (options.finder == nullptr && selector == nullptr)
    return sdk::Failure{
        MUSTER_E_UNIMPLEMENTED, "one stream does not tell of all selectors, nor of a service", {}};
  return Watcher(std::move(access), options, call, followed).run(selector);
}

}  // namespace muster::kubernetes
