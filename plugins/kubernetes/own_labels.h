// A pod's own labels, as the downward API writes them into a file: which of the pods they mean. Knows nothing of networks.
#pragma once

#include <string>
#include <string_view>

#include "plugins/kubernetes/pod.h"

namespace muster::kubernetes {

// What labels say of a pod that is told by its place and not by its name. "" and -1 where they do not.
struct OwnLabels {
  std::string pod_name;        // of a StatefulSet, or of a LeaderWorkerSet
  std::string controller_uid;  // of its Job
  std::string job;             // the name of its Kubeflow or Volcano job
  std::string role;
  int32_t index = -1;

  // Whether that pod has this place. One without an index of its own, or of nobody's, is none.
  bool fit(const Pod& pod) const;
};

// `file`: lines of KEY="VALUE". What is none is passed over.
OwnLabels own_labels_of(std::string_view file);

}  // namespace muster::kubernetes
