// Server side tables.
#include "table.h"

#include <ctime>

#include <fmt/format.h>

#include "json.h"
#include "pod_json.h"

namespace muster::sim {
namespace {

void column(JsonWriter& out, std::string_view name, std::string_view type, std::string_view format,
            std::string_view description, int priority) {
  out.open_object();
  out.member("name", name);
  out.member("type", type);
  out.member("format", format);
  out.member("description", description);
  out.member("priority", priority);
  out.close_object();
}

std::string age(const std::string& timestamp, std::int64_t now_seconds) {
  std::tm parts{};
  if (strptime(timestamp.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) == nullptr) return "<unknown>";
  return human_duration(now_seconds - timegm(&parts));
}

// The word of the STATUS column.
std::string_view shown_status(const Pod& pod) {
  if (!pod.deleted.empty()) return "Terminating";
  if (!pod.waiting.empty()) return pod.waiting;
  if (!pod.reason.empty()) return pod.reason;
  if (pod.phase == "Succeeded") return "Completed";
  if (pod.phase == "Failed") return "Error";
  if (pod.phase == "Pending") {
    for (const auto& condition : pod.conditions) {
      if (condition.type == "PodScheduled" && condition.reason == "SchedulingGated")
        return condition.reason;
    }
    if (!pod.node.empty()) return "ContainerCreating";
  }
  return pod.phase;
}

std::string_view or_none(std::string_view text) { return text.empty() ? "<none>" : text; }

void partial_object(JsonWriter& out, std::string_view metadata_json) {
  out.open_object();
  out.member("kind", "PartialObjectMetadata");
  out.member("apiVersion", "meta.k8s.io/v1");
  out.key("metadata");
  out.raw(metadata_json);
  out.close_object();
}

}  // namespace

std::string pod_columns() {
  JsonWriter out;
  out.open_array();
  column(out, "Name", "string", "name", "Name must be unique within a namespace.", 0);
  column(out, "Ready", "string", "",
         "The aggregate readiness state of this pod for accepting traffic.", 0);
  column(out, "Status", "string", "", "The aggregate status of the containers in this pod.", 0);
  column(out, "Restarts", "string", "",
         "The number of times the containers in this pod have been restarted.", 0);
  column(out, "Age", "string", "", "The time since the pod was created.", 0);
  column(out, "IP", "string", "", "The address of the pod.", 1);
  column(out, "Node", "string", "", "The node the pod runs on.", 1);
  column(out, "Nominated Node", "string", "", "The node the pod may get after a preemption.", 1);
  column(out, "Readiness Gates", "string", "", "Further conditions the pod waits for.", 1);
  out.close_array();
  return out.str();
}

std::string pod_row(const Pod& pod, std::int64_t resource_version, std::string_view pod_json,
                    IncludeObject include, std::int64_t now_seconds) {
  JsonWriter out;
  out.open_object();
  out.key("cells");
  out.open_array();
  out.value(pod.name);
  out.value(fmt::format("{}/{}", pod.ready ? pod.containers.size() : 0, pod.containers.size()));
  out.value(shown_status(pod));
  out.value(std::to_string(pod.restarts));
  out.value(age(pod.created, now_seconds));
  out.value(or_none(pod.ips.empty() ? std::string_view() : pod.ips.front()));
  out.value(or_none(pod.node));
  out.value(or_none(pod.nominated_node));
  out.value("<none>");
  out.close_array();
  if (include == IncludeObject::kMetadata) {
    out.key("object");
    partial_object(out, pod_metadata_json(pod, resource_version));
  } else if (include == IncludeObject::kObject) {
    out.key("object");
    out.raw(fmt::format("{{\"kind\":\"Pod\",\"apiVersion\":\"v1\",{}", pod_json.substr(1)));
  }
  out.close_object();
  return out.str();
}

std::string namespace_columns() {
  JsonWriter out;
  out.open_array();
  column(out, "Name", "string", "name", "Name must be unique.", 0);
  column(out, "Status", "string", "", "The status of the namespace", 0);
  column(out, "Age", "string", "", "The time since the namespace was created.", 0);
  out.close_array();
  return out.str();
}

std::string namespace_row(const std::string& name, std::string_view object_json,
                          IncludeObject include, std::int64_t now_seconds) {
  JsonWriter out;
  out.open_object();
  out.key("cells");
  out.open_array();
  out.value(name);
  out.value("Active");
  out.value(age("2026-01-01T00:00:00Z", now_seconds));
  out.close_array();
  if (include == IncludeObject::kMetadata) {
    JsonWriter metadata;
    metadata.open_object();
    metadata.member("name", name);
    metadata.close_object();
    out.key("object");
    partial_object(out, metadata.view());
  } else if (include == IncludeObject::kObject) {
    out.key("object");
    out.raw(
        fmt::format("{{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",{}", object_json.substr(1)));
  }
  out.close_object();
  return out.str();
}

std::string human_duration(std::int64_t seconds) {
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  const auto pair = [](std::int64_t big, char big_unit, std::int64_t small, char small_unit) {
    return small == 0 ? fmt::format("{}{}", big, big_unit)
                      : fmt::format("{}{}{}{}", big, big_unit, small, small_unit);
  };
  if (seconds < 120) return fmt::format("{}s", seconds);
  const auto minutes = seconds / 60;
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return fmt::format("{}m", minutes);
  const auto hours = minutes / 60;
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return fmt::format("{}h", hours);
  const auto days = hours / 24;
  if (hours < 192) return pair(days, 'd', hours % 24, 'h');
  if (days < 730) return fmt::format("{}d", days);
  if (days < 2920) return pair(days / 365, 'y', days % 365, 'd');
  return fmt::format("{}y", days / 365);
}

}  // namespace muster::sim
