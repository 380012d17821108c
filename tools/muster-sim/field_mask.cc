#include "field_mask.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace muster::sim {
namespace {

// Every name that this cloud's resources have, and those that clients ask for besides.
constexpr std::array kKnown = std::to_array<std::string_view>({"*",
                                                               "acceleratorConfig",
                                                               "acceleratorCount",
                                                               "acceleratorType",
                                                               "accessConfig",
                                                               "accessConfigs",
                                                               "autoHealingPolicy",
                                                               "bytes",
                                                               "code",
                                                               "creationTimestamp",
                                                               "currentAction",
                                                               "data",
                                                               "description",
                                                               "detailedHealthState",
                                                               "errors",
                                                               "externalIp",
                                                               "externalIpv6",
                                                               "fingerprint",
                                                               "guestAccelerators",
                                                               "health",
                                                               "healthCheck",
                                                               "healthDescription",
                                                               "hostname",
                                                               "id",
                                                               "instance",
                                                               "instanceHealth",
                                                               "instanceStatus",
                                                               "instanceTemplate",
                                                               "instances",
                                                               "internalIpv6PrefixLength",
                                                               "ipAddress",
                                                               "ipv6AccessConfigs",
                                                               "ipv6AccessType",
                                                               "ipv6Address",
                                                               "items",
                                                               "key",
                                                               "kind",
                                                               "labels",
                                                               "lastAttempt",
                                                               "location",
                                                               "locationId",
                                                               "locations",
                                                               "machineType",
                                                               "managedInstances",
                                                               "message",
                                                               "metadata",
                                                               "multiNodeParams",
                                                               "multisliceParams",
                                                               "name",
                                                               "namedPorts",
                                                               "natIP",
                                                               "network",
                                                               "networkEndpoints",
                                                               "networkIP",
                                                               "networkInterfaces",
                                                               "networkTier",
                                                               "nextPageToken",
                                                               "node",
                                                               "nodeId",
                                                               "nodeSpec",
                                                               "nodes",
                                                               "parent",
                                                               "physicalHost",
                                                               "port",
                                                               "preemptible",
                                                               "provisioningModel",
                                                               "queuedResource",
                                                               "queuedResources",
                                                               "region",
                                                               "resourceStatus",
                                                               "runtimeVersion",
                                                               "scheduling",
                                                               "schedulingConfig",
                                                               "selfLink",
                                                               "size",
                                                               "stackType",
                                                               "state",
                                                               "status",
                                                               "statusMessage",
                                                               "subnetwork",
                                                               "symptoms",
                                                               "tags",
                                                               "targetSize",
                                                               "tensorflowVersion",
                                                               "topology",
                                                               "tpu",
                                                               "type",
                                                               "unreachable",
                                                               "unreachables",
                                                               "value",
                                                               "version",
                                                               "warning",
                                                               "zone"});

void write_whole(const rapidjson::Value& value, JsonWriter& out) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  out.raw({buffer.GetString(), buffer.GetSize()});
}

}  // namespace

Result<FieldMask> FieldMask::parse(std::string_view text) {
  FieldMask mask;
  if (text.empty()) {
    mask.everything_ = true;
    return mask;
  }
  std::string_view rest = text;
  if (!mask.parse_list(rest) || !rest.empty())
    return Failure{fmt::format("Invalid field selection {}", rest.substr(0, rest.find(',')))};
  return mask;
}

bool FieldMask::parse_list(std::string_view& rest) {
  while (true) {
    if (!parse_item(rest)) return false;
    if (rest.empty() || rest[0] != ',') return true;
    rest.remove_prefix(1);
  }
}

bool FieldMask::parse_item(std::string_view& rest) {
  const auto end = std::min(rest.find_first_of(",/()"), rest.size());
  const auto name = rest.substr(0, end);
  // A label's or metadata's key is the user's own, below a known name.
  if (std::find(kKnown.begin(), kKnown.end(), name) == kKnown.end()) return false;
  rest.remove_prefix(end);
  FieldMask& child = below_[std::string(name)];
  if (rest.empty() || rest[0] == ',' || rest[0] == ')') {
    child.everything_ = true;
    return true;
  }
  const bool group = rest[0] == '(';
  rest.remove_prefix(1);
  if (!group) return child.parse_item(rest);
  if (!child.parse_list(rest) || rest.empty() || rest[0] != ')') return false;
  rest.remove_prefix(1);
  return true;
}

void FieldMask::write(const rapidjson::Value& value, JsonWriter& out) const {
  if (everything_ || (!value.IsObject() && !value.IsArray())) {
    write_whole(value, out);
  } else if (value.IsArray()) {
    out.open_array();
    for (const auto& element : value.GetArray()) write(element, out);
    out.close_array();
  } else {
    out.open_object();
    for (const auto& member : value.GetObject()) {
      const std::string_view name(member.name.GetString(), member.name.GetStringLength());
      auto child = below_.find(name);
      if (child == below_.end()) child = below_.find("*");
      if (child == below_.end()) continue;
      out.key(name);
      child->second.write(member.value, out);
    }
    out.close_object();
  }
}

}  // namespace muster::sim
