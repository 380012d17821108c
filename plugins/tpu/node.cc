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
using support::text_at;
using support::google::last_segment;

constexpr int64_t kRecentSymptom_s = 90;  // as TensorFlow's client has it

constexpr std::array<StateWords, 15> kStates = {{
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

std::string read_one(element at, Node& out) {
  const std::string_view name = text_at(at, "/name");
  out.name = last_segment(name);
  out.zone = zone_in(name);
  if (out.name.empty() || out.zone.empty()) return "it has no name";
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
  return "";
}

}  // namespace

sdk::Result<Node> read_node(std::string_view json) {
  Node out;
  if (auto read = read_single(json, "a node", [&](element at) { return read_one(at, out); }); !read)
    return std::move(read).failure();
  return out;
}

sdk::Result<NodePage> read_nodes(std::string_view json) {
  NodePage out;
  const auto one = [&](element at) { return read_one(at, out.nodes.emplace_back()); };
  if (auto read = read_page(json, "a list of nodes", "nodes", one, out); !read)
    return std::move(read).failure();
  return out;
}

std::string why_missing(const Node& node, bool health_counts) {
  std::string out;
  if (node.state != "READY") {
    const StateWords* words = words_of(kStates, node.state);
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
  const StateWords* words = words_of(kStates, node.state);
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
