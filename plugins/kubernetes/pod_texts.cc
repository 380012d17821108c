#include "plugins/kubernetes/pod_texts.h"

#include <algorithm>
#include <array>

namespace muster::kubernetes {
namespace {

// Whoever adds a field to one of these says here, where it is a text or a pointer, how it is copied.
static_assert(sizeof(void*) != 8 || sizeof(Pod) == 240);
static_assert(sizeof(void*) != 8 || sizeof(Trouble) == 8 * sizeof(Text) + sizeof(int64_t));
static_assert(sizeof(void*) != 8 || sizeof(ContainerPort) == 16);

constexpr std::array kOwnTexts = {&Pod::name, &Pod::uid,       &Pod::hostname,
                                  &Pod::ip,   &Pod::second_ip, &Pod::second_host_ip};
// Of these many pods have the same.
constexpr std::array kSharedTexts = {&Pod::name_space,
                                     &Pod::node,
                                     &Pod::host_ip,
                                     &Pod::subdomain,
                                     &Pod::owner,
                                     &Pod::owner_uid,
                                     &Pod::set_uid,
                                     &Pod::revision,
                                     &Pod::role,
                                     &Pod::accelerator_model,
                                     &Pod::accelerator_topology};

constexpr std::array kTroubles = {
    &Trouble::reason,     &Trouble::message, &Trouble::unschedulable, &Trouble::not_ready,
    &Trouble::disruption, &Trouble::waiting, &Trouble::terminated,    &Trouble::restarted_because};

bool same_port(const ContainerPort& a, const ContainerPort& b) {
  return a.name == b.name && a.number == b.number && a.host_port == b.host_port;
}

bool same_troubles(const Trouble& a, const Trouble& b) {
  return a.disrupted == b.disrupted &&
         std::all_of(kTroubles.begin(), kTroubles.end(),
                     [&](Text Trouble::*field) { return a.*field == b.*field; });
}

const Text* copy_annotations(const Pod& pod, const Pod* before, size_t count, TextArena& texts) {
  if (pod.annotations == nullptr || count == 0) return nullptr;
  if (before != nullptr && before->annotations != nullptr &&
      std::equal(pod.annotations, pod.annotations + count, before->annotations))
    return before->annotations;
  Text* copies = texts.make<Text>(count);
  std::transform(pod.annotations, pod.annotations + count, copies,
                 [&](const Text text) { return texts.add(text); });
  return copies;
}

const ContainerPort* copy_ports(const Pod& pod, const Pod* before, TextArena& texts) {
  if (pod.ports == nullptr || pod.port_count == 0) return nullptr;
  if (before != nullptr && before->port_count == pod.port_count &&
      std::equal(pod.ports, pod.ports + pod.port_count, before->ports, same_port))
    return before->ports;
  auto* copies = texts.make<ContainerPort>(pod.port_count);
  std::transform(pod.ports, pod.ports + pod.port_count, copies, [&](const ContainerPort& port) {
    return ContainerPort{texts.shared(port.name), port.number, port.host_port};
  });
  return copies;
}

Trouble* copy_troubles(const Pod& pod, const Pod* before, TextArena& texts) {
  if (pod.troubles == nullptr) return nullptr;
  if (before != nullptr && before->troubles != nullptr &&
      same_troubles(*before->troubles, *pod.troubles))
    return before->troubles;
  auto* copy = texts.make<Trouble>();
  for (Text Trouble::*const field : kTroubles) copy->*field = texts.shared(pod.troubles->*field);
  copy->disrupted = pod.troubles->disrupted;
  return copy;
}

}  // namespace

Pod copy_pod(const Pod& pod, const Pod* before, size_t annotation_count, TextArena& texts) {
  Pod copy = pod;
  const auto unchanged = [&](Text Pod::*field) {
    return before != nullptr && before->*field == pod.*field;
  };
  for (Text Pod::*const field : kOwnTexts)
    copy.*field = unchanged(field) ? before->*field : texts.add(pod.*field);
  for (Text Pod::*const field : kSharedTexts)
    copy.*field = unchanged(field) ? before->*field : texts.shared(pod.*field);
  copy.annotations = copy_annotations(pod, before, annotation_count, texts);
  copy.ports = copy_ports(pod, before, texts);
  copy.troubles = copy_troubles(pod, before, texts);
  return copy;
}

}  // namespace muster::kubernetes
