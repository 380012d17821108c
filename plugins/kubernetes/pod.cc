#include "plugins/kubernetes/pod.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::quote;

constexpr int64_t kIndexMaximum = 2147483647;
constexpr size_t kTextMaximum = 65'536;  // of one text of an answer (MP-9)
constexpr size_t kShown = 100;           // bytes of a name
constexpr int64_t kDevicesMaximum = 1000000;

// What an answer says of a pod, beside its name.
constexpr std::array<std::pair<const char*, Text Pod::*>, 4> kPushed = {
    {{"uid", &Pod::uid},
     {"node", &Pod::node},
     {"accelerator's model", &Pod::accelerator_model},
     {"accelerator's topology", &Pod::accelerator_topology}}};

bool begins_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

// Others leave `out` alone.
void take_number(std::string_view text, int32_t& out) {
  if (const auto number = support::parse_digits(text, kIndexMaximum))
    out = static_cast<int32_t>(*number);
}

void take_index(Pod& pod, IndexSource source, std::string_view text) {
  if (source < pod.index_source) return;
  const auto number = support::parse_digits(text, kIndexMaximum);
  if (!number) return;
  pod.index = static_cast<int32_t>(*number);
  pod.index_source = source;
}

// The kind of device that a resource counts; kDeviceCount when it is none.
Device device_of(std::string_view resource) {
  if (resource == "nvidia.com/gpu" || resource == "amd.com/gpu" ||
      resource == "nvidia.com/gpu.shared" || begins_with(resource, "nvidia.com/mig-"))
    return kGpu;
  if (resource == "google.com/tpu") return kTpu;
  if (resource == "gpu.intel.com/i915" || resource == "gpu.intel.com/xe") return kXpu;
  if (resource == "habana.ai/gaudi") return kHpu;
  if (resource == "aws.amazon.com/neuron" || resource == "aws.amazon.com/neuroncore" ||
      resource == "aws.amazon.com/neurondevice")
    return kNeuron;
  return kDeviceCount;
}

// As inet_pton has it: four numbers up to 255, without leading zeros.
bool is_ipv4(std::string_view text) {
  int dots = 0, number = -1;  // -1: no digit of it came yet
  for (const char c : text) {
    if (c == '.') {
      if (number < 0 || ++dots > 3) return false;
      number = -1;
    } else {
      if (c < '0' || c > '9' || number == 0) return false;
      number = std::max(number, 0) * 10 + (c - '0');
      if (number > 255) return false;
    }
  }
  return dots == 3 && number >= 0;
}

// One that a host can have: not "any", 0.0.0.0 or ::.
bool is_ip(std::string_view view) {
  if (is_ipv4(view)) return view != "0.0.0.0";
  const std::string text(view);
  in6_addr address;
  return inet_pton(AF_INET6, text.c_str(), &address) == 1 && !IN6_IS_ADDR_UNSPECIFIED(&address);
}

std::string with_message(std::string_view reason, std::string_view message) {
  if (message.empty()) return std::string(reason);
  return reason.empty() ? std::string(message) : fmt::format("{}: {}", reason, message);
}

// Days since 1970-01-01 of a day of the Gregorian calendar; years begin in March, so that leap days end them.
int64_t days_of(int64_t year, int64_t month, int64_t day) {
  if (month <= 2) --year;
  const int64_t era = year / 400, of_era = year % 400;
  const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

}  // namespace

const std::array<const char*, kDeviceCount> kDeviceNames = {"GPU", "TPU", "XPU", "HPU", "NEURON"};

const Trouble& Pod::trouble() const {
  static const Trouble none;
  return troubles == nullptr ? none : *troubles;
}

Trouble& PodList::trouble_of(Pod& pod) {
  if (pod.troubles == nullptr) pod.troubles = texts.make<Trouble>();
  return *pod.troubles;
}

int64_t Pod::end() const {
  int64_t time = trouble().disrupted;
  if (container_ended && !container_runs) time = std::max(time, ended);
  if (time == 0 && deleted != kSomeTime) time = deleted;
  // No pod ends before it is made, whatever two clocks say.
  return time == 0 ? 0 : std::max(time, created);
}

std::string full_name(const Pod& pod) {
  return pod.name_space.empty() ? pod.name.string()
                                : fmt::format("{}/{}", pod.name_space.view(), pod.name.view());
}

size_t ByFullName::operator()(const Pod* pod) const {
  constexpr std::hash<std::string_view> kHash;
  return kHash(pod->name) ^ kHash(pod->name_space) * 31;
}

std::string_view phase_name(Phase phase) {
  switch (phase) {
    case Phase::kPending: return "Pending";
    case Phase::kRunning: return "Running";
    case Phase::kSucceeded: return "Succeeded";
    case Phase::kFailed: return "Failed";
    default: return "Unknown";
  }
}

Phase parse_phase(std::string_view text) {
  if (text.empty()) return Phase::kNone;
  for (const Phase phase : {Phase::kRunning, Phase::kPending, Phase::kSucceeded, Phase::kFailed})
    if (text == phase_name(phase)) return phase;
  return Phase::kUnknown;
}

void take_label(Pod& pod, TextArena& texts, std::string_view key, std::string_view value) {
  const size_t slash = key.find('/');
  if (slash == std::string_view::npos) return;
  const std::string_view domain = key.substr(0, slash), name = key.substr(slash + 1);
  if (domain == "batch.kubernetes.io") {
    if (name == "job-completion-index") take_index(pod, IndexSource::kCompletion, value);
  } else if (domain == "jobset.sigs.k8s.io") {
    if (name == "replicatedjob-name") pod.role = texts.shared(value);
    if (name == "job-index") take_number(value, pod.group);
    if (name == "job-global-index") take_number(value, pod.global_group);
    if (name == "restart-attempt") take_number(value, pod.attempt);
    if (name == "jobset-uid") pod.set_uid = texts.shared(value);
  } else if (domain == "leaderworkerset.sigs.k8s.io") {
    if (name == "worker-index") take_index(pod, IndexSource::kWorker, value);
    if (name == "group-index") take_number(value, pod.group);
    if (name == "size") take_number(value, pod.group_size);
    if (name == "template-revision-hash") pod.revision = texts.shared(value);
  } else if (domain == "apps.kubernetes.io") {
    if (name == "pod-index") take_index(pod, IndexSource::kOrdinal, value);
  } else if (domain == "training.kubeflow.org") {
    if (name == "replica-index") take_index(pod, IndexSource::kReplica, value);
    if (name == "replica-type") pod.role = texts.shared(value);
  } else if (domain == "volcano.sh") {
    if (name == "task-index") take_index(pod, IndexSource::kTask, value);
    if (name == "task-spec") pod.role = texts.shared(value);
  }
}

void take_node_label(Pod& pod, TextArena& texts, std::string_view key, std::string_view value) {
  if (key == "cloud.google.com/gke-tpu-accelerator" || key == "cloud.google.com/gke-accelerator" ||
      key == "nvidia.com/gpu.product")
    pod.accelerator_model = texts.shared(value);
  if (key == "cloud.google.com/gke-tpu-topology") pod.accelerator_topology = texts.shared(value);
}

bool is_device(std::string_view resource) { return device_of(resource) != kDeviceCount; }

void take_limit(Pod& pod, std::string_view resource, int64_t count) {
  const Device device = device_of(resource);
  if (device == kDeviceCount || count <= 0 || count > kDevicesMaximum) return;
  int32_t& sum = pod.devices[device];
  sum = static_cast<int32_t>(std::min(sum + count, kDevicesMaximum));
}

void take_ip(Text& first, Text& second, TextArena& texts, std::string_view ip) {
  if (ip.empty()) return;
  if (first.empty()) {
    first = texts.add(ip);
  } else if (second.empty() && !(first == ip)) {
    second = texts.add(ip);
  }
}

void take_restarts(Pod& pod, int64_t count) {
  if (count > 0) pod.restarts = static_cast<int32_t>(std::min(pod.restarts + count, kIndexMaximum));
}

void take_condition(Pod& pod, PodList& list, std::string_view type, std::string_view status,
                    std::string_view reason, std::string_view message, int64_t since) {
  if (type == "Ready") {
    pod.ready = status == "True";
    if (!pod.ready && !(reason.empty() && message.empty()))
      list.trouble_of(pod).not_ready = list.texts.add(with_message(reason, message));
  } else if (type == "PodScheduled") {
    if (status == "False")
      list.trouble_of(pod).unschedulable = list.texts.add(message.empty() ? reason : message);
  } else if (type == "DisruptionTarget") {
    if (status == "True") {
      list.trouble_of(pod).disruption = list.texts.add(with_message(reason, message));
      list.trouble_of(pod).disrupted = since;
    }
  }
}

void take_waiting(Pod& pod, PodList& list, std::string_view reason, std::string_view message) {
  // Those two only say that the container has not begun.
  if (reason.empty() || reason == "PodInitializing" || reason == "ContainerCreating") return;
  Trouble& trouble = list.trouble_of(pod);
  if (trouble.waiting.empty()) trouble.waiting = list.texts.add(with_message(reason, message));
}

void take_terminated(Pod& pod, PodList& list, std::string_view reason, int64_t exit_code,
                     bool of_the_run_before) {
  if (exit_code == 0) return;
  Trouble& trouble = list.trouble_of(pod);
  Text& said = of_the_run_before ? trouble.restarted_because : trouble.terminated;
  if (said.empty())
    said = list.texts.shared(
        fmt::format("{}{}exit code {}", reason, reason.empty() ? "" : ", ", exit_code));
}

void take_finished(Pod& pod, ContainerKind kind, int64_t exit_code, int64_t time) {
  pod.ended = std::max(pod.ended, time);
  if (time != 0 && (kind == ContainerKind::kOwn || exit_code != 0)) pod.container_ended = true;
}

void take_running(Pod& pod, ContainerKind kind) {
  if (kind == ContainerKind::kOwn) pod.container_runs = true;
}

std::optional<int64_t> parse_time(std::string_view text) {
  // Servers write whole seconds in UTC (metav1.Time).
  if (text.size() != 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' ||
      text[16] != ':' || text[19] != 'Z')
    return std::nullopt;
  const auto year = support::parse_digits(text.substr(0, 4), 9999),
             month = support::parse_digits(text.substr(5, 2), 12),
             day = support::parse_digits(text.substr(8, 2), 31),
             hour = support::parse_digits(text.substr(11, 2), 23),
             minute = support::parse_digits(text.substr(14, 2), 59),
             second = support::parse_digits(text.substr(17, 2), 60);
  if (!year || !month || !day || !hour || !minute || !second || *month == 0 || *day == 0)
    return std::nullopt;
  return ((days_of(*year, *month, *day) * 24 + *hour) * 60 + *minute) * 60 + *second;
}

std::string oddity(const Pod& pod) {
  if (pod.name.empty()) return "a pod has no name";
  for (const Text text : {pod.name, pod.name_space})
    if (text.view().find('/') != std::string_view::npos)
      return fmt::format("a pod has the name or namespace {}, and none has a '/' in it",
                         quote(text, kShown));
  // With its namespace, as it may be called.
  if (pod.name.view().size() + pod.name_space.view().size() >= kTextMaximum)
    return fmt::format("pod {} has a name and a namespace of {} bytes, more than {}",
                       quote(pod.name, kShown),
                       pod.name.view().size() + pod.name_space.view().size(), kTextMaximum - 1);
  for (const auto& [what, text] : kPushed)
    if ((pod.*text).view().size() > kTextMaximum)
      return fmt::format("pod {} has a {} of {} bytes, more than {}", quote(pod.name, kShown), what,
                         (pod.*text).view().size(), kTextMaximum);
  if (pod.phase == Phase::kNone) return fmt::format("pod {} has no phase", quote(pod.name));
  for (const Text ip : {pod.ip, pod.second_ip, pod.host_ip, pod.second_host_ip})
    if (!ip.empty() && !is_ip(ip))
      return fmt::format("pod {} has the address {}, which is no IP address of a host",
                         quote(pod.name), quote(ip));
  return "";
}

}  // namespace muster::kubernetes
