// A pod as JSON, in the shape and key order of the real API server.
#include "pod_json.h"

#include <fmt/format.h>

#include "json.h"

namespace muster::sim {
namespace {

void write_labels(JsonWriter& out, std::string_view key, const Labels& labels) {
  if (labels.empty()) return;
  out.key(key);
  out.open_object();
  for (const auto& [name, value] : labels) out.member(name, value);
  out.close_object();
}

// What the kubelet and the controllers leave in every real pod; more than a third of its bytes.
void write_managed_fields(JsonWriter& out, const Pod& pod) {
  const auto entry = [&](std::string_view manager, std::string_view subresource,
                         std::string_view fields) {
    out.open_object();
    out.member("manager", manager);
    out.member("operation", "Update");
    out.member("apiVersion", "v1");
    out.member("time", pod.created);
    out.member("fieldsType", "FieldsV1");
    out.key("fieldsV1");
    out.raw(fields);
    out.member_unless_empty("subresource", subresource);
    out.close_object();
  };
  out.key("managedFields");
  out.open_array();
  entry(
      "kube-controller-manager", "",
      R"({"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:job-name":{},"f:controller-uid":{}},)"
      R"("f:ownerReferences":{".":{},"k:{\"uid\":\"1b2f0000-0000-4000-8000-000000000001\"}":{}}},"f:spec":{)"
      R"("f:containers":{"k:{\"name\":\"main\"}":{".":{},"f:env":{},"f:image":{},"f:imagePullPolicy":{},"f:name":{},)"
      R"("f:resources":{".":{},"f:limits":{},"f:requests":{}},"f:terminationMessagePath":{},)"
      R"("f:terminationMessagePolicy":{}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},)"
      R"("f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{}}})");
  entry(
      "kubelet", "status",
      R"({"f:status":{"f:conditions":{"k:{\"type\":\"ContainersReady\"}":{".":{},"f:lastProbeTime":{},)"
      R"("f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Initialized\"}":{".":{},)"
      R"("f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Ready\"}":{".":{},)"
      R"("f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},)"
      R"("f:hostIP":{},"f:hostIPs":{},"f:phase":{},"f:podIP":{},"f:podIPs":{".":{},)"
      R"("k:{\"ip\":\"10.8.0.1\"}":{".":{},"f:ip":{}}},"f:startTime":{}}})");
  out.close_array();
}

void write_metadata(JsonWriter& out, const Pod& pod, std::int64_t resource_version,
                    bool managed_fields) {
  out.open_object();
  out.member("name", pod.name);
  out.member_unless_empty("generateName", pod.generate_name);
  out.member("namespace", pod.name_space);
  out.member("uid", pod.uid);
  out.member("resourceVersion", std::to_string(resource_version));
  out.member("creationTimestamp", pod.created);
  if (!pod.deleted.empty()) {
    out.member("deletionTimestamp", pod.deleted);
    out.member("deletionGracePeriodSeconds", 30);
  }
  write_labels(out, "labels", pod.labels);
  write_labels(out, "annotations", pod.annotations);
  if (!pod.owners.empty()) {
    out.key("ownerReferences");
    out.open_array();
    bool first = true;
    for (const auto& owner : pod.owners) {
      out.open_object();
      out.member("apiVersion", owner.api_version);
      out.member("kind", owner.kind);
      out.member("name", owner.name);
      out.member("uid", owner.uid);
      out.member("controller", first);
      out.member("blockOwnerDeletion", true);
      out.close_object();
      first = false;
    }
    out.close_array();
  }
  if (managed_fields) write_managed_fields(out, pod);
  out.close_object();
}

// Environment variables that together take exactly so many bytes: {"name":"N","value":"V"} each.
void write_padding(JsonWriter& out, std::int64_t bytes) {
  constexpr std::int64_t kFrame = 22;     // {"name":"","value":""}
  constexpr std::int64_t kNameSize = 12;  // TRAINER_0001
  constexpr std::int64_t kStep = 160;
  constexpr std::int64_t kLeast = kFrame + kNameSize;
  bool comma = false;
  for (int number = 0; bytes >= kLeast + (comma ? 1 : 0); ++number) {
    const std::int64_t left = bytes - (comma ? 1 : 0);
    // The last one takes what is left, so that no remainder is too small for one more.
    const std::int64_t size = left < kStep + kLeast + 1 ? left : kStep;
    out.open_object();
    out.member("name", fmt::format("TRAINER_{:04}", number % 10000));
    out.member("value", std::string(static_cast<std::size_t>(size - kLeast), 'x'));
    out.close_object();
    bytes = left - size;
    comma = true;
  }
}

void write_container(JsonWriter& out, const Container& container, std::int64_t padding) {
  out.open_object();
  out.member("name", container.name);
  out.member("image", container.image);
  if (!container.ports.empty()) {
    out.key("ports");
    out.open_array();
    for (const auto& port : container.ports) {
      out.open_object();
      out.member_unless_empty("name", port.name);
      out.member("containerPort", port.port);
      out.member("protocol", port.protocol);
      out.close_object();
    }
    out.close_array();
  }
  if (padding > 0) {
    out.key("env");
    out.open_array();
    write_padding(out, padding);
    out.close_array();
  }
  out.key("resources");
  out.open_object();
  write_labels(out, "limits", container.limits);
  write_labels(out, "requests", container.limits);
  out.close_object();
  out.member("terminationMessagePath", "/dev/termination-log");
  out.member("terminationMessagePolicy", "File");
  out.member("imagePullPolicy", "IfNotPresent");
  out.close_object();
}

void write_spec(JsonWriter& out, const Pod& pod, std::int64_t padding) {
  out.open_object();
  out.key("containers");
  out.open_array();
  bool first = true;
  for (const auto& container : pod.containers) {
    write_container(out, container, first ? padding : 0);
    first = false;
  }
  out.close_array();
  out.member("restartPolicy", pod.restart_policy);
  out.member("terminationGracePeriodSeconds", 30);
  out.member("dnsPolicy", "ClusterFirst");
  out.member("serviceAccountName", pod.service_account);
  out.member("serviceAccount", pod.service_account);
  out.member_unless_empty("nodeName", pod.node);
  if (pod.host_network) out.member("hostNetwork", true);
  out.key("securityContext");
  out.open_object();
  out.close_object();
  out.member_unless_empty("hostname", pod.hostname);
  out.member_unless_empty("subdomain", pod.subdomain);
  out.member("schedulerName", pod.scheduler);
  out.member("enableServiceLinks", true);
  out.close_object();
}

void write_condition(JsonWriter& out, const Pod& pod, std::string_view type,
                     std::string_view status, std::string_view reason, std::string_view message) {
  out.open_object();
  out.member("type", type);
  out.member("status", status);
  out.key("lastProbeTime");
  out.null();
  out.member("lastTransitionTime", pod.created);
  out.member_unless_empty("reason", reason);
  out.member_unless_empty("message", message);
  out.close_object();
}

// The four conditions every kubelet writes, unless the scenario says them itself, then its own.
void write_conditions(JsonWriter& out, const Pod& pod) {
  const auto given = [&](std::string_view type) {
    for (const auto& condition : pod.conditions) {
      if (condition.type == type) return true;
    }
    return false;
  };
  out.key("conditions");
  out.open_array();
  const std::string_view why = pod.ready                  ? ""
                               : pod.phase == "Succeeded" ? "PodCompleted"
                                                          : "ContainersNotReady";
  if (!pod.node.empty()) {
    if (!given("Initialized")) write_condition(out, pod, "Initialized", "True", "", "");
    if (!given("Ready")) write_condition(out, pod, "Ready", pod.ready ? "True" : "False", why, "");
    if (!given("ContainersReady"))
      write_condition(out, pod, "ContainersReady", pod.ready ? "True" : "False", why, "");
    if (!given("PodScheduled")) write_condition(out, pod, "PodScheduled", "True", "", "");
  }
  for (const auto& condition : pod.conditions) {
    write_condition(out, pod, condition.type, condition.status, condition.reason,
                    condition.message);
  }
  out.close_array();
}

void write_container_state(JsonWriter& out, const Pod& pod) {
  out.key("state");
  out.open_object();
  const bool ended = pod.phase == "Succeeded" || pod.phase == "Failed";
  out.key(ended                                           ? "terminated"
          : pod.phase == "Running" && pod.waiting.empty() ? "running"
                                                          : "waiting");
  out.open_object();
  if (ended) {
    out.member("exitCode", pod.phase == "Succeeded" ? 0 : 1);
    out.member("reason", pod.phase == "Succeeded" ? "Completed" : "Error");
    out.member("startedAt", pod.created);
    out.member("finishedAt", pod.created);
  } else if (pod.phase == "Running" && pod.waiting.empty()) {
    out.member("startedAt", pod.created);
  } else {
    out.member("reason", pod.waiting.empty() ? "ContainerCreating" : pod.waiting);
    out.member_unless_empty("message", pod.message);
  }
  out.close_object();
  out.close_object();
}

void write_status(JsonWriter& out, const Pod& pod) {
  out.open_object();
  out.member("phase", pod.phase);
  write_conditions(out, pod);
  out.member_unless_empty("message", pod.waiting.empty() ? pod.message : "");
  out.member_unless_empty("reason", pod.reason);
  out.member_unless_empty("nominatedNodeName", pod.nominated_node);
  if (!pod.host_ip.empty()) {
    out.member("hostIP", pod.host_ip);
    out.key("hostIPs");
    out.open_array();
    out.open_object();
    out.member("ip", pod.host_ip);
    out.close_object();
    out.close_array();
  }
  if (!pod.ips.empty()) {
    out.member("podIP", pod.ips.front());
    out.key("podIPs");
    out.open_array();
    for (const auto& ip : pod.ips) {
      out.open_object();
      out.member("ip", ip);
      out.close_object();
    }
    out.close_array();
  }
  if (!pod.node.empty()) {
    out.member("startTime", pod.created);
    out.key("containerStatuses");
    out.open_array();
    for (const auto& container : pod.containers) {
      out.open_object();
      out.member("name", container.name);
      write_container_state(out, pod);
      out.key("lastState");
      out.open_object();
      out.close_object();
      out.member("ready", pod.ready);
      out.member("restartCount", pod.restarts);
      out.member("image", container.image);
      out.member("imageID", "");
      out.member("started", pod.phase == "Running" && pod.waiting.empty());
      out.close_object();
    }
    out.close_array();
  }
  out.member("qosClass", "BestEffort");
  out.close_object();
}

std::string write_pod(const Pod& pod, std::int64_t resource_version, std::int64_t padding) {
  JsonWriter out;
  out.open_object();
  out.key("metadata");
  write_metadata(out, pod, resource_version, pod.bytes > 0);
  out.key("spec");
  write_spec(out, pod, padding);
  out.key("status");
  write_status(out, pod);
  out.close_object();
  return out.str();
}

}  // namespace

std::string pod_json(const Pod& pod, std::int64_t resource_version) {
  std::string json = write_pod(pod, resource_version, 0);
  constexpr std::int64_t kEnvFrame = 9;  // "env":[],
  const std::int64_t missing = pod.bytes - static_cast<std::int64_t>(json.size()) - kEnvFrame;
  // One variable takes 34 bytes at least; a gap smaller than that stays.
  if (missing < 34) return json;
  return write_pod(pod, resource_version, missing);
}

std::string pod_metadata_json(const Pod& pod, std::int64_t resource_version) {
  JsonWriter out;
  write_metadata(out, pod, resource_version, false);
  return out.str();
}

}  // namespace muster::sim
