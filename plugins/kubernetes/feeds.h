// What a watch follows: lists of the API server, each kept up to date by the events that come after it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/access.h"
#include "plugins/kubernetes/events.h"
#include "plugins/kubernetes/followed_pods.h"
#include "plugins/kubernetes/object.h"
#include "plugins/kubernetes/options.h"
#include "plugins/kubernetes/question.h"

namespace muster::kubernetes {

// One of them. What it holds is of `version`.
class Feed {
 public:
  explicit Feed(EventReader events) : events_(std::move(events)) {}
  virtual ~Feed() = default;
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  // Asks for all of it anew.
  virtual sdk::Status list() = 0;
  // "https://.../pods?labelSelector=app%3Dt"; further parameters follow with '&'.
  virtual std::string url() const = 0;
  virtual std::string what() const = 0;  // "the pods 'app=t'"
  // What an answer with another status than 200 to its watch means.
  virtual sdk::Failure refusal(const sdk::Response& response) const = 0;
  // Whether it is to be listed anew although nothing failed.
  virtual bool is_outgrown() const { return false; }

  // Before each stream; then its bytes.
  void begin() { events_.begin(); }
  // What has become of it with them.
  struct Taken {
    bool heard = false;       // an event came
    bool progressed = false;  // one with a version that was not known, or a bookmark
    bool changed = false;
    bool expired = false;  // the server no longer knows the version: to be listed anew
  };
  sdk::Result<Taken> take(std::string_view bytes);
  // After the last of a stream that ended well.
  sdk::Result<Taken> finish();
  // Nothing of a further event has come yet.
  bool between_events() const { return events_.between_events(); }

  // From which a watch goes on; "": it begins with all that there is.
  const std::string& version() const { return version_; }

 protected:
  // One event of an object; whether that changed anything.
  virtual sdk::Result<bool> take(Event& event) = 0;

  std::string version_;

 private:
  sdk::Result<Taken> apply(sdk::Result<std::vector<Event>> events);

  EventReader events_;
  PodList texts_;  // of the pods of the events that were read last; has none itself
};

// The pods of a selector.
class PodFeed : public Feed {
 public:
  // All of them outlive this.
  PodFeed(const Access& access, const Options& options, const Wanted& wanted, Selector selector,
          sdk::Call& call);

  sdk::Status list() override;
  std::string url() const override;
  std::string what() const override;
  sdk::Failure refusal(const sdk::Response& response) const override;

  const Selector& selector() const { return selector_; }
  // Holds from the next list on.
  void select(Selector selector) { selector_ = std::move(selector); }
  // As they are, in natural order of name. Good until the next list or event.
  const Pods& pods() { return pods_.pods(); }

 protected:
  sdk::Result<bool> take(Event& event) override;

 private:
  const Access& access_;
  const Options& options_;
  const Wanted& wanted_;
  sdk::Call& call_;
  Selector selector_;
  FollowedPods pods_;
};

// The object of a finder.
class ObjectFeed : public Feed {
 public:
  ObjectFeed(const Access& access, const ObjectFinder& finder)
      : Feed(EventReader()), access_(access), finder_(finder) {}

  sdk::Status list() override;
  std::string url() const override;
  std::string what() const override;
  sdk::Failure refusal(const sdk::Response& response) const override;
  bool is_outgrown() const override { return gone_; }

  const Plan& plan() const { return plan_; }

 protected:
  sdk::Result<bool> take(Event& event) override;

 private:
  const Access& access_;
  const ObjectFinder& finder_;
  Plan plan_;
  bool gone_ = false;  // asking again tells what to say of that
};

// The EndpointSlices of a Service.
class SliceFeed : public Feed {
 public:
  // Access and call outlive this.
  SliceFeed(const Access& access, const Options& options, sdk::Call& call);

  sdk::Status list() override;
  std::string url() const override;
  std::string what() const override;
  sdk::Failure refusal(const sdk::Response& response) const override;

  // An EndpointSliceList of what there is.
  std::string json() const;

 protected:
  sdk::Result<bool> take(Event& event) override;

 private:
  const Access& access_;
  const Question question_;  // of the list
  sdk::Call& call_;
  std::map<std::string, std::string> slices_;  // by name
};

}  // namespace muster::kubernetes
