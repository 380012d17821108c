#include "compute_json.h"

#include <fmt/format.h>

namespace muster::sim {
namespace {

std::string region_of(const std::string& zone) { return zone.substr(0, zone.rfind('-')); }

void write_interface(JsonWriter& out, const Instance& instance, const Google& world) {
  out.open_object();
  out.member("kind", "compute#networkInterface");
  out.member("name", "nic0");
  out.member("network", resource_url(world, "global/networks/" + instance.network));
  out.member("subnetwork", resource_url(world, "regions/" + region_of(instance.zone) +
                                                   "/subnetworks/" + instance.subnetwork));
  out.member_unless_empty("networkIP", instance.ip);
  const bool v6 = !instance.ipv6.empty() || !instance.external_ipv6.empty();
  out.member("stackType", instance.ip.empty() ? "IPV6_ONLY" : v6 ? "IPV4_IPV6" : "IPV4_ONLY");
  if (!instance.ipv6.empty()) {
    out.member("ipv6AccessType", "INTERNAL");
    out.member("ipv6Address", instance.ipv6);
    out.member("internalIpv6PrefixLength", 96);
  }
  if (!instance.external_ipv6.empty()) {
    out.key("ipv6AccessConfigs");
    out.open_array();
    out.open_object();
    out.member("type", "DIRECT_IPV6");
    out.member("externalIpv6", instance.external_ipv6);
    out.close_object();
    out.close_array();
  }
  if (!instance.external_ip.empty()) {
    out.key("accessConfigs");
    out.open_array();
    out.open_object();
    out.member("type", "ONE_TO_ONE_NAT");
    out.member("name", "External NAT");
    out.member("natIP", instance.external_ip);
    out.close_object();
    out.close_array();
  }
  out.close_object();
}

void write_metadata(JsonWriter& out, const Instance& instance) {
  out.key("metadata");
  out.open_object();
  out.member("kind", "compute#metadata");
  if (!instance.metadata.empty() || instance.bytes > 0) {
    out.key("items");
    out.open_array();
    for (const auto& [key, value] : instance.metadata) {
      out.open_object();
      out.member("key", key);
      out.member("value", value);
      out.close_object();
    }
    // What makes real instances long is their startup script.
    if (const auto now = static_cast<std::int64_t>(out.view().size()); now < instance.bytes) {
      out.open_object();
      out.member("key", "startup-script");
      out.member("value", std::string(static_cast<std::size_t>(instance.bytes), '#'));
      out.close_object();
    }
    out.close_array();
  }
  out.close_object();
}

}  // namespace

std::string resource_url(const Google& world, const std::string& rest) {
  return fmt::format("https://www.{}/compute/v1/projects/{}/{}", world.universe, world.project,
                     rest);
}

void write_instance(JsonWriter& out, const Instance& instance, const Google& world) {
  const std::string zone = "zones/" + instance.zone;
  out.open_object();
  out.member("kind", "compute#instance");
  out.member("id", instance.id);
  out.member("name", instance.name);
  out.member("selfLink", resource_url(world, zone + "/instances/" + instance.name));
  out.member("zone", resource_url(world, zone));
  out.member("machineType", resource_url(world, zone + "/machineTypes/" + instance.machine_type));
  out.member("status", instance.status);
  out.member("creationTimestamp", "2026-01-01T00:00:00.000-08:00");
  out.member_unless_empty("hostname", instance.hostname);
  if (!instance.labels.empty()) {
    out.key("labels");
    out.open_object();
    for (const auto& [key, value] : instance.labels) out.member(key, value);
    out.close_object();
  }
  write_metadata(out, instance);
  out.key("tags");
  out.open_object();
  if (!instance.tags.empty()) {
    out.key("items");
    out.open_array();
    for (const auto& tag : instance.tags) out.value(tag);
    out.close_array();
  }
  out.member("fingerprint", "42WmSpB8rSM=");
  out.close_object();
  out.key("scheduling");
  out.open_object();
  out.member("provisioningModel", instance.spot ? "SPOT" : "STANDARD");
  if (instance.spot) out.member("preemptible", true);
  out.close_object();
  if (!instance.accelerator.empty()) {
    out.key("guestAccelerators");
    out.open_array();
    out.open_object();
    out.member("acceleratorType",
               resource_url(world, zone + "/acceleratorTypes/" + instance.accelerator));
    out.member("acceleratorCount", instance.accelerator_count);
    out.close_object();
    out.close_array();
  }
  if (!instance.physical_host.empty()) {
    out.key("resourceStatus");
    out.open_object();
    out.member("physicalHost", instance.physical_host);
    out.close_object();
  }
  out.key("networkInterfaces");
  out.open_array();
  write_interface(out, instance, world);
  out.close_array();
  out.close_object();
}

void write_member(JsonWriter& out, const Group& group, const GroupMember& member,
                  const Instance* instance, const Google& world) {
  out.open_object();
  out.member("instance", resource_url(world, "zones/" + member.zone + "/instances/" + member.name));
  out.member("status", instance == nullptr ? "PROVISIONING" : instance->status);
  if (!group.named_ports.empty()) {
    out.key("namedPorts");
    out.open_array();
    for (const auto& [name, port] : group.named_ports) {
      out.open_object();
      out.member("name", name);
      out.member("port", port);
      out.close_object();
    }
    out.close_array();
  }
  out.close_object();
}

void write_managed(JsonWriter& out, const GroupMember& member, const Instance* instance,
                   const Google& world) {
  out.open_object();
  out.member("instance", resource_url(world, "zones/" + member.zone + "/instances/" + member.name));
  if (instance != nullptr) {
    out.member("id", instance->id);
    out.member("instanceStatus", instance->status);
  }
  out.member("currentAction", member.action);
  if (!member.version.empty()) {
    out.key("version");
    out.open_object();
    out.member("instanceTemplate",
               resource_url(world, "global/instanceTemplates/" + member.version));
    out.member("name", member.version);
    out.close_object();
  }
  if (!member.error.empty()) {
    const auto colon = member.error.find(": ");
    out.key("lastAttempt");
    out.open_object();
    out.key("errors");
    out.open_object();
    out.key("errors");
    out.open_array();
    out.open_object();
    out.member("code", member.error.substr(0, colon));
    out.member("message", colon == std::string::npos ? "" : member.error.substr(colon + 2));
    out.member("location", "");
    out.close_object();
    out.close_array();
    out.close_object();
    out.close_object();
  }
  out.close_object();
}

}  // namespace muster::sim
