// The peak memory of one TF_CONFIG of 100,000 tasks -> ClusterSpec -> TF_CONFIG: of this whole process, text included.
//
//   ninja -C build spec_peak && build/tests/bench/spec_peak [ipv4|dns]
//
// Exits with 1 above 64 MiB.
#include <sys/resource.h>

#include <cstdio>
#include <cstring>

#include "core/format/format.h"
#include "spec_text.h"

int main(int argc, char** argv) {
  const bool dns = argc > 1 && std::strcmp(argv[1], "dns") == 0;
  const std::string text = muster::bench::tf_config(
      100000, dns ? muster::bench::Names::kDns : muster::bench::Names::kIpv4);
  auto config = muster::parse_tf_config(text);
  if (!config.ok()) {
    std::fprintf(stderr, "%s\n", config.error().message.c_str());
    return 1;
  }
  const std::string written = muster::cluster_to_json(config->cluster);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double mib = static_cast<double>(usage.ru_maxrss) / 1024;
  std::printf("%s: %zu bytes read, %zu written, peak %.1f MiB (at most 64)\n", dns ? "dns" : "ipv4",
              text.size(), written.size(), mib);
  return mib <= 64 ? 0 : 1;
}
