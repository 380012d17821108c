// kubeconfig: any bytes give entries or an error that names the file, and merging keeps the first of each name.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "plugins/kubernetes/kubeconfig.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace muster::kubernetes;
  if (size > 65536) return 0;  // longer texts only take longer
  const std::string text(reinterpret_cast<const char*>(data), size);
  auto config = parse_kubeconfig(text, "/home/u/.kube/config");
  if (!config) {
    if (config.failure().message.rfind("/home/u/.kube/config", 0) != 0) std::abort();
    return 0;
  }
  for (const auto& [name, user] : config->users)
    for (const std::string* file : {&user.certificate_file, &user.key_file, &user.token_file})
      if (!file->empty() && file->front() != '/') std::abort();
  // A credential program is a name of PATH's or a whole path, never one relative to where we stand.
  for (const auto& [name, user] : config->users)
    if (user.exec && user.exec->command.find('/') != std::string::npos &&
        user.exec->command.front() != '/')
      std::abort();
  const auto chosen = choose_context(*config, std::nullopt);
  if (!chosen && chosen.failure().message.empty()) std::abort();
  for (const auto& [name, context] : config->contexts) {
    const auto one = choose_context(*config, name);
    if (one && one->cluster.server.empty()) std::abort();
  }
  const Kubeconfig before = *config;
  merge_kubeconfig(*config, before);
  if (config->clusters.size() != before.clusters.size()) std::abort();
  return 0;
}
