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

// Texts that no pod has any longer are let go by a new list.
constexpr size_t kTextsMinimum = 16 << 20;

}  // namespace

sdk::Result<Feed::Taken> Feed::take(std::string_view bytes) {
  Taken taken;
  auto events = events_.take(bytes, texts_);
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
    version_ = std::move(event.version);
    if (event.kind == Event::Kind::kBookmark) continue;
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
      selector_(std::move(selector)) {}

sdk::Status PodFeed::list() {
  PodListReader reader;
  auto pods = list_pods(access_, options_, selector_, wanted_, reader, call_);
  if (!pods) return std::move(pods).failure();
  if (pods->version.empty())
    return sdk::Failure{MUSTER_E_UNIMPLEMENTED, "the list of pods has no resourceVersion", {}};
  version_ = pods->version;
  pods_ = std::exchange(pods->pods, {});
  sort();
  texts_ = *std::move(pods);
  listed_size_ = texts_.texts.size();
  return {};
}

std::string PodFeed::url() const { return pods_url(access_, selector_); }
std::string PodFeed::what() const { return fmt::format("the pods {}", quote(selector_.text)); }

sdk::Failure PodFeed::refusal(const sdk::Response& response) const {
  return pods_refusal(access_, selector_, "watch", response);
}

bool PodFeed::is_outgrown() const { return texts_.texts.size() > 2 * listed_size_ + kTextsMinimum; }

sdk::Result<bool> PodFeed::take(Event& event) {
  const auto [at, added] = places_.try_emplace(full_name(event.pod), pods_.size());
  if (event.kind == Event::Kind::kChanged) {
    if (added) pods_.emplace_back();
    sorted_ = sorted_ && !added;
    pods_[at->second] = event.pod;
    return true;
  }
  // The last one takes its place: of many that go at once each costs the same.
  const size_t place = at->second;
  places_.erase(at);
  if (added) return false;
  if (place + 1 != pods_.size()) {
    pods_[place] = pods_.back();
    places_[full_name(pods_[place])] = place;
    sorted_ = false;
  }
  pods_.pop_back();
  return true;
}

void PodFeed::sort() {
  std::vector<const Pod*> order;
  order.reserve(pods_.size());
  for (const Pod& pod : pods_) order.push_back(&pod);
  std::sort(order.begin(), order.end(), [](const Pod* a, const Pod* b) {
    return support::natural_compare(a->name, b->name) < 0;
  });
  Pods sorted;
  sorted.reserve(order.size());
  places_.clear();
  for (const Pod* pod : order)
    if (places_.emplace(full_name(*pod), sorted.size()).second) sorted.push_back(*pod);
  pods_ = std::move(sorted);
  sorted_ = true;
}

const Pods& PodFeed::pods() {
  if (!sorted_) sort();
  return pods_;
}

// ---- The object -----------------------------------------------------------------------------

// Its own version may be older than what the server still knows, so its watch begins without one: with the object itself.
sdk::Status ObjectFeed::list() {
  auto plan = finder_.read();
  if (!plan) return std::move(plan).failure();
  plan_ = *std::move(plan);
  version_.clear();
  gone_ = false;
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
