// A pod as protobuf, with the fields and in the order of the real API server, which writes empty texts too where Go has no
// pointer. Field numbers: generated.proto of k8s.io/api/core/v1 and of k8s.io/apimachinery.
#include "pod_protobuf.h"

#include <ctime>

#include <protozero/pbf_writer.hpp>

#include "pod_json.h"
#include "pod_parts.h"

namespace muster::sim {
namespace {

using protozero::pbf_writer;

std::int64_t seconds_of(const std::string& rfc3339) {
  std::tm time{};
  strptime(rfc3339.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time);
  return timegm(&time);
}

void add_time(pbf_writer& out, std::uint32_t number, const std::string& time) {
  pbf_writer inside(out, number);
  inside.add_int64(1, seconds_of(time));
  inside.add_int32(2, 0);
}

void add_labels(pbf_writer& out, std::uint32_t number, const Labels& labels) {
  for (const auto& [key, value] : labels) {
    pbf_writer entry(out, number);
    entry.add_string(1, key);
    entry.add_string(2, value);
  }
}

void add_unless_empty(pbf_writer& out, std::uint32_t number, const std::string& text) {
  if (!text.empty()) out.add_string(number, text);
}

void add_metadata(pbf_writer& pod_out, const Pod& pod, std::int64_t resource_version) {
  pbf_writer out(pod_out, 1);
  out.add_string(1, pod.name);
  out.add_string(2, pod.generate_name);
  out.add_string(3, pod.name_space);
  out.add_string(4, "");
  out.add_string(5, pod.uid);
  out.add_string(6, std::to_string(resource_version));
  out.add_int64(7, 0);
  add_time(out, 8, pod.created);
  if (!pod.deleted.empty()) {
    add_time(out, 9, pod.deleted);
    out.add_int64(10, 30);
  }
  add_labels(out, 11, pod.labels);
  add_labels(out, 12, pod.annotations);
  bool first = true;
  for (const auto& owner : pod.owners) {
    pbf_writer inside(out, 13);
    inside.add_string(1, owner.kind);
    inside.add_string(3, owner.name);
    inside.add_string(4, owner.uid);
    inside.add_string(5, owner.api_version);
    inside.add_bool(6, first);
    inside.add_bool(7, true);
    first = false;
  }
  if (pod.bytes == 0) return;
  for (const auto& [manager, subresource, fields] : kManagedFields) {
    pbf_writer entry(out, 17);
    entry.add_string(1, manager.data(), manager.size());
    entry.add_string(2, "Update");
    entry.add_string(3, "v1");
    add_time(entry, 4, pod.created);
    entry.add_string(6, "FieldsV1");
    {
      pbf_writer raw(entry, 7);
      raw.add_bytes(1, fields.data(), fields.size());
    }
    entry.add_string(8, subresource.data(), subresource.size());
  }
}

void add_quantities(pbf_writer& out, std::uint32_t number, const Labels& quantities) {
  for (const auto& [resource, quantity] : quantities) {
    pbf_writer entry(out, number);
    entry.add_string(1, resource);
    pbf_writer value(entry, 2);
    value.add_string(1, quantity);
  }
}

void add_container(pbf_writer& spec, const Container& container, std::int64_t padding) {
  pbf_writer out(spec, 2);
  out.add_string(1, container.name);
  out.add_string(2, container.image);
  out.add_string(5, "");
  for (const auto& port : container.ports) {
    pbf_writer inside(out, 6);
    inside.add_string(1, port.name);
    inside.add_int32(2, 0);
    inside.add_int32(3, static_cast<std::int32_t>(port.port));
    inside.add_string(4, port.protocol);
    inside.add_string(5, "");
  }
  for (const auto& [name, value] : padding_variables(padding)) {
    pbf_writer variable(out, 7);
    variable.add_string(1, name);
    variable.add_string(2, value);
  }
  {
    pbf_writer resources(out, 8);
    add_quantities(resources, 1, container.limits);
    add_quantities(resources, 2, container.limits);
  }
  out.add_string(13, "/dev/termination-log");
  out.add_string(14, "IfNotPresent");
  out.add_bool(16, false);
  out.add_bool(17, false);
  out.add_bool(18, false);
  out.add_string(20, "File");
}

void add_spec(pbf_writer& pod_out, const Pod& pod, std::int64_t padding) {
  pbf_writer out(pod_out, 2);
  bool first = true;
  for (const auto& container : pod.containers) {
    add_container(out, container, first ? padding : 0);
    first = false;
  }
  out.add_string(3, pod.restart_policy);
  out.add_int64(4, 30);
  out.add_string(6, "ClusterFirst");
  out.add_string(8, pod.service_account);
  out.add_string(9, pod.service_account);
  out.add_string(10, pod.node);
  out.add_bool(11, pod.host_network);
  out.add_bool(12, false);
  out.add_bool(13, false);
  out.add_string(14, "");
  out.add_string(16, pod.hostname);
  out.add_string(17, pod.subdomain);
  out.add_string(19, pod.scheduler);
  out.add_string(24, "");
  out.add_bool(30, true);
}

void add_container_status(pbf_writer& status, const Pod& pod, const Container& container) {
  pbf_writer out(status, 8);
  out.add_string(1, container.name);
  {
    pbf_writer state(out, 2);
    switch (container_state(pod)) {
      case ContainerState::kWaiting: {
        pbf_writer inside(state, 1);
        inside.add_string(1, std::string(waiting_reason(pod)));
        inside.add_string(2, pod.message);
        break;
      }
      case ContainerState::kRunning: {
        pbf_writer inside(state, 2);
        add_time(inside, 1, pod.created);
        break;
      }
      case ContainerState::kTerminated: {
        pbf_writer inside(state, 3);
        inside.add_int32(1, pod.phase == "Succeeded" ? 0 : 1);
        inside.add_int32(2, 0);
        inside.add_string(3, pod.phase == "Succeeded" ? "Completed" : "Error");
        inside.add_string(4, "");
        add_time(inside, 5, pod.created);
        add_time(inside, 6, pod.created);
        inside.add_string(7, "");
        break;
      }
    }
  }
  out.add_string(3, "");
  out.add_bool(4, pod.ready);
  out.add_int32(5, static_cast<std::int32_t>(pod.restarts));
  out.add_string(6, container.image);
  out.add_string(7, "");
  out.add_string(8, "");
  out.add_bool(9, container_state(pod) == ContainerState::kRunning);
}

void add_ips(pbf_writer& out, std::uint32_t number, const std::string& ip) {
  pbf_writer inside(out, number);
  inside.add_string(1, ip);
}

void add_status(pbf_writer& pod_out, const Pod& pod) {
  pbf_writer out(pod_out, 3);
  out.add_string(1, pod.phase);
  for (const auto& condition : conditions_of(pod)) {
    pbf_writer inside(out, 2);
    inside.add_string(1, condition.type);
    inside.add_string(2, condition.status);
    inside.add_string(3, "");
    add_time(inside, 4, pod.created);
    inside.add_string(5, condition.reason);
    inside.add_string(6, condition.message);
  }
  out.add_string(3, pod.waiting.empty() ? pod.message : "");
  out.add_string(4, pod.reason);
  out.add_string(5, pod.host_ip);
  out.add_string(6, pod.ips.empty() ? "" : pod.ips.front());
  if (!pod.node.empty()) {
    add_time(out, 7, pod.created);
    for (const auto& container : pod.containers) add_container_status(out, pod, container);
  }
  out.add_string(9, "BestEffort");
  add_unless_empty(out, 11, pod.nominated_node);
  for (const auto& ip : pod.ips) add_ips(out, 12, ip);
  if (!pod.host_ip.empty()) add_ips(out, 16, pod.host_ip);
}

}  // namespace

std::string pod_protobuf_item(const Pod& pod, std::int64_t resource_version) {
  std::string text;
  pbf_writer list(text);
  {
    pbf_writer out(list, 2);
    add_metadata(out, pod, resource_version);
    add_spec(out, pod, pod_padding(pod, resource_version));
    add_status(out, pod);
  }
  return text;
}

std::string protobuf_list_head(std::int64_t resource_version, std::string_view next,
                               std::int64_t remaining, std::size_t items_size) {
  std::string list;
  {
    pbf_writer list_out(list);
    pbf_writer metadata(list_out, 1);
    metadata.add_string(1, "");
    metadata.add_string(2, std::to_string(resource_version));
    metadata.add_string(3, next.data(), next.size());
    if (remaining > 0) metadata.add_int64(4, remaining);
  }
  std::string text("k8s\0", 4);
  {
    pbf_writer envelope(text);
    pbf_writer type(envelope, 1);
    type.add_string(1, "v1");
    type.add_string(2, "PodList");
  }
  // The tag and length of `raw`, whose end comes later.
  protozero::add_varint_to_buffer(&text, (2U << 3U) | 2U);
  protozero::add_varint_to_buffer(&text, list.size() + items_size);
  return text + list;
}

std::string protobuf_list_tail() {
  std::string text;
  pbf_writer envelope(text);
  envelope.add_string(3, "");
  envelope.add_string(4, "");
  return text;
}

}  // namespace muster::sim
