// The answer that the tests of formats show: the one of the design's example, with everything in it.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "core/format/format.h"

namespace muster::test {

inline void add(ClusterSpec& spec, const char* job, int32_t index, const char* address,
                const char* name = "", const Attributes& attributes = {}) {
  auto parsed = Address::parse(address);
  REQUIRE(parsed.ok());
  REQUIRE(spec.add_task(job, Task{index, *parsed, name, attributes}).ok());
}

inline Snapshot small_answer() {
  Snapshot answer;
  add(answer.spec, "worker", 0, "10.0.0.1:8470", "worker-a");
  add(answer.spec, "worker", 1, "10.0.0.2:8470", "worker-b");
  answer.jobs = {{"worker", 2, 2, {}}};
  answer.identity = {"worker", 1, {"pod uid 5e0c is worker-b"}};
  answer.rpc_layer = "grpc";
  answer.master = "grpc://10.0.0.2:8470";
  answer.time_ns = 1769860800123456789;
  answer.sources = {{"cluster", "static", "OK", "", 2, 1, {}}};
  return answer;
}

// Incomplete, sparse, IPv6, a chain that went on, requests, names that a terminal must not see raw.
inline Snapshot full_answer() {
  Snapshot answer;
  add(answer.spec, "worker", 0, "10.0.0.1:8470", "worker-a",
      {{"host", "node-7"}, {"accelerator.type", "TPU"}, {"accelerator.count", "4"}});
  add(answer.spec, "worker", 1, "[fd00::2]:8470", "worker-b");
  add(answer.spec, "ps", 1, "ps-1.svc:8470", "\xe5\xb7\xa5\xe4\xbd\x9c-1");
  answer.identity = {"worker", 1, {"pod uid 5e0c is worker-b"}};
  answer.rpc_layer = "grpc";
  answer.master = "grpc://[fd00::2]:8470";
  answer.accelerators = {{"TPU", 4}};
  answer.complete = false;
  answer.jobs = {{"worker", 2, 4, {{2, "worker-c", "Pending: Insufficient google.com/tpu"}}},
                 {"ps", 1, std::nullopt, {}},
                 {"chief", 0, std::nullopt, {{-1, "", "no\x1b[31m address \"yet\""}}}};
  answer.time_ns = 1769860800123456789;
  answer.stale = true;
  answer.stale_since_ns = 1769860860456000000;
  answer.sources = {
      {"cluster", "merge", "OK", "", 3, 40, {}},
      {"cluster.merge[0]",
       "kubernetes",
       "OK",
       "",
       2,
       12,
       {{"GET", "https://10.0.0.9/api/v1/namespaces/ml/pods?limit=500", "list pods", 200, "", 11,
         43210, 2}}},
      {"cluster.merge[1]", "chain", "OK", "", 1, 38, {}},
      {"cluster.merge[1].chain[0]",
       "tpu",
       "NOT_FOUND",
       "there is no TPU 'my-tpu' in zone 'us-central1-b'\nasked with the project of the metadata "
       "server",
       0,
       37,
       {{"GET", "https://tpu.example/v2/nodes/my-tpu", "", 0, "connection refused", 3, 0, 1}}},
      {"cluster.merge[1].chain[1]", "static", "OK", "", 1, 0, {}},
      {"cluster.merge[1].chain[2]", "gce", "NOT_ASKED", "", 0, 0, {}},
  };
  answer.attributes = {{"zone", "us-central1-b"}};
  answer.warnings = {"cluster: worker 0 and worker 1 run on one node"};
  return answer;
}

inline std::string show(const Snapshot& answer, std::string_view format,
                        const FormatOptions& options = {}) {
  auto text = render(answer, format, options);
  REQUIRE_MESSAGE(text.ok(), text.error().message);
  return *text;
}

inline Error failure(const Snapshot& answer, std::string_view format,
                     const FormatOptions& options = {}) {
  auto text = render(answer, format, options);
  REQUIRE_FALSE(text.ok());
  return text.error();
}

// Compares with tests/unit/golden/NAME. To write the files anew after a change that is meant:
//   MUSTER_GOLDEN=write ./format_test      (then read the difference in git before it is committed)
inline void matches_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(MUSTER_UNIT_GOLDEN) + "/" + name;
  const char* mode = std::getenv("MUSTER_GOLDEN");
  if (mode != nullptr && std::string(mode) == "write") {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  REQUIRE_MESSAGE(file.good(), "cannot read " << path);
  std::stringstream golden;
  golden << file.rdbuf();
  CHECK(text == golden.str());
}

}  // namespace muster::test
