#include "plugins/tpu/node.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plugins/support/quote_answer.h"
#include "plugins/support/rfc3339.h"
#include "plugins/support/strict_json.h"
#include "plugins/support/text.h"

namespace muster::tpu {
namespace {

using support::Ip;
using support::Range;
using support::StrictJson;

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

// What is empty is left out by the API, and a port of 0 with it: then it is the usual one.
constexpr Range kPorts = {1, 65535};

void read_endpoints(const StrictJson& at, Node& out) {
  for (const StrictJson& one : at.list_or_none("/networkEndpoints"))
    out.endpoints.push_back({std::string(one.ip_or_none("/ipAddress", Ip::kEither)),
                             std::string(one.ip_or_none("/accessConfig/externalIp", Ip::kEither)),
                             one.number_or_digits_or("/port", kPorts, 0)});
  if (!out.endpoints.empty()) return;
  // Of old there was one.
  const std::string_view ip = at.ip_or_none("/ipAddress", Ip::kEither);
  const int64_t port = at.number_or_digits_or("/port", kPorts, 0);
  if (!ip.empty()) out.endpoints.push_back({std::string(ip), "", port});
}

void read_symptoms(const StrictJson& at, Node& out) {
  for (const StrictJson& one : at.list_or_none("/symptoms")) {
    Symptom symptom;
    symptom.type = one.text_or("/symptomType", "");
    symptom.details = one.text_or("/details", "");
    symptom.worker = one.text_or("/workerId", "");
    symptom.created = one.text_or("/createTime", "");
    if (!symptom.type.empty()) out.symptoms.push_back(std::move(symptom));
  }
}

void read_one(const StrictJson& at, Node& out) {
  ResourceName name = resource_name(at);
  out.name = std::move(name.name);
  out.zone = std::move(name.zone);
  out.id = at.text_or("/id", "");
  out.type = at.text_or("/acceleratorType", "");
  out.topology = at.text_or("/acceleratorConfig/topology", "");
  out.state = at.text_or("/state", "");
  out.health = at.text_or("/health", "");
  out.health_description = at.text_or("/healthDescription", "");
  out.runtime = at.text_or("/runtimeVersion", "");
  if (out.runtime.empty()) out.runtime = at.text_or("/tensorflowVersion", "");
  out.provisioning = at.flag_or("/schedulingConfig/spot", false)          ? "SPOT"
                     : at.flag_or("/schedulingConfig/preemptible", false) ? "PREEMPTIBLE"
                     : at.flag_or("/schedulingConfig/reserved", false)    ? "RESERVED"
                                                                          : "";
  read_endpoints(at, out);
  read_symptoms(at, out);
}

}  // namespace

sdk::Result<Node> read_node(std::string_view json) {
  Node out;
  if (auto read = read_single(json, "a node", [&](const StrictJson& at) { read_one(at, out); });
      !read)
    return std::move(read).failure();
  return out;
}

sdk::Result<NodePage> read_nodes(std::string_view json) {
  NodePage out;
  const auto one = [&](const StrictJson& at) { read_one(at, out.nodes.emplace_back()); };
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
                             : support::plain_answer(node.state);
  } else if (health_counts && !node.health.empty() && node.health != "HEALTHY" &&
             node.health != "HEALTH_UNSPECIFIED") {
    out = "it is READY, and its health is " + support::plain_answer(node.health);
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
    out += support::plain_answer(symptom.type);
    if (!symptom.worker.empty()) out += " on worker " + support::plain_answer(symptom.worker);
    if (!symptom.created.empty()) out += " at " + support::plain_answer(symptom.created);
    if (!symptom.details.empty()) out += ": " + support::quote(symptom.details, 200);
    if (out.size() > 2000) return out + "; ...";
  }
  return out;
}

}  // namespace muster::tpu
