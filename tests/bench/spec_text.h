// A TF_CONFIG of many tasks.
#pragma once

#include <string>

namespace muster::bench {

enum class Names { kIpv4, kDns };

inline std::string tf_config(int tasks, Names names) {
  std::string text = R"({"cluster": {"worker": [)";
  for (int i = 0; i < tasks; ++i) {
    if (i > 0) text += ", ";
    if (names == Names::kIpv4) {
      text += "\"10." + std::to_string(i / 65536) + "." + std::to_string(i / 256 % 256) + "." +
              std::to_string(i % 256) + ":8470\"";
    } else {
      text += "\"worker-" + std::to_string(i) + ".training.default.svc.cluster.local:8470\"";
    }
  }
  return text + R"(]}, "task": {"type": "worker", "index": 5}})";
}

}  // namespace muster::bench
