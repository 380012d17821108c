// From an entry of the scenario to the pods it stands for.
#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "pattern.h"
#include "pod.h"
#include "yaml_reader.h"

namespace muster::sim {
namespace {

constexpr std::string_view kDeletedAt = "2026-01-01T00:10:00Z";

// Reasons for which a container waits; the real status shows them in the container's state.
constexpr std::array<std::string_view, 8> kWaitingReasons = {
    "ContainerCreating", "PodInitializing",  "ImagePullBackOff",           "ErrImagePull",
    "CrashLoopBackOff",  "InvalidImageName", "CreateContainerConfigError", "CreateContainerError"};
// Reasons for which the scheduler leaves a pod; the real status shows them in PodScheduled.
constexpr std::array<std::string_view, 2> kScheduleReasons = {"Unschedulable", "SchedulingGated"};

template <typename List>
bool contains(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::uint64_t fnv1a(std::string_view text, std::uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash ^ (hash >> 29);
}

bool is_ip(const std::string& text) {
  std::array<unsigned char, 16> bytes{};
  return inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

Labels to_labels(const std::vector<std::pair<std::string, std::string>>& pairs) {
  return Labels(pairs.begin(), pairs.end());
}

std::vector<ContainerPort> read_ports(MapReader& reader) {
  std::vector<ContainerPort> ports;
  const auto list = reader.get("ports");
  if (!list) return ports;
  if (!list->IsSequence()) {
    reader.problem(*list, "'ports' must be a list of numbers or of {name, port, protocol}");
    return ports;
  }
  for (const auto& member : *list) {
    const YAML::Node& entry = member;
    YAML::Node map;
    if (entry.IsScalar()) {  // a bare number; wrapped, so that both forms are checked in one place
      map["port"] = entry;
    } else {
      map.reset(entry);
    }
    MapReader port(map, "a port", reader.problems());
    ContainerPort out;
    out.port = port.number("port", 1, 65535).value_or(0);
    out.name = port.text("name").value_or("");
    out.protocol = port.word("protocol", {"TCP", "UDP", "SCTP"}).value_or("TCP");
    port.finish();
    ports.push_back(std::move(out));
  }
  return ports;
}

std::string default_api_version(std::string_view kind) {
  if (kind == "Job" || kind == "CronJob") return "batch/v1";
  if (kind == "JobSet") return "jobset.x-k8s.io/v1alpha2";
  if (kind == "LeaderWorkerSet") return "leaderworkerset.x-k8s.io/v1";
  if (kind == "StatefulSet" || kind == "ReplicaSet" || kind == "DaemonSet" || kind == "Deployment")
    return "apps/v1";
  return "v1";
}

void read_owners(MapReader& reader, Pod& pod) {
  for (const auto& node : reader.maps("owner")) {
    MapReader entry(node, "an owner", reader.problems());
    Owner owner;
    owner.kind = entry.text("kind").value_or("Job");
    owner.name = entry.text("name").value_or("");
    owner.uid = entry.text("uid").value_or("");
    owner.api_version = entry.text("api_version").value_or(default_api_version(owner.kind));
    entry.finish();
    if (owner.name.empty()) entry.problem("an owner needs a 'name'");
    pod.owners.push_back(std::move(owner));
  }
}

void read_containers(MapReader& reader, Pod& pod) {
  const auto list = reader.maps("containers");
  for (const auto& node : list) {
    MapReader entry(node, "a container", reader.problems());
    Container container;
    container.name = entry.text("name").value_or(container.name);
    container.image = entry.text("image").value_or(container.image);
    container.ports = read_ports(entry);
    container.limits = to_labels(entry.texts("limits"));
    entry.finish();
    pod.containers.push_back(std::move(container));
  }
  // The short form, for the one container most pods have.
  Container only;
  only.image = reader.text("image").value_or(only.image);
  only.ports = read_ports(reader);
  only.limits = to_labels(reader.texts("limits"));
  if (list.empty()) {
    pod.containers.push_back(std::move(only));
  } else if (!only.ports.empty() || !only.limits.empty()) {
    reader.problem("'ports' and 'limits' stand in 'containers' if there is such a list");
  }
}

void read_conditions(MapReader& reader, Pod& pod) {
  for (const auto& node : reader.maps("conditions")) {
    MapReader entry(node, "a condition", reader.problems());
    Condition condition;
    condition.type = entry.text("type").value_or("");
    condition.status = entry.word("status", {"True", "False", "Unknown"}).value_or("True");
    condition.reason = entry.text("reason").value_or("");
    condition.message = entry.text("message").value_or("");
    entry.finish();
    if (condition.type.empty()) entry.problem("a condition needs a 'type'");
    pod.conditions.push_back(std::move(condition));
  }
}

// Splits "Reason: why" and puts it where the real status has it.
void place_reason(Pod& pod, std::string_view given) {
  const auto colon = given.find(": ");
  const auto reason = given.substr(0, colon);
  const std::string_view message = colon == std::string_view::npos ? "" : given.substr(colon + 2);
  if (contains(kScheduleReasons, reason)) {
    pod.conditions.push_back({"PodScheduled", "False", std::string(reason), std::string(message)});
  } else if (contains(kWaitingReasons, reason)) {
    pod.waiting = reason;
    if (pod.message.empty()) pod.message = message;
  } else {
    pod.reason = reason;
    if (pod.message.empty()) pod.message = message;
  }
}

// What the entry says, with its braces still in; ips holds "none" if so written.
Pod read_template(MapReader& reader) {
  Pod pod;
  pod.name = reader.text("name").value_or("");
  if (pod.name.empty()) reader.problem("a pod needs a 'name'");
  pod.name_space = reader.text("namespace").value_or(pod.name_space);
  pod.generate_name = reader.text("generate_name").value_or("");
  pod.uid = reader.text("uid").value_or("");
  pod.labels = to_labels(reader.texts("labels"));
  pod.annotations = to_labels(reader.texts("annotations"));
  pod.created = reader.text("created").value_or(pod.created);
  if (reader.boolean("deleting").value_or(false)) pod.deleted = kDeletedAt;
  pod.deleted = reader.text("deletion_timestamp").value_or(pod.deleted);
  read_owners(reader, pod);

  pod.node = reader.text("node").value_or("");
  pod.hostname = reader.text("hostname").value_or("");
  pod.subdomain = reader.text("subdomain").value_or("");
  pod.host_network = reader.boolean("host_network").value_or(false);
  pod.restart_policy =
      reader.word("restart_policy", {"Always", "OnFailure", "Never"}).value_or(pod.restart_policy);
  pod.service_account = reader.text("service_account").value_or(pod.service_account);
  pod.scheduler = reader.text("scheduler").value_or(pod.scheduler);
  pod.nominated_node = reader.text("nominated_node").value_or("");
  read_containers(reader, pod);

  pod.phase = reader.word("phase", {"Pending", "Running", "Succeeded", "Failed", "Unknown"})
                  .value_or(pod.phase);
  pod.message = reader.text("message").value_or("");
  read_conditions(reader, pod);
  place_reason(pod, reader.text("reason").value_or(""));
  pod.ready = reader.boolean("ready").value_or(pod.phase == "Running" && pod.waiting.empty());
  pod.restarts = reader.number("restarts", 0, 1000000).value_or(0);
  pod.host_ip = reader.text("host_ip").value_or("");
  pod.ips = reader.text_list("ip");
  const auto more = reader.text_list("ips");
  pod.ips.insert(pod.ips.end(), more.begin(), more.end());
  pod.bytes = reader.number("bytes", 0, 1000000).value_or(0);
  return pod;
}

Labels expand_all(const Labels& labels, std::int64_t i) {
  Labels out;
  for (const auto& [key, value] : labels)
    out.emplace(expand_pattern(key, i), expand_pattern(value, i));
  return out;
}

Pod expand(const Pod& pattern, std::int64_t i) {
  Pod pod = pattern;
  for (auto* text : {&pod.name, &pod.generate_name, &pod.name_space, &pod.uid, &pod.created,
                     &pod.deleted, &pod.node, &pod.hostname, &pod.subdomain, &pod.nominated_node,
                     &pod.service_account, &pod.reason, &pod.message, &pod.host_ip}) {
    if (text->find('{') != std::string::npos) *text = expand_pattern(*text, i);
  }
  pod.labels = expand_all(pattern.labels, i);
  pod.annotations = expand_all(pattern.annotations, i);
  for (auto& ip : pod.ips) ip = expand_pattern(ip, i);
  for (auto& owner : pod.owners) {
    owner.name = expand_pattern(owner.name, i);
    owner.uid = expand_pattern(owner.uid, i);
  }
  for (auto& condition : pod.conditions) condition.message = expand_pattern(condition.message, i);
  return pod;
}

// Addresses of pods and nodes nobody wrote down: 10.244/16 by the pod's place in the file,
// 10.128/16 by the node's name.
std::string invented_ip(std::string_view net, std::uint64_t number) {
  return fmt::format("{}.{}.{}", net, number / 250 % 250, number % 250 + 1);
}

void fill_defaults(Pod& pod, std::size_t place) {
  if (pod.uid.empty()) pod.uid = uuid_of(pod.name_space + "/" + pod.name);
  for (auto& owner : pod.owners) {
    if (owner.uid.empty())
      owner.uid = uuid_of(owner.kind + " " + pod.name_space + "/" + owner.name);
  }
  if (pod.node.empty() && pod.phase != "Pending") pod.node = "node-a";
  if (pod.node == "none") pod.node.clear();
  if (pod.host_ip.empty() && !pod.node.empty())
    pod.host_ip = invented_ip("10.128", fnv1a(pod.node, 14695981039346656037ULL) % 62500);
  if (pod.host_ip == "none") pod.host_ip.clear();
  if (pod.ips == std::vector<std::string>{"none"}) {
    pod.ips.clear();
  } else if (pod.ips.empty() && pod.phase != "Pending") {
    pod.ips.push_back(pod.host_network ? pod.host_ip : invented_ip("10.244", place));
    if (pod.ips.front().empty()) pod.ips.clear();
  }
}

// The length all ranges below a node agree on; a difference is reported where it shows.
void find_length(const YAML::Node& node, std::optional<std::int64_t>& length, Problems& problems) {
  if (node.IsScalar()) {
    const auto found = pattern_length(node.Scalar());
    if (!found) {
      problems.add(node.Mark(), found.error());
    } else if (*found && length && **found != *length) {
      problems.add(node.Mark(),
                   fmt::format("'{}' stands for {} texts, but this pod's entry for {} pods",
                               node.Scalar(), **found, *length));
    } else if (*found) {
      length = *found;
    }
  } else if (node.IsSequence()) {
    for (const auto& member : node) find_length(member, length, problems);
  } else if (node.IsMap()) {
    for (const auto& entry : node) {
      find_length(entry.first, length, problems);
      find_length(entry.second, length, problems);
    }
  }
}

}  // namespace

std::string uuid_of(std::string_view text) {
  const auto a = fnv1a(text, 14695981039346656037ULL);
  const auto b = fnv1a(text, 0x9e3779b97f4a7c15ULL);
  return fmt::format("{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}", a >> 32, (a >> 16) & 0xffff,
                     a & 0xfff, (b >> 48) & 0xfff, b & 0xffffffffffffULL);
}

void read_pods(MapReader& reader, bool count_needed, std::vector<Pod>& pods) {
  const auto problems_before = reader.problems().count();
  const Pod pattern = read_template(reader);
  std::optional<std::int64_t> length = reader.number("count", 0, 1000000);
  if (count_needed && !length) reader.problem("an entry of 'generate' needs a 'count'");
  find_length(reader.node(), length, reader.problems());
  reader.finish();
  if (reader.problems().count() != problems_before) return;
  for (std::int64_t i = 0; i < length.value_or(1); ++i) {
    Pod pod = expand(pattern, i);
    fill_defaults(pod, pods.size());
    for (const auto& ip : pod.ips) {
      if (!is_ip(ip)) {
        reader.problem(
            fmt::format("'{}' of pod '{}' is not an IPv4 or IPv6 address", ip, pod.name));
        return;
      }
    }
    pods.push_back(std::move(pod));
  }
}

}  // namespace muster::sim
