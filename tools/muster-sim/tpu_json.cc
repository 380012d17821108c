// Nodes and queued resources as the versions of the Cloud TPU API write them. What is empty or zero is left out.
#include "tpu_json.h"

#include <algorithm>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "json.h"

namespace muster::sim {
namespace {

// "V5LITE_POD" of v5litepod-16.
std::string generation(const std::string& type) {
  const std::string family = type.substr(0, type.rfind('-'));
  if (family == "v5litepod") return "V5LITE_POD";
  std::string out;
  for (const char c : family) out += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return out;
}

std::string parent(const Google& world, const std::string& zone) {
  return fmt::format("projects/{}/locations/{}", world.project, zone);
}

void write_flag(JsonWriter& out, const char* name, bool flag) {
  if (flag) out.member(name, true);
}

void write_endpoints(JsonWriter& out, const TpuNode& node, bool v1) {
  out.key("networkEndpoints");
  out.open_array();
  for (const TpuHost& host : node.hosts) {
    out.open_object();
    out.member("ipAddress", host.ip);
    if (node.port != 0) out.member("port", node.port);
    if (!v1) {
      out.key("accessConfig");
      out.open_object();
      out.member_unless_empty("externalIp", host.external_ip);
      out.close_object();
    }
    out.close_object();
  }
  out.close_array();
}

void write_symptoms(JsonWriter& out, const TpuNode& node) {
  out.key("symptoms");
  out.open_array();
  for (const TpuSymptom& symptom : node.symptoms) {
    out.open_object();
    const std::time_t created = std::time(nullptr) - symptom.age_s;
    out.member("createTime", symptom.created.empty()
                                 ? fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", fmt::gmtime(created))
                                 : symptom.created);
    out.member("symptomType", symptom.type);
    out.member_unless_empty("details", symptom.details);
    out.member("workerId", symptom.worker);
    out.close_object();
  }
  out.close_array();
}

void write_texts(JsonWriter& out, const char* name,
                 const std::vector<std::pair<std::string, std::string>>& texts) {
  if (texts.empty()) return;
  out.key(name);
  out.open_object();
  for (const auto& [key, value] : texts) out.member(key, value);
  out.close_object();
}

void write_v1(JsonWriter& out, const TpuNode& node) {
  out.member("tensorflowVersion", node.tensorflow_version);
  out.member("network", "global/networks/default");
  out.member("serviceAccount", "service-271828182845@cloud-tpu.iam.gserviceaccount.com");
  if (!node.hosts.empty()) {
    out.member("ipAddress", node.hosts.front().ip);
    if (node.port != 0) out.member("port", std::to_string(node.port));
  }
  if (!node.legacy && !node.hosts.empty()) write_endpoints(out, node, true);
  out.member("apiVersion", "V1");
}

void write_v2(JsonWriter& out, const Google& world, const TpuNode& node,
              const std::string& version) {
  out.member("id", node.id);
  out.member("runtimeVersion", node.runtime_version);
  write_texts(out, "metadata", node.metadata);
  if (!node.topology.empty()) {
    out.key("acceleratorConfig");
    out.open_object();
    out.member("type", generation(node.type));
    out.member("topology", node.topology);
    out.close_object();
  }
  out.key("networkConfig");
  out.open_object();
  out.member("network", fmt::format("projects/{}/global/networks/default", world.project));
  out.close_object();
  out.key("serviceAccount");
  out.open_object();
  out.member("email", world.project_number + "-compute@developer.gserviceaccount.com");
  out.close_object();
  if (!node.queued_resource.empty())
    out.member("queuedResource",
               parent(world, node.zone) + "/queuedResources/" + node.queued_resource);
  if (!node.hosts.empty()) write_endpoints(out, node, false);
  out.member("apiVersion", version == "v2" ? "V2" : "V2_ALPHA1");
}

}  // namespace

std::string node_json(const Google& world, const TpuNode& node, const std::string& version) {
  JsonWriter out;
  out.open_object();
  out.member("name", parent(world, node.zone) + "/nodes/" + node.name);
  out.member("acceleratorType", node.type);
  out.member("state", node.state);
  out.member_unless_empty("health", node.health);
  out.member_unless_empty("healthDescription", node.health_description);
  out.member("createTime", "2026-02-11T11:14:15.926535Z");
  write_texts(out, "labels", node.labels);
  if (!node.symptoms.empty()) write_symptoms(out, node);
  if (node.spot || node.preemptible || node.reserved) {
    out.key("schedulingConfig");
    out.open_object();
    write_flag(out, "preemptible", node.preemptible);
    write_flag(out, "reserved", node.reserved);
    if (version != "v1") write_flag(out, "spot", node.spot);
    out.close_object();
  }
  if (version == "v1") {
    write_v1(out, node);
  } else {
    write_v2(out, world, node, version);
  }
  out.close_object();
  return out.str();
}

std::string queued_json(const Google& world, const QueuedResource& queued,
                        const std::string& version) {
  JsonWriter out;
  out.open_object();
  const std::string in = parent(world, queued.zone);
  out.member("name", in + "/queuedResources/" + queued.name);
  out.key("state");
  out.open_object();
  out.member("state", queued.state);
  if (!queued.error.empty()) {
    out.key("failedData");
    out.open_object();
    out.key("error");
    out.open_object();
    out.member("code", 8);
    out.member("message", queued.error);
    out.close_object();
    out.close_object();
  }
  out.close_object();
  out.key("tpu");
  out.open_object();
  out.key("nodeSpec");
  out.open_array();
  const auto spec = [&](const std::string& name) {
    out.open_object();
    out.member("parent", in);
    if (name.empty()) {
      out.key(version == "v2" ? "multisliceParams" : "multiNodeParams");
      out.open_object();
      out.member("nodeCount", queued.count);
      out.member("nodeIdPrefix", queued.prefix);
      out.close_object();
    } else {
      out.member("nodeId", name);
    }
    out.key("node");
    out.open_object();
    out.member("acceleratorType", queued.type);
    out.member("runtimeVersion", "v2-alpha-tpuv5-lite");
    out.close_object();
    out.close_object();
  };
  if (!queued.prefix.empty()) spec("");
  for (const auto& name : queued.nodes) spec(name);
  out.close_array();
  out.close_object();
  out.close_object();
  return out.str();
}

std::map<std::string, std::string> tpu_attributes(const Google& world, const TpuNode& node) {
  const OwnMachine& machine = *world.machine;
  const std::string worker = std::to_string(machine.worker);
  std::map<std::string, std::string> out;
  out["accelerator-type"] = node.type;
  out["agent-worker-number"] = worker;
  out["instance-id"] = node.name;
  std::string& endpoints = out["worker-network-endpoints"];
  for (const TpuHost& host : node.hosts)
    endpoints += (endpoints.empty() ? "" : ",") + ("unknown:unknown:" + host.ip);
  std::string& env = out["tpu-env"];
  const auto line = [&](const char* key, const std::string& value) {
    if (!value.empty()) env += fmt::format("{}: '{}'\n", key, value);
  };
  line("ACCELERATOR_TYPE", node.type);
  line("CHIPS_PER_HOST_BOUNDS", "2,2,1");
  line("NODE_ID", node.name);
  line("TOPOLOGY", node.topology);
  line("TYPE", generation(node.type));
  line("WORKER_ID", worker);
  line("ZONE", node.zone);
  line("PREEMPTIBLE", node.spot || node.preemptible ? "true" : "false");
  line("RUNTIME_VERSION", node.runtime_version);
  const auto own = std::find(machine.slices.begin(), machine.slices.end(), node.name);
  if (own == machine.slices.end()) return out;
  for (const TpuNode& first : world.tpus)
    if (first.name == machine.slices.front() && first.zone == node.zone && !first.hosts.empty())
      line("MEGASCALE_COORDINATOR_ADDRESS", first.hosts.front().ip);
  line("MEGASCALE_NUM_SLICES", std::to_string(machine.slices.size()));
  line("MEGASCALE_SLICE_ID", std::to_string(own - machine.slices.begin()));
  return out;
}

}  // namespace muster::sim
