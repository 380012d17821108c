// From 'google' of a scenario to its instances and groups.
#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "google.h"
#include "pattern.h"

namespace muster::sim {
namespace {

constexpr auto kMany = std::numeric_limits<std::int32_t>::max();

// How many an entry stands for: its ranges', else 'count', else one.
std::int64_t length_of(MapReader& reader, const std::string& name) {
  const auto length = pattern_length(name);
  if (!length) {
    reader.problem(length.error());
    return 1;
  }
  if (*length) return **length;
  return reader.number("count", 0, 1000000).value_or(1);
}

void read_instances(MapReader& reader, std::vector<Instance>& out) {
  const auto name = reader.text("name").value_or("");
  if (name.empty()) reader.problem("an instance needs a 'name'");
  const std::int64_t count = length_of(reader, name);
  reader.number("count", 0, 1000000);
  const auto text = [&](const char* key, const std::string& otherwise = "") {
    return reader.text(key).value_or(otherwise);
  };
  Instance entry;
  entry.zone = text("zone");
  if (entry.zone.empty()) reader.problem("an instance needs a 'zone'");
  entry.id = text("id");
  entry.status = text("status", entry.status);
  entry.ip = text("ip", "10.128.{i/256%256}.{i%256}");
  entry.external_ip = text("external_ip");
  entry.ipv6 = text("ipv6");
  entry.external_ipv6 = text("external_ipv6");
  entry.network = text("network", entry.network);
  entry.subnetwork = text("subnetwork", entry.subnetwork);
  entry.machine_type = text("machine_type", entry.machine_type);
  entry.hostname = text("hostname");
  entry.physical_host = text("physical_host");
  entry.accelerator = text("accelerator");
  entry.accelerator_count = reader.number("accelerator_count", 0, 64).value_or(1);
  entry.spot = reader.boolean("spot").value_or(false);
  entry.labels = reader.texts("labels");
  entry.metadata = reader.texts("metadata");
  entry.tags = reader.text_list("tags");
  entry.bytes = reader.number("bytes", 0, 1 << 20).value_or(0);
  reader.finish();
  for (std::int64_t i = 0; i < count; ++i) {
    Instance one = entry;
    one.name = expand_pattern(name, i);
    for (std::string* part : {&one.zone, &one.id, &one.ip, &one.external_ip, &one.ipv6,
                              &one.external_ipv6, &one.hostname, &one.physical_host})
      *part = expand_pattern(*part, i);
    if (one.ip == "none") one.ip.clear();
    for (auto* list : {&one.labels, &one.metadata})
      for (auto& [key, value] : *list) value = expand_pattern(value, i);
    if (one.id.empty())
      one.id = std::to_string(4816230712345678901 + static_cast<std::int64_t>(out.size()));
    out.push_back(std::move(one));
  }
}

void read_members(MapReader& reader, Group& group) {
  const auto name = reader.text("name").value_or("");
  if (name.empty()) reader.problem("a member needs a 'name'");
  const std::int64_t count = length_of(reader, name);
  reader.number("count", 0, 1000000);
  GroupMember entry;
  entry.zone = reader.text("zone").value_or("");
  entry.action = reader.text("action").value_or(entry.action);
  entry.error = reader.text("error").value_or("");
  entry.version = reader.text("version").value_or("");
  reader.finish();
  if (entry.zone.empty() && group.place.starts_with("zones/")) entry.zone = group.place.substr(6);
  if (entry.zone.empty()) reader.problem("a member of a regional group needs a 'zone'");
  for (std::int64_t i = 0; i < count; ++i) {
    GroupMember one = entry;
    one.name = expand_pattern(name, i);
    one.zone = expand_pattern(one.zone, i);
    group.members.push_back(std::move(one));
  }
}

Group read_group(MapReader& reader) {
  Group group;
  group.name = reader.text("name").value_or("");
  const auto zone = reader.text("zone");
  const auto region = reader.text("region");
  if (group.name.empty() || zone.has_value() == region.has_value())
    reader.problem("a group needs a 'name', and a 'zone' or a 'region'");
  group.place = zone ? "zones/" + *zone : "regions/" + region.value_or("");
  group.managed = reader.boolean("managed").value_or(true);
  group.paginated = reader.boolean("paginated").value_or(false);
  for (const auto& entry : reader.maps("members")) {
    MapReader member(entry, "a member", reader.problems());
    read_members(member, group);
  }
  for (const auto& [name, port] : reader.texts("named_ports"))
    group.named_ports.emplace_back(name, std::atoi(port.c_str()));
  reader.finish();
  return group;
}

OwnMachine read_machine(const YAML::Node& node, Problems& problems) {
  MapReader reader(node, "'machine'", problems);
  OwnMachine out;
  out.instance = reader.text("instance").value_or("");
  out.zone = reader.text("zone").value_or("");
  out.tpu = reader.text("tpu").value_or("");
  out.worker = reader.number("worker", 0, kMany).value_or(0);
  out.slices = reader.text_list("slices");
  out.service_account = reader.text("service_account").value_or(out.service_account);
  if (out.service_account == "none") out.service_account.clear();
  out.attributes = reader.texts("attributes");
  out.flavor = reader.boolean("flavor").value_or(true);
  out.preempted = reader.boolean("preempted").value_or(false);
  out.maintenance_event = reader.text("maintenance_event").value_or(out.maintenance_event);
  reader.finish();
  return out;
}

void check_names(MapReader& reader, const Google& out) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const auto& instance : out.instances)
    if (!seen.emplace(instance.zone, instance.name).second)
      reader.problem(
          fmt::format("instance '{}' is there twice in zone '{}'", instance.name, instance.zone));
  seen.clear();
  for (const auto& tpu : out.tpus)
    if (!seen.emplace(tpu.zone, tpu.name).second)
      reader.problem(fmt::format("TPU '{}' is there twice in zone '{}'", tpu.name, tpu.zone));
  if (out.machine && !out.machine->tpu.empty() && out.machine_node() == nullptr)
    reader.problem(fmt::format("the machine's TPU '{}' is not there", out.machine->tpu));
}

}  // namespace

const TpuNode* Google::machine_node() const {
  if (!machine || machine->tpu.empty()) return nullptr;
  const auto found = std::find_if(tpus.begin(), tpus.end(), [&](const TpuNode& node) {
    return node.name == machine->tpu && (machine->zone.empty() || node.zone == machine->zone);
  });
  return found == tpus.end() ? nullptr : &*found;
}

Google read_google(const YAML::Node& node, Problems& problems) {
  Google out;
  out.on = true;
  MapReader reader(node, "'google'", problems);
  out.project = reader.text("project").value_or(out.project);
  out.project_number = reader.text("project_number").value_or(out.project_number);
  out.universe = reader.text("universe").value_or(out.universe);
  out.token_life_s = reader.duration_ms("token_life").value_or(out.token_life_s * 1000) / 1000;
  out.clock_ahead_s = reader.duration_ms("clock_ahead").value_or(0) / 1000;
  out.page_size = reader.number("page_size", 1, kMany).value_or(0);
  out.empty_pages = reader.boolean("empty_pages").value_or(false);
  out.self_signed = reader.boolean("self_signed").value_or(true);
  out.gzip = reader.boolean("gzip").value_or(true);
  out.unreachable = reader.text_list("unreachable");
  out.unlisted = reader.text_list("unlisted");
  for (const auto& entry : reader.maps("instances")) {
    MapReader instance(entry, "an instance", problems);
    read_instances(instance, out.instances);
  }
  for (const auto& entry : reader.maps("groups")) {
    MapReader group(entry, "a group", problems);
    out.groups.push_back(read_group(group));
  }
  for (const auto& entry : reader.maps("tpus")) {
    MapReader tpu(entry, "a TPU", problems);
    read_tpus(tpu, out.tpus);
  }
  for (const auto& entry : reader.maps("queued_resources")) {
    MapReader queued(entry, "a queued resource", problems);
    out.queued_resources.push_back(read_queued_resource(queued));
  }
  if (const auto machine = reader.get("machine")) out.machine = read_machine(*machine, problems);
  for (const auto& entry : reader.maps("faults")) {
    MapReader fault(entry, "a fault", problems);
    out.faults.push_back(read_fault(fault));
  }
  reader.finish();
  check_names(reader, out);
  // Lists are in the order of names, zone by zone.
  std::stable_sort(out.instances.begin(), out.instances.end(),
                   [](const Instance& a, const Instance& b) {
                     return std::tie(a.zone, a.name) < std::tie(b.zone, b.name);
                   });
  return out;
}

}  // namespace muster::sim
