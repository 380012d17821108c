// Watches: what changed from one state of the world to the next.
#include "watch.h"

#include <ctime>

#include <algorithm>

#include <fmt/format.h>

#include "json.h"
#include "pod_json.h"

namespace muster::sim {
namespace {

using Clock = std::chrono::steady_clock;

// The real server draws 30 to 60 minutes when the client does not say.
constexpr std::chrono::minutes kUsualLife(45);

// The course of a watch, whatever is watched.
class Watch : public BodyStream {
 public:
  Watch(WatchOptions options, std::shared_ptr<const History> history,
        std::chrono::milliseconds bookmark_every)
      : options_(std::move(options)),
        history_(std::move(history)),
        state_(options_.select.state),
        bookmark_every_(bookmark_every),
        end_(Clock::now() + kUsualLife),
        next_bookmark_(Clock::now() + bookmark_every) {
    if (options_.seconds && *options_.seconds > 0)
      end_ = Clock::now() + std::chrono::seconds(*options_.seconds);
  }

  std::string next(std::chrono::milliseconds most) override {
    if (ended_) return {};
    if (!begun_) {
      begun_ = true;
      auto text = beginning();
      if (!text.empty()) return text;
    }
    const auto now = Clock::now();
    if (now >= end_) {
      ended_ = true;
      return {};
    }
    if (options_.bookmarks && now >= next_bookmark_) {
      next_bookmark_ = now + bookmark_every_;
      return bookmark(false);
    }
    auto until = std::min(now + most, end_);
    if (options_.bookmarks) until = std::min(until, next_bookmark_);
    const auto fresh = history_->wait_after(state_->version(), until);
    if (fresh == nullptr) return {};
    auto text = difference(*state_, *fresh);
    state_ = fresh;
    return text;
  }

  bool ended() const override { return ended_; }

 protected:
  // ADDED events of all that there is; the events from one state to the next; a bookmark.
  virtual std::string present() const = 0;
  virtual std::string difference(const PodStore& before, const PodStore& after) const = 0;
  virtual std::string bookmark(bool end_of_initial_events) const = 0;

  const WatchOptions& options() const { return options_; }
  const PodStore& state() const { return *state_; }

 private:
  std::string beginning() {
    if (options_.too_old) {
      ended_ = true;
      return fmt::format(
          R"({{"type":"ERROR","object":{{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure",)"
          R"x("message":"too old resource version: {} ({})","reason":"Expired","code":410}}}})x"
          "\n",
          options_.version, history_->now()->version());
    }
    std::string text;
    if (options_.initial_events) text += present();
    if (options_.end_of_initial_events) text += bookmark(true);
    return text;
  }

  WatchOptions options_;
  std::shared_ptr<const History> history_;
  std::shared_ptr<const PodStore> state_;
  std::chrono::milliseconds bookmark_every_;
  Clock::time_point end_;
  Clock::time_point next_bookmark_;
  bool begun_ = false;
  bool ended_ = false;
};

class PodWatch : public Watch {
 public:
  PodWatch(WatchOptions options, std::string name_space, bool as_table, IncludeObject include,
           std::shared_ptr<const History> history, std::chrono::milliseconds bookmark_every)
      : Watch(std::move(options), std::move(history), bookmark_every),
        name_space_(std::move(name_space)),
        as_table_(as_table),
        include_(include) {}

 private:
  std::string present() const override {
    std::string text;
    for (auto [at, end] = state().range(name_space_); at < end; ++at) {
      if (selected(options().select, state().pod(at)))
        text += event("ADDED", state().pod(at), state().pod_version(at), state().json(at));
    }
    return text;
  }

  std::string event(std::string_view type, const Pod& pod, std::int64_t version,
                    std::string_view json) const {
    if (as_table_) {
      return fmt::format(
          R"({{"type":"{}","object":{{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{{"resourceVersion":"{}"}},)"
          R"("columnDefinitions":{},"rows":[{}]}}}})"
          "\n",
          type, version, pod_columns(), pod_row(pod, version, json, include_, std::time(nullptr)));
    }
    return fmt::format(
        "{{\"type\":\"{}\",\"object\":{{\"kind\":\"Pod\",\"apiVersion\":\"v1\",{}}}\n", type,
        json.substr(1));
  }

  std::string bookmark(bool end_of_initial_events) const override {
    const std::string_view annotations =
        end_of_initial_events ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "";
    if (as_table_) {
      return fmt::format(
          R"({{"type":"BOOKMARK","object":{{"kind":"Table","apiVersion":"meta.k8s.io/v1",)"
          R"("metadata":{{"resourceVersion":"{}"}},"columnDefinitions":{},"rows":[]}}}})"
          "\n",
          state().version(), pod_columns());
    }
    return fmt::format(
        R"({{"type":"BOOKMARK","object":{{"kind":"Pod","apiVersion":"v1","metadata":{{"resourceVersion":"{}",)"
        R"("creationTimestamp":null{}}},"spec":{{"containers":null}},"status":{{}}}}}})"
        "\n",
        state().version(), annotations);
  }

  // Events in the order of their versions: first what is gone, then what is new or changed.
  std::string difference(const PodStore& before, const PodStore& after) const override {
    std::string text;
    const auto gone = [&](const Pod& pod, std::int64_t version) {
      text += event("DELETED", pod, version, pod_json(pod, version));
    };
    for (auto [at, end] = before.range(name_space_); at < end; ++at) {
      const auto& pod = before.pod(at);
      if (selected(options().select, pod) && !after.find(pod.name_space, pod.name))
        gone(pod, after.version());
    }
    std::vector<std::size_t> changed;
    for (auto [at, end] = after.range(name_space_); at < end; ++at) {
      if (after.pod_version(at) > before.version()) changed.push_back(at);
    }
    std::sort(changed.begin(), changed.end(), [&](std::size_t a, std::size_t b) {
      return after.pod_version(a) < after.pod_version(b);
    });
    for (const auto at : changed) {
      const auto& pod = after.pod(at);
      const auto old = before.find(pod.name_space, pod.name);
      const bool was_seen = old && selected(options().select, before.pod(*old));
      if (selected(options().select, pod)) {
        text += event(was_seen ? "MODIFIED" : "ADDED", pod, after.pod_version(at), after.json(at));
      } else if (was_seen) {
        gone(before.pod(*old), after.pod_version(at));
      }
    }
    return text;
  }

  std::string name_space_;
  bool as_table_;
  IncludeObject include_;
};

class ObjectWatch : public Watch {
 public:
  ObjectWatch(WatchOptions options, Object like, std::shared_ptr<const History> history,
              std::chrono::milliseconds bookmark_every)
      : Watch(std::move(options), std::move(history), bookmark_every), like_(std::move(like)) {}

 private:
  static std::string event(std::string_view type, const Object& object, std::int64_t version) {
    return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, object.json(version));
  }
  bool is_seen(const Object& object) const {
    return object.api == like_.api && object.resource == like_.resource &&
           object.name_space == like_.name_space && selected(options().select, object);
  }

  std::string present() const override {
    std::string text;
    for (std::size_t i = 0; i < state().objects().size(); ++i) {
      if (is_seen(state().objects()[i]))
        text += event("ADDED", state().objects()[i], state().object_version(i));
    }
    return text;
  }

  std::string difference(const PodStore& before, const PodStore& after) const override {
    std::string text;
    for (const Object& object : before.objects()) {
      if (!is_seen(object)) continue;
      const auto now = after.find_object(object);
      if (!now || !is_seen(after.objects()[*now]))
        text += event("DELETED", object, after.version());
    }
    for (std::size_t i = 0; i < after.objects().size(); ++i) {
      const Object& object = after.objects()[i];
      if (!is_seen(object) || after.object_version(i) <= before.version()) continue;
      const auto old = before.find_object(object);
      text += event(old && is_seen(before.objects()[*old]) ? "MODIFIED" : "ADDED", object,
                    after.object_version(i));
    }
    return text;
  }

  std::string bookmark(bool end_of_initial_events) const override {
    return fmt::format(
        R"({{"type":"BOOKMARK","object":{{"kind":"{}","apiVersion":"{}","metadata":{{"resourceVersion":"{}",)"
        R"("creationTimestamp":null{}}}}}}})"
        "\n",
        like_.kind, like_.api_version, state().version(),
        end_of_initial_events ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "");
  }

  Object like_;  // its kind and namespace
};

}  // namespace

std::shared_ptr<BodyStream> make_watch(WatchOptions options, std::string name_space, bool as_table,
                                       IncludeObject include,
                                       std::shared_ptr<const History> history,
                                       std::chrono::milliseconds bookmark_every) {
  return std::make_shared<PodWatch>(std::move(options), std::move(name_space), as_table, include,
                                    std::move(history), bookmark_every);
}

std::shared_ptr<BodyStream> make_object_watch(WatchOptions options, Object like,
                                              std::shared_ptr<const History> history,
                                              std::chrono::milliseconds bookmark_every) {
  return std::make_shared<ObjectWatch>(std::move(options), std::move(like), std::move(history),
                                       bookmark_every);
}

}  // namespace muster::sim
