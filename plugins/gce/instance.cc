#include "plugins/gce/instance.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "plugins/support/google/pages.h"
#include "plugins/support/google/place.h"
#include "plugins/support/json_at.h"
#include "plugins/support/quote_answer.h"
#include "plugins/support/strict_json.h"
#include "plugins/support/text.h"

namespace muster::gce {
namespace {

using simdjson::dom::element;
using support::Ip;
using support::quote;
using support::StrictJson;
using support::google::last_segment;

constexpr size_t kPageMaximum = 100000;

// A name as Compute Engine gives it (RFC 1035).
bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 63 && text[0] >= 'a' && text[0] <= 'z' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

// A name that DNS may know.
bool is_host_name(std::string_view text) {
  return !text.empty() && text.size() <= 253 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

// A value of metadata; nothing when the instance has no such key.
std::optional<std::string> metadata_of(const StrictJson& instance, const std::string& key) {
  std::optional<std::string> out;
  for (const StrictJson& item : instance.list_or_none("/metadata/items"))
    if (item.text("/key") == key && !out)
      out = std::string(support::trimmed(item.text_or("/value", "")));
  return out;
}

std::optional<std::string> label_of(const StrictJson& instance, const std::string& key) {
  const std::string pointer = "/labels" + support::pointer_to(key);
  if (instance.presence(pointer) == StrictJson::Presence::kAbsent) return std::nullopt;
  return std::string(instance.text_or(pointer, ""));
}

bool has_tag(const StrictJson& instance, const std::string& tag) {
  bool out = false;
  for (const StrictJson& item : instance.list_or_none("/tags/items"))
    out = item.text() == tag || out;
  return out;
}

// The interface that the options mean; nothing when there is none.
std::optional<StrictJson> find_interface(const StrictJson& instance, const InterfaceRule& rule) {
  std::optional<StrictJson> out;
  int64_t number = 0;
  for (const StrictJson& one : instance.list_or_none("/networkInterfaces")) {
    const bool fits =
        !rule.network.empty()      ? last_segment(one.text_or("/network", "")) == rule.network
        : !rule.subnetwork.empty() ? last_segment(one.text_or("/subnetwork", "")) == rule.subnetwork
                                   : number == rule.number;
    ++number;
    if (fits && !out) out = one;
  }
  return out;
}

// The first of a list of access configurations that says the address; "" for none.
std::string_view external_of(const StrictJson& interface, const char* list, const char* field,
                             Ip which) {
  const std::vector<StrictJson> all = interface.list_or_none(list);
  return all.empty() ? std::string_view() : all[0].ip_or_none(field, which);
}

// "p" is the domain c.p.internal; "example.com:p" is c.p.example.com.internal.
std::string project_domain(const std::string& project) {
  const size_t colon = project.find(':');
  return colon == std::string::npos
             ? project
             : fmt::format("{}.{}", project.substr(colon + 1), project.substr(0, colon));
}

void find_host(const StrictJson& instance, const std::string& project, const Options& options,
               Instance& out) {
  const bool dns =
      options.address == AddressKind::kDns || options.address == AddressKind::kDnsGlobal;
  if (dns) {
    out.host = instance.text_or("/hostname", "");
    if (!out.host.empty() && !is_host_name(out.host))
      instance.refuse("/hostname", fmt::format("is {}, which is no host name", quote(out.host)));
    if (!out.host.empty()) return;
    const std::string domain = project_domain(project);
    out.host = options.address == AddressKind::kDns
                   ? fmt::format("{}.{}.c.{}.internal", out.name, out.zone, domain)
                   : fmt::format("{}.c.{}.internal", out.name, domain);
    return;
  }
  const InterfaceRule& rule = options.interface;
  const std::optional<StrictJson> interface = find_interface(instance, rule);
  if (!interface) {
    out.no_host = !rule.network.empty()
                      ? fmt::format("it has no interface in network {}", quote(rule.network))
                  : !rule.subnetwork.empty()
                      ? fmt::format("it has no interface in subnetwork {}", quote(rule.subnetwork))
                      : fmt::format("it has no network interface {}", rule.number);
    return;
  }
  switch (options.address) {
    case AddressKind::kInternal:
      out.host = interface->ip_or_none("/networkIP", Ip::kIpv4);
      // An interface with IPv6 alone has no other.
      if (out.host.empty()) out.host = interface->ip_or_none("/ipv6Address", Ip::kIpv6);
      if (out.host.empty()) out.no_host = "it has no internal address";
      break;
    case AddressKind::kExternal:
      out.host = external_of(*interface, "/accessConfigs", "/natIP", Ip::kIpv4);
      if (out.host.empty()) out.no_host = "it has no external IPv4 address";
      break;
    case AddressKind::kInternalIpv6:
      out.host = interface->ip_or_none("/ipv6Address", Ip::kIpv6);
      if (out.host.empty()) out.no_host = "it has no internal IPv6 address";
      break;
    case AddressKind::kExternalIpv6:
      out.host = external_of(*interface, "/ipv6AccessConfigs", "/externalIpv6", Ip::kIpv6);
      if (out.host.empty()) out.no_host = "it has no external IPv6 address";
      break;
    case AddressKind::kDns:
    case AddressKind::kDnsGlobal: break;
  }
}

void find_port(const StrictJson& instance, const Options& options, Instance& out) {
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

void find_rank(const StrictJson& instance, const Options& options, Instance& out) {
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

void find_devices(const StrictJson& instance, Instance& out) {
  for (const StrictJson& one : instance.list_or_none("/guestAccelerators")) {
    const int64_t count = one.number_or("/acceleratorCount", {0, INT32_MAX}, 0);
    if (count == 0) continue;
    out.accelerator = last_segment(one.text_or("/acceleratorType", ""));
    out.device =
        out.accelerator.rfind("ct", 0) == 0 || out.accelerator.rfind("tpu", 0) == 0 ? "TPU" : "GPU";
    out.device_count += count;
  }
  if (out.device_count > 0) return;
  Devices built_in = devices_of(out.machine_type);
  out.device = std::move(built_in.type);
  out.device_count = built_in.count;
}

// Absent is what the API leaves out because it is empty: all but the name may be.
void read_one(const StrictJson& at, const std::string& zone, const std::string& project,
              const Options& options, std::vector<Instance>& out) {
  Instance instance;
  instance.name = at.text("/name");
  if (!is_name(instance.name))
    at.refuse("/name", fmt::format("is {}, which is no name of an instance", quote(instance.name)));
  instance.zone = zone;
  instance.id = at.text_or("/id", "");
  instance.status = at.text_or("/status", "");
  instance.message = at.text_or("/statusMessage", "");
  instance.machine_type = last_segment(at.text_or("/machineType", ""));
  instance.physical_host = at.text_or("/resourceStatus/physicalHost", "");
  instance.provisioning = at.text_or("/scheduling/provisioningModel", "");
  if (instance.provisioning == "STANDARD") instance.provisioning.clear();
  find_devices(at, instance);
  find_host(at, project, options, instance);
  find_port(at, options, instance);
  find_rank(at, options, instance);
  if (!options.tag.empty()) instance.tagged = has_tag(at, options.tag);
  out.push_back(std::move(instance));
}

void read_list(const std::vector<StrictJson>& items, const StrictJson& above,
               const std::string& zone, const std::string& project, const Options& options,
               std::vector<Instance>& out) {
  if (items.size() > kPageMaximum)
    return above.refuse("", fmt::format("has a page of {} instances", items.size()));
  for (const StrictJson& item : items) read_one(item, zone, project, options, out);
}

bool lacks_some(const StrictJson& above) {
  const std::string_view code = above.text_or("/warning/code", "");
  return code == "UNREACHABLE" || code == "PARTIAL_SUCCESS";
}

// {"zones/Z": {"instances": [...]}, "zones/Y": {"warning": {...}}}
void read_scopes(const StrictJson& root, const std::string& project, const Options& options,
                 InstancePage& out) {
  for (const auto& [scope, value] : root.fields_or_none("/items")) {
    if (lacks_some(value)) out.unreachable.push_back(support::plain_answer(scope, 100));
    const std::vector<StrictJson> items = value.list_or_none("/instances");
    const std::string_view zone = last_segment(scope);
    if (!items.empty() && (scope.substr(0, 6) != "zones/" || !is_name(zone)))
      value.refuse("", "is no zone");
    read_list(items, value, std::string(zone), project, options, out.instances);
  }
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
  std::string odd;
  const StrictJson answer(root, odd);
  if (zone.empty()) {
    read_scopes(answer, project, options, out);
  } else {
    read_list(answer.list_or_none("/items"), answer, zone, project, options, out.instances);
  }
  for (const StrictJson& scope : answer.list_or_none("/unreachables"))
    out.unreachable.push_back(support::plain_answer(scope.text(), 100));
  if (lacks_some(answer)) out.unreachable.push_back(zone.empty() ? "some zones" : "zones/" + zone);
  out.next = support::google::next_token(answer);
  if (!odd.empty()) return wrong(odd);
  return out;
}

}  // namespace muster::gce
