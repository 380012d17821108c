#include "plugins/tpu/node.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>

#include "plugins/support/google/place.h"
#include "plugins/support/json_at.h"
#include "plugins/support/rfc3339.h"
#include "plugins/support/text.h"

namespace muster::tpu {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;
using support::text_at;
using support::google::last_segment;

constexpr int64_t kRecentSymptom_s = 90;  // as TensorFlow's client has it

struct Words {
  const char* state;
  const char* meaning;
  bool lost;
};

constexpr std::array<Words, 15> kStates = {{
    {"CREATING", "it is being created", false},
    {"RESTARTING", "it is being restarted", false},
    {"REIMAGING", "it is being reimaged", false},
    {"DELETING", "it is being deleted", true},
    {"REPAIRING", "it is being repaired", false},
    {"STOPPED", "somebody stopped it, and can start it", true},
    {"STOPPING", "it is being stopped", true},
    {"STARTING", "it is being started", false},
    {"PREEMPTED", "Google Cloud took it back; delete it, and create it anew", true},
    {"TERMINATED", "it has ended; delete it, and create it anew", true},
    {"HIDING", "it is being hidden", true},
    {"HIDDEN", "it is hidden", true},
    {"UNHIDING", "it is being shown again", false},
    {"STATE_UNSPECIFIED", "the API does not say its state", false},
    {"UNKNOWN", "the API does not know its state", false},
}};

const Words* words_of(const std::string& state) {
  for (const Words& one : kStates)
    if (one.state == state) return &one;
  return nullptr;
}

// A number, or as v1 has it a text of one; 0 when it is no port.
int64_t port_at(element at, std::string_view pointer) {
  int64_t number = 0;
  if (!at.at_pointer(pointer).get_int64().get(number))
    return number >= 1 && number <= 65535 ? number : 0;
  return support::parse_digits(text_at(at, pointer), 65535).value_or(0);
}

bool flag_at(element at, std::string_view pointer) {
  bool flag = false;
  return !at.at_pointer(pointer).get_bool().get(flag) && flag;
}

void read_endpoints(element at, Node& out) {
  array endpoints;
  if (!at["networkEndpoints"].get_array().get(endpoints)) {
    for (const element one : endpoints)
      out.endpoints.push_back({std::string(text_at(one, "/ipAddress")),
                               std::string(text_at(one, "/accessConfig/externalIp")),
                               port_at(one, "/port")});
    return;
  }
  // Of old there was one.
  if (const std::string_view ip = text_at(at, "/ipAddress"); !ip.empty())
    out.endpoints.push_back({std::string(ip), "", port_at(at, "/port")});
}

void read_symptoms(element at, Node& out) {
  array symptoms;
  if (at["symptoms"].get_array().get(symptoms)) return;
  for (const element one : symptoms) {
    Symptom symptom;
    symptom.type = text_at(one, "/symptomType");
    symptom.details = text_at(one, "/details");
    symptom.worker = text_at(one, "/workerId");
    symptom.created = text_at(one, "/createTime");
    if (!symptom.type.empty()) out.symptoms.push_back(std::move(symptom));
  }
}

// Reads one; false when it has no name.
bool read_one(element at, Node& out) {
  // "projects/P/locations/Z/nodes/N"
  const std::string_view name = text_at(at, "/name");
  constexpr std::string_view kLocations = "/locations/";
  const size_t from = name.find(kLocations);
  out.name = last_segment(name);
  if (from == std::string_view::npos || out.name.empty()) return false;
  const std::string_view zone = name.substr(from + kLocations.size());
  out.zone = zone.substr(0, zone.find('/'));
  out.id = text_at(at, "/id");
  out.type = text_at(at, "/acceleratorType");
  out.topology = text_at(at, "/acceleratorConfig/topology");
  out.state = text_at(at, "/state");
  out.health = text_at(at, "/health");
  out.health_description = text_at(at, "/healthDescription");
  out.runtime = text_at(at, "/runtimeVersion");
  if (out.runtime.empty()) out.runtime = text_at(at, "/tensorflowVersion");
  out.provisioning = flag_at(at, "/schedulingConfig/spot")          ? "SPOT"
                     : flag_at(at, "/schedulingConfig/preemptible") ? "PREEMPTIBLE"
                     : flag_at(at, "/schedulingConfig/reserved")    ? "RESERVED"
                                                                    : "";
  read_endpoints(at, out);
  read_symptoms(at, out);
  return true;
}

sdk::Failure wrong(const char* what, std::string_view why) {
  return {MUSTER_E_DATA_LOSS,
          fmt::format("Cloud TPU's answer for {} cannot be understood: {}", what, why),
          {}};
}

}  // namespace

sdk::Result<Node> read_node(std::string_view json) {
  simdjson::dom::parser parser;
  element root;
  if (const auto error = parser.parse(json.data(), json.size()).get(root))
    return wrong("a node", simdjson::error_message(error));
  Node out;
  if (!root.is_object() || !read_one(root, out)) return wrong("a node", "it has no name");
  return out;
}

sdk::Result<NodePage> read_nodes(std::string_view json) {
  constexpr const char* kWhat = "a list of nodes";
  simdjson::dom::parser parser;
  element root;
  object whole;
  if (const auto error = parser.parse(json.data(), json.size()).get(root))
    return wrong(kWhat, simdjson::error_message(error));
  if (root.get_object().get(whole)) return wrong(kWhat, "it is no JSON object");
  NodePage out;
  element list;
  if (!whole["nodes"].get(list)) {  // absent when empty
    array items;
    if (list.get_array().get(items)) return wrong(kWhat, "its nodes are no list");
    for (const element item : items)
      if (!item.is_object() || !read_one(item, out.nodes.emplace_back()))
        return wrong(kWhat, "a node has no name");
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

std::string why_missing(const Node& node, bool health_counts) {
  std::string out;
  if (node.state != "READY") {
    const Words* words = words_of(node.state);
    out = node.state.empty() ? "it has no state yet"
          : words != nullptr ? fmt::format("{}: {}", node.state, words->meaning)
                             : node.state;
  } else if (health_counts && !node.health.empty() && node.health != "HEALTHY" &&
             node.health != "HEALTH_UNSPECIFIED") {
    out = "it is READY, and its health is " + node.health;
  }
  if (!out.empty() && !node.health_description.empty())
    out += fmt::format(" ({})", support::quote(node.health_description, 200));
  return out;
}

bool is_lost(const Node& node) {
  const Words* words = words_of(node.state);
  return words != nullptr && words->lost;
}

bool is_recoverable(const Node& node, int64_t now_s) {
  if (node.state == "PREEMPTED" || node.state == "TERMINATED") return false;
  return std::none_of(node.symptoms.begin(), node.symptoms.end(), [&](const Symptom& symptom) {
    const auto created = support::parse_rfc3339(symptom.created);
    return (symptom.type == "OUT_OF_MEMORY" || symptom.type == "HBM_OUT_OF_MEMORY") && created &&
           now_s - *created < kRecentSymptom_s;
  });
}

std::string symptoms_in_words(const Node& node) {
  std::string out;
  for (const Symptom& symptom : node.symptoms) {
    if (!out.empty()) out += "; ";
    out += symptom.type;
    if (!symptom.worker.empty()) out += " on worker " + symptom.worker;
    if (!symptom.created.empty()) out += " at " + symptom.created;
    if (!symptom.details.empty()) out += ": " + support::quote(symptom.details, 200);
    if (out.size() > 2000) return out + "; ...";
  }
  return out;
}

}  // namespace muster::tpu
