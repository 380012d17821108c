#include "plugins/gce/instance.h"

#include <fmt/format.h>
#include <simdjson.h>

#include "plugins/support/google/place.h"
#include "plugins/support/json_at.h"
#include "plugins/support/text.h"

namespace muster::gce {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;
using support::quote;
using support::text_at;
using support::google::last_segment;

constexpr size_t kPageMaximum = 100000;

// A value of metadata; nothing when the instance has no such key.
std::optional<std::string> metadata_of(element instance, const std::string& key) {
  array items;
  if (instance.at_pointer("/metadata/items").get_array().get(items)) return std::nullopt;
  for (const element item : items)
    if (text_at(item, "/key") == key) return std::string(support::trimmed(text_at(item, "/value")));
  return std::nullopt;
}

std::optional<std::string> label_of(element instance, const std::string& key) {
  std::string_view value;
  if (instance["labels"][key].get_string().get(value)) return std::nullopt;
  return std::string(value);
}

bool has_tag(element instance, const std::string& tag) {
  array items;
  if (instance.at_pointer("/tags/items").get_array().get(items)) return false;
  for (const element item : items) {
    std::string_view text;
    if (!item.get_string().get(text) && text == tag) return true;
  }
  return false;
}

// The interface that the options mean; false when there is none.
bool find_interface(element instance, const InterfaceRule& rule, element& out) {
  array interfaces;
  if (instance["networkInterfaces"].get_array().get(interfaces)) return false;
  int64_t number = 0;
  for (const element one : interfaces) {
    const bool fits = !rule.network.empty() ? last_segment(text_at(one, "/network")) == rule.network
                      : !rule.subnetwork.empty()
                          ? last_segment(text_at(one, "/subnetwork")) == rule.subnetwork
                          : number == rule.number;
    ++number;
    if (!fits) continue;
    out = one;
    return true;
  }
  return false;
}

// "p" is the domain c.p.internal; "example.com:p" is c.p.example.com.internal.
std::string project_domain(const std::string& project) {
  const size_t colon = project.find(':');
  return colon == std::string::npos
             ? project
             : fmt::format("{}.{}", project.substr(colon + 1), project.substr(0, colon));
}

void find_host(element instance, const std::string& project, const Options& options,
               Instance& out) {
  const bool dns =
      options.address == AddressKind::kDns || options.address == AddressKind::kDnsGlobal;
  if (dns) {
    out.host = text_at(instance, "/hostname");
    if (!out.host.empty()) return;
    const std::string domain = project_domain(project);
    out.host = options.address == AddressKind::kDns
                   ? fmt::format("{}.{}.c.{}.internal", out.name, out.zone, domain)
                   : fmt::format("{}.c.{}.internal", out.name, domain);
    return;
  }
  const InterfaceRule& rule = options.interface;
  element interface;
  if (!find_interface(instance, rule, interface)) {
    out.no_host = !rule.network.empty()
                      ? fmt::format("it has no interface in network {}", quote(rule.network))
                  : !rule.subnetwork.empty()
                      ? fmt::format("it has no interface in subnetwork {}", quote(rule.subnetwork))
                      : fmt::format("it has no network interface {}", rule.number);
    return;
  }
  switch (options.address) {
    case AddressKind::kInternal:
      out.host = text_at(interface, "/networkIP");
      // An interface with IPv6 alone has no other.
      if (out.host.empty()) out.host = text_at(interface, "/ipv6Address");
      if (out.host.empty()) out.no_host = "it has no internal address";
      break;
    case AddressKind::kExternal:
      out.host = text_at(interface, "/accessConfigs/0/natIP");
      if (out.host.empty()) out.no_host = "it has no external IPv4 address";
      break;
    case AddressKind::kInternalIpv6:
      out.host = text_at(interface, "/ipv6Address");
      if (out.host.empty()) out.no_host = "it has no internal IPv6 address";
      break;
    case AddressKind::kExternalIpv6:
      out.host = text_at(interface, "/ipv6AccessConfigs/0/externalIpv6");
      if (out.host.empty()) out.no_host = "it has no external IPv6 address";
      break;
    case AddressKind::kDns:
    case AddressKind::kDnsGlobal: break;
  }
}

void find_port(element instance, const Options& options, Instance& out) {
  const std::string& key = options.port.metadata;
  if (key.empty()) return;
  const auto said = metadata_of(instance, key);
  const auto number = said ? support::parse_digits(*said, 65535) : std::nullopt;
  if (!said) {
    out.no_port = fmt::format("it has no metadata {}", quote(key));
  } else if (!number || *number == 0) {
    out.no_port =
        fmt::format("its metadata {} says {}, which is no port", quote(key), quote(*said));
  } else {
    out.port = *number;
  }
}

void find_rank(element instance, const Options& options, Instance& out) {
  const bool label = options.rank_by == RankBy::kLabel;
  if (!label && options.rank_by != RankBy::kMetadata) return;
  const auto said =
      label ? label_of(instance, options.rank_key) : metadata_of(instance, options.rank_key);
  const char* what = label ? "label" : "metadata";
  out.rank = said ? support::parse_digits(*said, MUSTER_TASKS_MAXIMUM - 1) : std::nullopt;
  if (!said) {
    out.no_rank = fmt::format("it has no {} {}", what, quote(options.rank_key));
  } else if (!out.rank) {
    out.no_rank = fmt::format("its {} {} says {}, which is no rank", what, quote(options.rank_key),
                              quote(*said));
  }
}

void find_devices(element instance, Instance& out) {
  array accelerators;
  if (!instance["guestAccelerators"].get_array().get(accelerators)) {
    for (const element one : accelerators) {
      int64_t count = 0;
      if (one["acceleratorCount"].get_int64().get(count) || count < 1) continue;
      out.accelerator = last_segment(text_at(one, "/acceleratorType"));
      out.device = out.accelerator.rfind("ct", 0) == 0 || out.accelerator.rfind("tpu", 0) == 0
                       ? "TPU"
                       : "GPU";
      out.device_count += count;
    }
  }
  if (out.device_count > 0) return;
  Devices built_in = devices_of(out.machine_type);
  out.device = std::move(built_in.type);
  out.device_count = built_in.count;
}

// Reads one; what is odd about it, "" for nothing.
std::string read_one(element at, const std::string& zone, const std::string& project,
                     const Options& options, std::vector<Instance>& out) {
  Instance instance;
  instance.name = text_at(at, "/name");
  if (instance.name.empty()) return "an instance has no name";
  instance.zone = zone;
  instance.id = text_at(at, "/id");
  instance.status = text_at(at, "/status");
  instance.message = text_at(at, "/statusMessage");
  instance.machine_type = last_segment(text_at(at, "/machineType"));
  instance.physical_host = text_at(at, "/resourceStatus/physicalHost");
  instance.provisioning = text_at(at, "/scheduling/provisioningModel");
  if (instance.provisioning == "STANDARD") instance.provisioning.clear();
  find_devices(at, instance);
  find_host(at, project, options, instance);
  find_port(at, options, instance);
  find_rank(at, options, instance);
  if (!options.tag.empty()) instance.tagged = has_tag(at, options.tag);
  out.push_back(std::move(instance));
  return "";
}

std::string read_list(array items, const std::string& zone, const std::string& project,
                      const Options& options, std::vector<Instance>& out) {
  if (items.size() > kPageMaximum) return "a page is too long";
  for (const element item : items) {
    std::string odd = read_one(item, zone, project, options, out);
    if (!odd.empty()) return odd;
  }
  return "";
}

std::string read_scopes(object scopes, const std::string& project, const Options& options,
                        InstancePage& out) {
  for (const auto scope : scopes) {
    const std::string_view code = text_at(scope.value, "/warning/code");
    if (code == "UNREACHABLE" || code == "PARTIAL_SUCCESS") out.unreachable.emplace_back(scope.key);
    array items;
    if (scope.value["instances"].get_array().get(items)) continue;
    std::string odd =
        read_list(items, std::string(last_segment(scope.key)), project, options, out.instances);
    if (!odd.empty()) return odd;
  }
  return "";
}

}  // namespace

std::string_view zone_of(std::string_view url) {
  constexpr std::string_view kZones = "/zones/";
  const size_t at = url.find(kZones);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = url.substr(at + kZones.size());
  return rest.substr(0, rest.find('/'));
}

Devices devices_of(std::string_view type) {
  const std::string_view family = type.substr(0, type.find('-'));
  const std::string_view end = type.substr(std::min(type.rfind('-') + 1, type.size()));
  const auto number = [](std::string_view digits) {
    return support::parse_digits(digits, 4096).value_or(0);
  };
  // a2-highgpu-4g, a3-megagpu-8g, a4x-highgpu-4g: the number is said.
  if ((family == "a2" || family == "a3" || family.substr(0, 2) == "a4") && !end.empty() &&
      end.back() == 'g') {
    const int64_t count = number(end.substr(0, end.size() - 1));
    if (count > 0) return {"GPU", count};
  }
  // ct6e-standard-4t, tpu7x-standard-4t: chips.
  if ((family.substr(0, 2) == "ct" || family.substr(0, 3) == "tpu") && !end.empty() &&
      end.back() == 't') {
    const int64_t count = number(end.substr(0, end.size() - 1));
    if (count > 0) return {"TPU", count};
  }
  // g2-standard-96 and g4-standard-96: by processors.
  const int64_t processors = number(end);
  if (family == "g2" && processors > 0)
    return {"GPU", processors == 24 ? 2 : processors == 48 ? 4 : processors == 96 ? 8 : 1};
  if (family == "g4" && processors > 0) return {"GPU", std::max<int64_t>(processors / 48, 1)};
  return {};
}

std::string instance_fields(const Options& options) {
  std::string out =
      "name,id,status,statusMessage,machineType,guestAccelerators,"
      "scheduling/provisioningModel";
  switch (options.address) {
    case AddressKind::kDns:
    case AddressKind::kDnsGlobal: out += ",hostname"; break;
    default: {
      std::string interface;
      if (!options.interface.network.empty()) interface = "network,";
      if (!options.interface.subnetwork.empty()) interface = "subnetwork,";
      interface += options.address == AddressKind::kExternal ? "accessConfigs/natIP"
                   : options.address == AddressKind::kExternalIpv6
                       ? "ipv6AccessConfigs/externalIpv6"
                   : options.address == AddressKind::kInternalIpv6 ? "ipv6Address"
                                                                   : "networkIP,ipv6Address";
      // The empty ones count too: nic1 is the second also where nic0 has nothing that was asked for.
      out += fmt::format(",networkInterfaces(name,{})", interface);
    }
  }
  if (options.rank_by == RankBy::kPhysicalHost) out += ",resourceStatus/physicalHost";
  if (options.rank_by == RankBy::kLabel) out += ",labels";
  if (options.rank_by == RankBy::kMetadata || !options.port.metadata.empty())
    out += ",metadata/items";
  if (!options.tag.empty()) out += ",tags/items";
  return out;
}

sdk::Result<InstancePage> read_instances(std::string_view json, const std::string& zone,
                                         const std::string& project, const Options& options) {
  const auto wrong = [](std::string_view why) {
    return sdk::Failure{
        MUSTER_E_DATA_LOSS,
        fmt::format("Compute Engine's list of instances cannot be understood: {}", why),
        {}};
  };
  simdjson::dom::parser parser;
  element root;
  if (const std::string why = support::parse_object(json, parser, root); !why.empty())
    return wrong(why);
  InstancePage out;
  element items;
  std::string odd;
  if (!root["items"].get(items)) {  // absent in an empty list
    array list;
    object scopes;
    if (!zone.empty() && !items.get_array().get(list)) {
      odd = read_list(list, zone, project, options, out.instances);
    } else if (zone.empty() && !items.get_object().get(scopes)) {
      odd = read_scopes(scopes, project, options, out);
    } else {
      odd = "its 'items' are of another kind";
    }
  }
  if (!odd.empty()) return wrong(odd);
  array unreachable;
  if (!root["unreachables"].get_array().get(unreachable)) {
    for (const element scope : unreachable) {
      std::string_view name;
      if (!scope.get_string().get(name)) out.unreachable.emplace_back(name);
    }
  }
  const std::string_view code = text_at(root, "/warning/code");
  if (code == "UNREACHABLE" || code == "PARTIAL_SUCCESS")
    out.unreachable.push_back(zone.empty() ? "some zones" : "zones/" + zone);
  out.next = text_at(root, "/nextPageToken");
  return out;
}

}  // namespace muster::gce
