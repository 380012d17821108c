// A pod as JSON, in the shape and key order of the real API server.
#include "pod_json.h"

#include <fmt/format.h>

#include "json.h"
#include "pod_parts.h"

namespace muster::sim {
namespace {

void write_labels(JsonWriter& out, std::string_view key, const Labels& labels) {
  if (labels.empty()) return;
  out.key(key);
  out.open_object();
  for (const auto& [name, value] : labels) out.member(name, value);
  out.close_object();
}

void write_managed_fields(JsonWriter& out, const Pod& pod) {
  out.key("managedFields");
  out.open_array();
  for (const auto& [manager, subresource, fields] : kManagedFields) {
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
  }
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
    for (const auto& [name, value] : padding_variables(padding)) {
      out.open_object();
      out.member("name", name);
      out.member("value", value);
      out.close_object();
    }
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

void write_conditions(JsonWriter& out, const Pod& pod) {
  out.key("conditions");
  out.open_array();
  for (const auto& condition : conditions_of(pod)) {
    out.open_object();
    out.member("type", condition.type);
    out.member("status", condition.status);
    out.key("lastProbeTime");
    out.null();
    out.member("lastTransitionTime", pod.created);
    out.member_unless_empty("reason", condition.reason);
    out.member_unless_empty("message", condition.message);
    out.close_object();
  }
  out.close_array();
}

void write_container_state(JsonWriter& out, const Pod& pod) {
  out.key("state");
  out.open_object();
  switch (container_state(pod)) {
    case ContainerState::kTerminated:
      out.key("terminated");
      out.open_object();
      out.member("exitCode", pod.phase == "Succeeded" ? 0 : 1);
      out.member("reason", pod.phase == "Succeeded" ? "Completed" : "Error");
      out.member("startedAt", pod.created);
      out.member("finishedAt", pod.created);
      break;
    case ContainerState::kRunning:
      out.key("running");
      out.open_object();
      out.member("startedAt", pod.created);
      break;
    case ContainerState::kWaiting:
      out.key("waiting");
      out.open_object();
      out.member("reason", waiting_reason(pod));
      out.member_unless_empty("message", pod.message);
      break;
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

std::int64_t pod_padding(const Pod& pod, std::int64_t resource_version) {
  if (pod.bytes == 0) return 0;
  constexpr std::int64_t kEnvFrame = 9;  // "env":[],
  const std::string json = write_pod(pod, resource_version, 0);
  const std::int64_t missing = pod.bytes - static_cast<std::int64_t>(json.size()) - kEnvFrame;
  // One variable takes 34 bytes at least; a gap smaller than that stays.
  return missing < 34 ? 0 : missing;
}

std::string pod_json(const Pod& pod, std::int64_t resource_version) {
  return write_pod(pod, resource_version, pod_padding(pod, resource_version));
}

std::string pod_metadata_json(const Pod& pod, std::int64_t resource_version) {
  JsonWriter out;
  write_metadata(out, pod, resource_version, false);
  return out.str();
}

}  // namespace muster::sim
