// From 'tpus' and 'queued_resources' of a scenario to nodes and requests for them.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "pattern.h"
#include "tpu.h"

namespace muster::sim {
namespace {

void read_becomes(MapReader& reader, std::int64_t& after, std::string& state, std::string* health) {
  const auto node = reader.get("becomes");
  if (!node) return;
  MapReader becomes(*node, "'becomes'", reader.problems());
  after = becomes.number("after", 0, 1000000).value_or(0);
  state = becomes.text("state").value_or("");
  if (health != nullptr) *health = becomes.text("health").value_or("");
  becomes.finish();
}

TpuSymptom read_symptom(const YAML::Node& node, Problems& problems) {
  MapReader reader(node, "a symptom", problems);
  TpuSymptom out;
  out.type = reader.text("type").value_or("OUT_OF_MEMORY");
  out.details = reader.text("details").value_or("");
  out.worker = reader.text("worker").value_or("0");
  out.created = reader.text("created").value_or("");
  out.age_s = reader.duration_ms("age").value_or(0) / 1000;
  reader.finish();
  return out;
}

}  // namespace

std::int64_t tpu_hosts(const std::string& type) {
  const auto dash = type.rfind('-');
  if (dash == std::string::npos) return 1;
  const std::int64_t number = std::atol(type.c_str() + dash + 1);
  const bool chips = type.starts_with("v5litepod-") || type.starts_with("v6e-");
  return std::max<std::int64_t>(1, chips ? (number <= 8 ? 1 : number / 4) : number / 8);
}

void read_tpus(MapReader& reader, std::vector<TpuNode>& out) {
  const auto text = [&](const char* key, const std::string& otherwise = "") {
    return reader.text(key).value_or(otherwise);
  };
  TpuNode entry;
  const std::string name = text("name");
  entry.zone = text("zone");
  if (name.empty() || entry.zone.empty()) reader.problem("a TPU needs a 'name' and a 'zone'");
  const auto length = pattern_length(name);
  if (!length) reader.problem(length.error());
  entry.id = text("id");
  entry.type = text("type", entry.type);
  entry.topology = text("topology");
  entry.state = text("state", entry.state);
  entry.health = text("health");
  entry.health_description = text("health_description");
  entry.port = reader.number("port", 0, 65535).value_or(entry.port);
  entry.runtime_version = text("runtime_version", entry.runtime_version);
  entry.tensorflow_version = text("tensorflow_version", entry.tensorflow_version);
  entry.queued_resource = text("queued_resource");
  entry.labels = reader.texts("labels");
  entry.metadata = reader.texts("metadata");
  entry.spot = reader.boolean("spot").value_or(false);
  entry.preemptible = reader.boolean("preemptible").value_or(false);
  entry.reserved = reader.boolean("reserved").value_or(false);
  entry.legacy = reader.boolean("legacy").value_or(false);
  for (const auto& symptom : reader.maps("symptoms"))
    entry.symptoms.push_back(read_symptom(symptom, reader.problems()));
  read_becomes(reader, entry.becomes_after, entry.becomes_state, &entry.becomes_health);
  const std::int64_t hosts = reader.number("hosts", 0, 100000).value_or(tpu_hosts(entry.type));
  const std::string ip = text("ip", "10.164.{i/250}.{i%250+1}");
  const std::string external_ip = text("external_ip");
  reader.finish();
  const std::int64_t nodes = length && *length ? **length : 1;
  for (std::int64_t n = 0; n < nodes; ++n) {
    TpuNode one = entry;
    one.name = expand_pattern(name, n);
    one.id = expand_pattern(entry.id, n);
    one.queued_resource = expand_pattern(entry.queued_resource, n);
    if (one.id.empty())
      one.id = std::to_string(7301934418820055512 + static_cast<std::int64_t>(out.size()));
    for (std::int64_t host = n * hosts; host < (n + 1) * hosts; ++host)
      one.hosts.push_back({expand_pattern(ip, host), expand_pattern(external_ip, host)});
    out.push_back(std::move(one));
  }
}

QueuedResource read_queued_resource(MapReader& reader) {
  QueuedResource out;
  out.name = reader.text("name").value_or("");
  out.zone = reader.text("zone").value_or("");
  if (out.name.empty() || out.zone.empty())
    reader.problem("a queued resource needs a 'name' and a 'zone'");
  out.state = reader.text("state").value_or(out.state);
  out.error = reader.text("error").value_or("");
  out.type = reader.text("type").value_or(out.type);
  out.nodes = reader.text_list("nodes");
  out.prefix = reader.text("prefix").value_or("");
  out.count = reader.number("count", 0, 100000).value_or(0);
  if (out.nodes.empty() == out.prefix.empty())
    reader.problem("a queued resource needs 'nodes', or a 'prefix' and a 'count'");
  read_becomes(reader, out.becomes_after, out.becomes_state, nullptr);
  reader.finish();
  return out;
}

}  // namespace muster::sim
