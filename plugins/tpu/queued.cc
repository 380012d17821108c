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
using simdjson::dom::object;
using support::text_at;
using support::google::last_segment;

constexpr int64_t kNodesMaximum = 10000;

struct Words {
  const char* state;
  const char* meaning;
  bool lost;
};

constexpr std::array<Words, 9> kStates = {{
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

std::string zone_in(std::string_view name) {
  constexpr std::string_view kLocations = "/locations/";
  const size_t from = name.find(kLocations);
  if (from == std::string_view::npos) return "";
  const std::string_view zone = name.substr(from + kLocations.size());
  return std::string(zone.substr(0, zone.find('/')));
}

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
    node.zone = zone_in(fmt::format("{}/", text_at(spec, "/parent")));
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

sdk::Failure wrong(std::string_view why) {
  return {MUSTER_E_DATA_LOSS,
          fmt::format("Cloud TPU's answer for queued resources cannot be understood: {}", why),
          {}};
}

}  // namespace

bool Queued::lost() const {
  for (const Words& one : kStates)
    if (state == one.state) return one.lost;
  return false;
}

std::string Queued::in_words() const {
  std::string out = fmt::format("queued resource {} is {}", support::quote(name),
                                state.empty() ? "in no state yet" : state);
  for (const Words& one : kStates)
    if (state == one.state) out += fmt::format(": {}", one.meaning);
  if (!error.empty()) out += fmt::format(" ({})", support::quote(error, 300));
  return out;
}

sdk::Result<Queued> read_queued(std::string_view json) {
  simdjson::dom::parser parser;
  element root;
  if (const auto error = parser.parse(json.data(), json.size()).get(root))
    return wrong(simdjson::error_message(error));
  if (!root.is_object()) return wrong("it is no JSON object");
  Queued out;
  if (const std::string odd = read_one(root, out); !odd.empty()) return wrong(odd);
  return out;
}

sdk::Result<QueuedPage> read_queued_list(std::string_view json) {
  simdjson::dom::parser parser;
  element root;
  object whole;
  if (const auto error = parser.parse(json.data(), json.size()).get(root))
    return wrong(simdjson::error_message(error));
  if (root.get_object().get(whole)) return wrong("it is no JSON object");
  QueuedPage out;
  element list;
  if (!whole["queuedResources"].get(list)) {
    array items;
    if (list.get_array().get(items)) return wrong("its resources are no list");
    for (const element item : items) {
      if (!item.is_object()) return wrong("one of them is none");
      if (const std::string odd = read_one(item, out.queued.emplace_back()); !odd.empty())
        return wrong(odd);
    }
  }
  array unreachable;
  if (!whole["unreachable"].get_array().get(unreachable)) {
    for (const element one : unreachable) {
      std::string_view name;
      if (!one.get_string().get(name) && support::is_text(name))
        out.unreachable.emplace_back(last_segment(name));
    }
  }
  out.next = text_at(root, "/nextPageToken");
  return out;
}

}  // namespace muster::tpu
