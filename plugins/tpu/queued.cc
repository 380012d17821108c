#include "plugins/tpu/queued.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <array>

#include "plugins/support/google/place.h"
#include "plugins/support/json_at.h"
#include "plugins/support/text.h"

namespace muster::tpu {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using support::text_at;
using support::google::last_segment;

constexpr int64_t kNodesMaximum = 10000;

constexpr std::array<StateWords, 9> kStates = {{
    {"CREATING", "it is being received", false},
    {"ACCEPTED", "it stands in the queue", false},
    {"WAITING_FOR_RESOURCES", "there is no capacity for it yet", false},
    {"PROVISIONING", "its TPUs are being made", false},
    {"ACTIVE", "its TPUs are there", false},
    {"FAILED", "it failed; delete it, and ask anew", true},
    {"DELETING", "it is being deleted", true},
    {"SUSPENDING", "its TPUs are being taken away", true},
    {"SUSPENDED", "its TPUs were taken away or deleted; delete it, and ask anew", true},
}};

// What is odd about it, "" for nothing.
std::string read_one(element at, Queued& out) {
  const std::string_view name = text_at(at, "/name");
  out.name = last_segment(name);
  out.zone = zone_in(name);
  if (out.name.empty() || out.zone.empty()) return "it has no name";
  out.state = text_at(at, "/state/state");
  out.error = text_at(at, "/state/failedData/error/message");
  array specs;
  if (at.at_pointer("/tpu/nodeSpec").get_array().get(specs)) return "";
  for (const element spec : specs) {
    QueuedNode node;
    node.zone = zone_in(text_at(spec, "/parent"));
    if (node.zone.empty()) node.zone = out.zone;
    node.type = text_at(spec, "/node/acceleratorType");
    node.name = text_at(spec, "/nodeId");
    if (!node.name.empty()) {
      out.nodes.push_back(node);
      continue;
    }
    for (const char* form : {"/multisliceParams", "/multiNodeParams"}) {
      element many;
      int64_t count = 0;
      if (spec.at_pointer(form).get(many) || many["nodeCount"].get_int64().get(count)) continue;
      const std::string prefix(text_at(many, "/nodeIdPrefix"));
      if (prefix.empty() || count < 0 || count > kNodesMaximum) return "its nodes have no names";
      for (int64_t n = 0; n < count; ++n) {
        node.name = fmt::format("{}-{}", prefix, n);
        out.nodes.push_back(node);
      }
    }
  }
  return "";
}

}  // namespace

bool Queued::lost() const {
  const StateWords* words = words_of(kStates, state);
  return words != nullptr && words->lost;
}

std::string Queued::in_words() const {
  std::string out = fmt::format("queued resource {} is {}", support::quote(name),
                                state.empty() ? "in no state yet" : state);
  if (const StateWords* words = words_of(kStates, state); words != nullptr)
    out += fmt::format(": {}", words->meaning);
  if (!error.empty()) out += fmt::format(" ({})", support::quote(error, 300));
  return out;
}

sdk::Result<Queued> read_queued(std::string_view json) {
  Queued out;
  if (auto read =
          read_single(json, "queued resources", [&](element at) { return read_one(at, out); });
      !read)
    return std::move(read).failure();
  return out;
}

sdk::Result<QueuedPage> read_queued_list(std::string_view json) {
  QueuedPage out;
  const auto one = [&](element at) { return read_one(at, out.queued.emplace_back()); };
  if (auto read = read_page(json, "queued resources", "queuedResources", one, out); !read)
    return std::move(read).failure();
  return out;
}

}  // namespace muster::tpu
