#include "plugins/kubernetes/own_labels.h"

#include <algorithm>

#include "plugins/support/text.h"

namespace muster::kubernetes {

OwnLabels own_labels_of(std::string_view file) {
  OwnLabels own;
  PodList list;
  Pod pod;
  while (!file.empty()) {
    const std::string_view line = support::trimmed(file.substr(0, file.find('\n')));
    file.remove_prefix(std::min(file.size(), file.find('\n')));
    if (!file.empty()) file.remove_prefix(1);
    const size_t equals = line.find("=\"");
    if (equals == std::string_view::npos || line.size() < equals + 3 || line.back() != '"')
      continue;
    const std::string_view key = line.substr(0, equals);
    // Of what may stand in a label's value Go escapes nothing.
    const std::string_view value = line.substr(equals + 2, line.size() - equals - 3);
    take_label(pod, list.texts, key, value);
    if (key == "statefulset.kubernetes.io/pod-name") own.pod_name = value;
    if (key == "batch.kubernetes.io/controller-uid") own.controller_uid = value;
    if (key == "training.kubeflow.org/job-name" || key == "volcano.sh/job-name") own.job = value;
  }
  own.role = pod.role.string();
  own.index = pod.index;
  return own;
}

bool OwnLabels::fit(const Pod& pod) const {
  if (index < 0 || pod.index != index) return false;
  // Within a Job an index stands once.
  if (!controller_uid.empty()) return pod.owner_uid == controller_uid;
  const std::string_view owner = pod.owner;
  return !job.empty() && owner.substr(std::min(owner.size(), owner.find('/') + 1)) == job &&
         pod.role == role;
}

}  // namespace muster::kubernetes
