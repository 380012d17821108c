#include "plugins/kubernetes/feeds.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plugins/kubernetes/list.h"
#include "plugins/kubernetes/pods_url.h"
#include "plugins/kubernetes/service.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::quote;

constexpr size_t kAtOnce = 32 << 10;  // bytes of events that are read in one

}  // namespace

sdk::Result<Feed::Taken> Feed::take(std::string_view bytes) {
  Taken all;
  // Many events may come at once; what they take besides their pods is that of a few.
  while (!bytes.empty() && !all.expired) {
    texts_.texts.clear();
    auto taken = apply(events_.take(bytes.substr(0, kAtOnce), texts_));
    if (!taken) return taken;
    all.heard = all.heard || taken->heard;
    all.progressed = all.progressed || taken->progressed;
    all.changed = all.changed || taken->changed;
    all.expired = taken->expired;
    bytes.remove_prefix(std::min(bytes.size(), kAtOnce));
  }
  return all;
}

sdk::Result<Feed::Taken> Feed::finish() {
  texts_.texts.clear();
  return apply(events_.finish(texts_));
}

sdk::Result<Feed::Taken> Feed::apply(sdk::Result<std::vector<Event>> events) {
  Taken taken;
  if (!events) return std::move(events).failure();
  for (Event& event : *events) {
    if (event.kind == Event::Kind::kError) {
      taken.expired = event.code == 410;
      if (taken.expired) return taken;
      return sdk::Failure{event.code == 403 ? MUSTER_E_PERMISSION_DENIED : MUSTER_E_UNAVAILABLE,
                          fmt::format("the API server ends the events of {}: {} {}", what(),
                                      event.code, quote(event.status.message, 500)),
                          {}};
    }
    taken.heard = true;
    const bool is_bookmark = event.kind == Event::Kind::kBookmark;
    taken.progressed = taken.progressed || is_bookmark || event.version != version_;
    version_ = std::move(event.version);
    if (is_bookmark) continue;
    auto changed = take(event);
    if (!changed) return std::move(changed).failure();
    taken.changed = taken.changed || *changed;
  }
  return taken;
}

// ---- Pods -----------------------------------------------------------------------------------

PodFeed::PodFeed(const Access& access, const Options& options, const Wanted& wanted,
                 Selector selector, sdk::Call& call)
    : Feed(EventReader(wanted)),
      access_(access),
      options_(options),
      wanted_(wanted),
      call_(call),
      selector_(std::move(selector)),
      pods_(wanted.annotations.size()) {}

sdk::Status PodFeed::list() {
  PodListReader reader;
  auto pods = list_pods(access_, options_, selector_, wanted_, reader, call_);
  if (!pods) return std::move(pods).failure();
  if (pods->version.empty())
    return sdk::Failure{MUSTER_E_UNIMPLEMENTED, "the list of pods has no resourceVersion", {}};
  version_ = pods->version;
  pods_.reset(*std::move(pods));
  return {};
}

std::string PodFeed::url() const { return pods_url(access_, selector_); }
std::string PodFeed::what() const { return fmt::format("the pods {}", quote(selector_.text)); }

sdk::Failure PodFeed::refusal(const sdk::Response& response) const {
  return pods_refusal(access_, selector_, "watch", response);
}

sdk::Result<bool> PodFeed::take(Event& event) {
  if (event.kind == Event::Kind::kDeleted) return pods_.remove(event.pod);
  pods_.put(event.pod);
  return true;
}

// ---- The object -----------------------------------------------------------------------------

// Its own version may be older than what the server still knows, so its watch begins without one: with the object itself.
sdk::Status ObjectFeed::list() {
  version_.clear();
  gone_ = false;
  plan_ = {};
  auto plan = finder_.read();
  if (!plan) return std::move(plan).failure();
  plan_ = *std::move(plan);
  return {};
}

std::string ObjectFeed::url() const { return access_.server + finder_.watch_question().path; }
std::string ObjectFeed::what() const { return finder_.question().what; }

sdk::Failure ObjectFeed::refusal(const sdk::Response& response) const {
  return question_refusal(access_, finder_.watch_question(), response);
}

sdk::Result<bool> ObjectFeed::take(Event& event) {
  if (event.kind == Event::Kind::kDeleted) {
    gone_ = true;
    return false;
  }
  auto plan = finder_.read(event.json);
  if (!plan) return std::move(plan).failure();
  const bool same = plan->version == plan_.version && plan->uid == plan_.uid;
  plan_ = *std::move(plan);
  return !same;
}

// ---- Slices ---------------------------------------------------------------------------------

SliceFeed::SliceFeed(const Access& access, const Options& options, sdk::Call& call)
    : Feed(EventReader()),
      access_(access),
      question_(service_question(access, options)),
      call_(call) {}

sdk::Status SliceFeed::list() {
  auto response = ask_server(access_, question_, call_);
  if (!response) return std::move(response).failure();
  // read_slices says what is wrong with it when it comes to the answer; here is looked for no more than is needed.
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  simdjson::dom::array items;
  std::string_view version;
  const std::string_view body = response->body();
  const auto wrong = [&](const char* why) {
    return sdk::Failure{
        MUSTER_E_DATA_LOSS,
        fmt::format("the API server's endpoint slices cannot be understood: {}", why),
        {{"endpoint", access_.server}}};
  };
  if (const auto error = parser.parse(body.data(), body.size()).get(root))
    return wrong(simdjson::error_message(error));
  if (root.at_pointer("/metadata/resourceVersion").get_string().get(version))
    return sdk::Failure{MUSTER_E_UNIMPLEMENTED, "the list has no resourceVersion", {}};
  if (root.at_pointer("/items").get_array().get(items)) return wrong("it has no 'items'");
  slices_.clear();
  for (const simdjson::dom::element slice : items) {
    std::string_view name;
    if (slice.at_pointer("/metadata/name").get_string().get(name)) return wrong("one has no name");
    slices_.insert_or_assign(std::string(name), simdjson::minify(slice));
  }
  version_ = version;
  return {};
}

std::string SliceFeed::url() const { return access_.server + question_.path; }
std::string SliceFeed::what() const { return question_.what; }

sdk::Failure SliceFeed::refusal(const sdk::Response& response) const {
  Question question = question_;
  question.verb = "watch";
  return question_refusal(access_, question, response);
}

sdk::Result<bool> SliceFeed::take(Event& event) {
  if (event.kind == Event::Kind::kDeleted) return slices_.erase(event.name) != 0;
  slices_.insert_or_assign(std::move(event.name), std::move(event.json));
  return true;
}

std::string SliceFeed::json() const {
  std::string out = R"({"kind":"EndpointSliceList","items":[)";
  for (const auto& [name, slice] : slices_) {
    if (out.back() != '[') out += ',';
    out += slice;
  }
  return out + "]}";
}

}  // namespace muster::kubernetes
